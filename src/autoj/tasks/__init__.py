"""Commands without a terminal: judge, rate, select or classify many cases, and keep the run."""
