"""Construction of training data: pairs that people or a teacher judged, and pairs that need none."""
