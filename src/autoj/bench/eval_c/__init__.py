"""Eval-C: critiques of the same responses, compared."""
