"""Eval-R: best of N by a judge's ratings, and how they correlate with reference scores."""
