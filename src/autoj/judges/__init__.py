"""Judges: a card says which model, read through which wrapper, asked by which protocols."""

from autoj.judges.cards import judge_names, load_card

__all__ = ["judge_names", "load_card"]
