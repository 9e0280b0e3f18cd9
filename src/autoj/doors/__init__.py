"""Judges inside the harnesses of others: a module for each, in its words for a failed judgment.

Each is imported by the harness itself or by its user, since it may import the harness: nothing
here is imported with `autoj`.
"""
