"""Judges: a card names the model, its wrapper (chat format) and its protocols."""

from autoj.judges.cards import ALIASES, card_text, judge_names, load_card

__all__ = ["ALIASES", "card_text", "judge_names", "load_card"]
