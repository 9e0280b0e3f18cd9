"""Pairs with responses borrowed from similar queries: no teacher has to judge them.

Both responses to a query are better than responses to another one, and two borrowed responses are
equally useless. The borrowed side comes from the most similar queries, so that it looks like an
answer, and is the longer one as often as not.

**Source:** RRM (arXiv 2409.13156); borrowing from similar queries is OffsetBias's (arXiv
2407.06551).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from autoj.records import Case, Response, Winner, normalise_query

# Nearer queries ask for the same thing in other words; their responses may be right here, too.
_TOO_NEAR = 0.90
_TOO_FAR = 0.35


@dataclass(frozen=True, slots=True, kw_only=True)
class Borrowing:
    """The number of pairs to make."""

    n_against_own: int
    """Pairs of an own response and a borrowed one."""
    n_ties: int
    """Pairs of two borrowed responses."""
    n_neighbours: int = 12
    """The number of most similar queries that are borrowed from."""


def borrowed_pairs(
    cases: Sequence[Case], embeddings: NDArray[np.float32], wanted: Borrowing, seed: int
) -> Iterator[Case]:
    """Makes pairs with borrowed responses.

    Args:
        cases: pairs; where one has a winner, the winner is the own response.
        embeddings: [n_cases, n_dimensions], of the cases' queries.
        wanted: the number of pairs.
        seed: the seed of all draws.

    Yields:
        Cases with a label, ids `…+borrowed` and `meta.made` "borrowed" or "both_borrowed".
    """
    generator = Random(seed)
    unit = embeddings / np.maximum(np.linalg.norm(embeddings, axis=1, keepdims=True), 1e-9)
    order = generator.sample(range(len(cases)), len(cases))
    n_made, n_ties = 0, 0
    for index in order:
        if n_made >= wanted.n_against_own and n_ties >= wanted.n_ties:
            return
        near = _neighbours(index, cases, unit, wanted.n_neighbours)
        if len(near) < 2:
            continue
        if (
            n_ties < wanted.n_ties
            and (n_ties + 1) * wanted.n_against_own <= (n_made + 1) * wanted.n_ties
        ):
            one, other = generator.sample(near, 2)
            n_ties += 1
            yield _tie(cases[index], cases[one], cases[other], generator)
        elif n_made < wanted.n_against_own:
            n_made += 1
            yield _against_own(cases[index], [cases[at] for at in near], generator)


def _neighbours(
    index: int, cases: Sequence[Case], unit: NDArray[np.float32], most: int
) -> list[int]:
    similar = unit @ unit[index]
    best = np.argsort(-similar)[: 4 * most]
    text = normalise_query(cases[index].query)
    return [
        int(at)
        for at in best
        if _TOO_FAR < similar[at] < _TOO_NEAR and normalise_query(cases[at].query) != text
    ][:most]


def _against_own(case: Case, others: Sequence[Case], generator: Random) -> Case:
    own = _own(case, generator)
    offered = [response for other in others for response in other.responses]
    longer_wanted = generator.random() < 0.5
    fitting = [one for one in offered if (len(one.text) > len(own.text)) == longer_wanted]
    borrowed = generator.choice(fitting or offered)
    return _placed(case, own, borrowed, "borrowed", generator)


def _own(case: Case, generator: Random) -> Response:
    if case.label == "a":
        return case.responses[0]
    if case.label == "b":
        return case.responses[1]
    return generator.choice(case.responses)


def _tie(case: Case, one: Case, other: Case, generator: Random) -> Case:
    return replace(
        case,
        id=f"{case.id}+both_borrowed",
        responses=(generator.choice(one.responses), generator.choice(other.responses)),
        label="tie",
        meta={"made": "both_borrowed"},
    )


def _placed(case: Case, better: Response, worse: Response, made: str, generator: Random) -> Case:
    first = generator.random() < 0.5
    label: Winner = "a" if first else "b"
    return replace(
        case,
        id=f"{case.id}+{made}",
        responses=(better, worse) if first else (worse, better),
        label=label,
        meta={"made": made},
    )
