"""Adds pairs whose label needs neither people nor a teacher, in the shares that a recipe states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from autoj.construct.borrowing import Borrowing, borrowed_pairs
from autoj.construct.damage import DAMAGES
from autoj.construct.recipe import Negatives
from autoj.records import Case, Response, Winner
from autoj.scenarios.classifier.sentences import SentenceEncoder, model_folder

# One look tells these from a real answer, so they are rare.
_EASY = {"shuffled_words": 0.3, "gibberish": 0.1, "empty": 0.3, "needless_refusal": 0.3}


def check_encoder(stage: Negatives) -> None:
    """Checks that responses can be borrowed, where a stage wants any.

    Raises:
        MissingExtra: the sentence encoder is not installed.
    """
    if stage.borrows:
        model_folder()


def embed_queries(cases: Sequence[Case]) -> NDArray[np.float32]:
    """Embeds the queries of cases: [n_cases, n_dimensions].

    Raises:
        MissingExtra: the sentence encoder is not installed.
    """
    return SentenceEncoder().embed([case.query for case in cases])


def pairs_among(cases: Sequence[Case]) -> list[Case]:
    """The rows with two responses."""
    return [case for case in cases if len(case.responses) == 2]


def add_negatives(
    cases: Sequence[Case], stage: Negatives, embeddings: NDArray[np.float32] | None, seed: int
) -> Iterator[Case]:
    """The cases, and after them the pairs that are made of them.

    Args:
        cases: rows; those of single responses go on as they are.
        stage: the share of each kind of pair.
        embeddings: [n_pairs, n_dimensions], of the pairs' queries; None where nothing is borrowed.
        seed: the seed of all draws.

    Yields:
        Cases; a made one has `meta.made`, its kind, and `meta.made_of`, the id of its origin.
    """
    yield from cases
    pairs = pairs_among(cases)
    if embeddings is not None:
        wanted = Borrowing(
            n_against_own=round(stage.borrowed * len(pairs)),
            n_ties=round(stage.both_borrowed * len(pairs)),
        )
        for made in borrowed_pairs(pairs, embeddings, wanted, seed):
            origin = made.id.rpartition("+")[0]
            yield replace(made, meta={**made.meta, "made_of": origin})
    yield from _damaged(pairs, round(stage.damaged * len(pairs)), Random(seed))


def _damaged(cases: Sequence[Case], n_wanted: int, generator: Random) -> Iterator[Case]:
    """Pairs of a preferred response and its damaged copy; of each case at most one."""
    names = list(DAMAGES)
    weights = [_EASY.get(name, 1.0) for name in names]
    n_made = 0
    for case in generator.sample(cases, len(cases)):
        if n_made == n_wanted:
            return
        better = _preferred(case)
        if better is None:
            continue
        (name,) = generator.choices(names, weights)
        worse = DAMAGES[name](better.text, generator)
        if worse is None or worse == better.text:
            continue
        n_made += 1
        first = generator.random() < 0.5
        label: Winner = "a" if first else "b"
        copy = Response(text=worse)
        yield replace(
            case,
            id=f"{case.id}+{name}",
            responses=(better, copy) if first else (copy, better),
            label=label,
            meta={"made": name, "made_of": case.id},
        )


def _preferred(case: Case) -> Response | None:
    if case.label == "a":
        return case.responses[0]
    return case.responses[1] if case.label == "b" else None
