"""Judges: a card says which model, read through which wrapper, asked by which protocols."""

from autoj.judges.cards import card_text, judge_names, load_card

__all__ = ["card_text", "judge_names", "load_card"]
