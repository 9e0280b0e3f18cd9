"""Benchmarks: each file's docstring describes its measurement, `RESULTS.md` has the results."""
