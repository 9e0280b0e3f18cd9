"""A command without its terminal: judge, rate, select or classify many cases, and keep the run."""
