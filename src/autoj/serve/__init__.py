"""Judges and stored runs behind HTTP."""
