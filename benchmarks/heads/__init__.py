"""Heads of an embedded judge's adapter: states that are read, heads fitted to them, and added."""
