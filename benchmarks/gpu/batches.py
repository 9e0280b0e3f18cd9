"""Micro-batches of a number of tokens, of samples of similar length."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from autoj.training.judge.samples import Sample

WINDOW_SAMPLES = 2048
"""Samples that are sorted by length together."""


def make_micro_batches(samples: Sequence[Sample], n_tokens: int, seed: int) -> list[list[Sample]]:
    """Cuts samples into micro-batches of similar length.

    The samples are shuffled; windows of them are sorted by length and cut, and the pieces of each
    window shuffled again.

    Args:
        samples: in any order.
        n_tokens: the maximum of padded tokens in a micro-batch; a sample of more is one alone.
        seed: the seed of both shuffles.
    """
    generator = random.Random(seed)
    drawn = list(samples)
    generator.shuffle(drawn)
    found: list[list[Sample]] = []
    for start in range(0, len(drawn), WINDOW_SAMPLES):
        cut = _cut(sorted(drawn[start : start + WINDOW_SAMPLES], key=_longest), n_tokens)
        generator.shuffle(cut)
        found += cut
    return found


def _cut(samples: Sequence[Sample], n_tokens: int) -> list[list[Sample]]:
    cut: list[list[Sample]] = []
    current: list[Sample] = []
    n_sequences = 0
    for sample in samples:
        if current and (n_sequences + len(sample.sequences)) * _longest(sample) > n_tokens:
            cut.append(current)
            current, n_sequences = [], 0
        current.append(sample)
        n_sequences += len(sample.sequences)
    return [*cut, current] if current else cut


def _longest(sample: Sample) -> int:
    return max(sequence.n_tokens for sequence in sample.sequences)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """The micro-batches of a training, by optimiser step."""

    micro_batches: list[list[Sample]]
    per_step: int

    @property
    def n_steps(self) -> int:
        """Whole optimiser steps; micro-batches that are left over are not trained on."""
        return len(self.micro_batches) // self.per_step

    @property
    def samples_per_step(self) -> float:
        """The mean number of samples of a step, by which the losses of every step are divided.

        A step of long samples has few, and each counts as much as one of another step.
        """
        return sum(map(len, self.micro_batches)) / max(self.n_steps, 1)

    def of_step(self, step: int) -> list[list[Sample]]:
        """The micro-batches of a step, counted from 0."""
        return self.micro_batches[step * self.per_step : (step + 1) * self.per_step]
