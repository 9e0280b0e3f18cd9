"""Registers what stands in for models, servers and data sets."""

from .stand_ins import api, scripted_engines

__all__ = ["api", "scripted_engines"]
