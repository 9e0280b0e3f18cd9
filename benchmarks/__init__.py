"""Benchmarks: each file's docstring says what it measures, `RESULTS.md` what was measured."""
