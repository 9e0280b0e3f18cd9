"""Deals a run's cases out to shards of about equally many tokens.

The cases are first dealt into many small parts, like playing cards (`runs.shards`); a shard is some
of these parts. So the shards may differ in their number of cases, any shard can be split again, and
the parts stay the same where rows are added to the data.
"""

import math
from array import array
from collections.abc import Collection
from dataclasses import dataclass
from heapq import heapify, heapreplace

import numpy as np

from autoj.datasets.base import Cases
from autoj.records import Case
from autoj.runs import RunSpec
from autoj.runs.intake import taken_cases
from autoj.runs.plan import asked_about
from autoj.runs.shards import Shard, Turns

_LEAST_PARTS = 4096
"""Up to so many distinct cases, each is a part of its own."""
_PARTS_PER_SHARD = 8
_BYTES_PER_TOKEN = 4
"""Of English; the shares of tokens are what matters, not their number."""
_QUESTION_TOKENS = 400
"""Of a prompt's own text and of an answer, roughly: what each question costs besides its texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSizes:
    """The parts of a data set, and what is asked about the cases of each."""

    n_tokens: tuple[int, ...]
    """Of prompts and answers, estimated from bytes; part k has place k - 1."""
    n_questions: tuple[int, ...]

    @property
    def of(self) -> int:
        """The number of parts: a power of 2."""
        return len(self.n_tokens)

    def questions(self, shard: Shard) -> int:
        """The number of questions about the cases of a shard."""
        return sum(self.n_questions[part - 1] for part in shard.parts)


def part_sizes(cases: Cases, spec: RunSpec, n_shards: int) -> PartSizes:
    """Reads a data set once, and sizes its parts.

    Memory grows with the number of distinct cases, by about a hundred bytes for each.

    Args:
        cases: the data.
        spec: the settings of the whole run.
        n_shards: the number of shards; there are at least eight parts for each, as far as there
            are cases.

    Raises:
        DataError: a row cannot be judged and is not skipped, or no case is left.
    """
    turns, n_tokens, n_questions = Turns(), array("Q"), array("Q")
    for case in taken_cases(cases, spec, [])[0]:
        if turns.of(case) < len(n_tokens):
            # A copy shares the answers of its original.
            continue
        asked = asked_about(case, spec)
        n_tokens.append(sum(_tokens(case, page) for page, _ in asked))
        follows = 0 if not spec.critique else 1 if spec.paired else len(asked)
        n_questions.append(len(asked) + follows)
    most = max(_LEAST_PARTS, _PARTS_PER_SHARD * n_shards)
    of = 1 << math.ceil(math.log2(max(2, min(len(turns), most))))
    parts = np.arange(len(turns)) % of
    return PartSizes(
        n_tokens=_summed(parts, n_tokens, of), n_questions=_summed(parts, n_questions, of)
    )


def _tokens(case: Case, page: tuple[int, ...]) -> int:
    """The tokens of one question about a case, from the bytes of the texts that it shows."""
    texts = [case.query, case.reference or "", *case.critiques]
    texts += [turn.content for turn in case.history]
    texts += [case.responses[place].text for place in page if place < len(case.responses)]
    n_bytes = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return _QUESTION_TOKENS + n_bytes // _BYTES_PER_TOKEN


def _summed(parts: np.ndarray, amounts: "array[int]", of: int) -> tuple[int, ...]:
    summed = np.bincount(parts, weights=np.asarray(amounts, dtype=np.float64), minlength=of)
    return tuple(int(amount) for amount in summed)


def deal(parts: Collection[int], sizes: PartSizes, n_shards: int) -> list[Shard]:
    """Deals parts out to shards: the largest first, each to the shard with the fewest tokens.

    No shard then has more than 4/3 of the tokens that the best dealing would leave it.

    Args:
        parts: the parts, by their numbers from 1.
        sizes: those of all parts.
        n_shards: the most shards; there are fewer where there are fewer parts.

    **Source:** R. L. Graham, Bounds on Multiprocessing Timing Anomalies (1969): the rule LPT.
    """
    hands: list[list[int]] = [[] for _ in range(min(n_shards, len(parts)))]
    loads = [(0, 0, number) for number in range(len(hands))]
    heapify(loads)
    for part in sorted(parts, key=lambda part: (-sizes.n_tokens[part - 1], part)):
        n_tokens, n_parts, number = loads[0]
        hands[number].append(part)
        heapreplace(loads, (n_tokens + sizes.n_tokens[part - 1], n_parts + 1, number))
    return [Shard(parts=tuple(sorted(hand)), of=sizes.of) for hand in hands]


def overlap(one: Shard, other: Shard) -> bool:
    """True where two shards may share cases, also of different numbers of parts.

    >>> overlap(Shard.parse("1,2/4"), Shard.parse("3/4"))
    False
    >>> overlap(Shard.parse("1/2"), Shard.parse("3,4/8"))
    True
    """
    step = math.gcd(one.of, other.of)
    return not {part % step for part in one.parts}.isdisjoint(part % step for part in other.parts)
