"""Boards of published, measured and trivial judges, side by side."""
