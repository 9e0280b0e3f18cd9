"""Fixtures of the tests of constructions."""

from .scripted_teacher import recipe, teacher

__all__ = ["recipe", "teacher"]
