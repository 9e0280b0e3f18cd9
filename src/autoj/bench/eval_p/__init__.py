"""Eval-P and any labelled pairs: how well verdicts on pairs agree with people."""
