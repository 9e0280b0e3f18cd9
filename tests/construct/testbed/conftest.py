"""Fixtures of the tests of testbeds."""

from .scripted_policies import policies, sources

__all__ = ["policies", "sources"]
