"""Fixtures of the tests of reviews."""

from ..scripted_teacher import recipe, teacher

__all__ = ["recipe", "teacher"]
