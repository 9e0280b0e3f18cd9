"""Eval-P and any labelled pairs: agreement of verdicts on pairs with human labels."""
