"""Construction of training data: pairs whose label needs neither people nor a teacher."""
