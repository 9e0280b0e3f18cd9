"""Pairs whose labels follow known shares, for audits of judges of known bias."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from autoj.jsonl import write_records

__all__ = ["LONGER", "TIES", "write_known_pairs"]

TIES, LONGER = 0.1, 0.6
"""The shares of labels: of ties, and of the longer response among the rest."""

_WORDS = (
    "amber", "brisk", "candle", "distant", "ember", "forest", "gentle", "harbour", "island",
    "jasmine", "kindle", "lantern", "meadow", "narrow", "orchard", "pebble", "quiet", "river",
    "silver", "timber", "umber", "valley", "willow", "yellow", "zephyr",
)  # fmt: skip


def _text(drawn: random.Random, n_sentences: int) -> str:
    sentences = (
        " ".join(drawn.choices(_WORDS, k=drawn.randint(6, 10))).capitalize() + "."
        for _ in range(n_sentences)
    )
    return " ".join(sentences)


def write_known_pairs(path: Path, n: int, seed: int) -> None:
    """Writes pairs whose labels follow `TIES` and `LONGER`; every tenth query repeats another.

    Args:
        path: the file.
        n: the number of pairs.
        seed: the seed of all draws.
    """
    drawn = random.Random(f"pairs {seed}")
    write_records(path, [_row(drawn, number) for number in range(n)])


def _row(drawn: random.Random, number: int) -> dict[str, Any]:
    lengths = drawn.choice([(5, 5), (4, 7), (2, 4), (8, 9)])
    texts = sorted((_text(drawn, n_sentences) for n_sentences in lengths), key=len)
    while len(texts[0]) == len(texts[1]):
        texts[1] = texts[1][:-1] + " too."
    longer = drawn.randrange(2)
    label = "tie"
    if drawn.random() >= TIES:
        label = "ab"[longer if drawn.random() < LONGER else 1 - longer]
    asked = number - 1 if number % 10 == 9 else number
    return {
        "id": f"pair-{number}",
        "query": f"What is there to say of number {asked}?",
        "responses": texts if longer == 1 else texts[::-1],
        "label": label,
        "scenario": ("open_question", "post_summarization", "explaining_code")[number % 3],
    }
