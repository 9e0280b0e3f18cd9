"""Fixtures of the tests of a classifier's data."""

from .scripted_writer import recipe, writer

__all__ = ["recipe", "writer"]
