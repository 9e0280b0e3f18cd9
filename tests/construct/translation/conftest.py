"""Fixtures of the tests of translations."""

from .scripted_translator import recipe, translator

__all__ = ["recipe", "translator"]
