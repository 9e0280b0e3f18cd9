"""Scores of many choices by a trained model, until a deadline."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from autoj.backends._choices import ChoiceTrie
from autoj.training.judge.learning import choice_scores
from benchmarks.gpu.lora import LoraLinear

SCORE_TOKENS = 50_000
"""Padded tokens of a batch that is scored: without gradients there is room for more."""


def score_groups(
    model: Any,
    groups: Sequence[Sequence[tuple[str, ChoiceTrie]]],
    out: Path,
    *,
    until: float,
    say: Callable[[str], None],
) -> None:
    """Scores the choices of tries, group by group, until a deadline.

    Args:
        model: the model, its adapter merged.
        groups: (key, trie) pairs, the most important group first.
        out: a JSON file: per key, the log-probability of each choice. It is written after each
            group.
        until: the deadline, a time of `time.monotonic`.
        say: told the progress.
    """
    found: dict[str, list[float]] = {}
    for number, group in enumerate(groups, start=1):
        for batch in _score_batches(group):
            if time.monotonic() > until:
                break
            with torch.inference_mode():
                rows = choice_scores(model, [trie for _, trie in batch]).tolist()
            for (key, _), row in zip(batch, rows, strict=True):
                found[key] = [round(logprob, 5) for logprob in row]
        out.write_text(json.dumps(found), encoding="utf-8")
        say(f"scored {len(found):,} tries, to group {number} of {len(groups)}")


def _score_batches(
    group: Sequence[tuple[str, ChoiceTrie]],
) -> list[list[tuple[str, ChoiceTrie]]]:
    """Batches of tries with equally many choices and similar lengths."""
    batches: list[list[tuple[str, ChoiceTrie]]] = []
    for key, trie in sorted(group, key=lambda one: (len(one[1].steps), one[1].n_tokens)):
        last = batches[-1] if batches else []
        fits = (len(last) + 1) * trie.n_tokens <= SCORE_TOKENS
        if last and fits and len(last[0][1].steps) == len(trie.steps):
            last.append((key, trie))
        else:
            batches.append([(key, trie)])
    return batches


def merge(model: Any, modules: Sequence[LoraLinear]) -> None:
    """Merges an adapter into its model, for scoring."""
    model.eval()
    with torch.no_grad():
        for module in modules:
            module.merge()
