"""Boards of published judges, measured judges and baselines, side by side."""
