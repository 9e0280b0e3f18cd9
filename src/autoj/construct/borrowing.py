"""Pairs with responses borrowed from similar queries: no teacher has to judge them.

Both responses to a query are better than responses to another one, and two borrowed responses are
equally useless. The borrowed side comes from the most similar queries, so that it looks like an
answer; it is the longer one, and has more words of the query, as often as not where they allow it.

**Source:** RRM (arXiv 2409.13156); borrowing from similar queries is OffsetBias's (arXiv
2407.06551).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from autoj.construct.thinning import n_shared_words
from autoj.records import Case, Response, Winner

# Nearer queries ask for the same thing in other words; their responses may be right here, too.
_TOO_NEAR = 0.90
_TOO_FAR = 0.35
_Look: TypeAlias = tuple[bool, bool]
"""True where a borrowed response is longer than the own one; has more words of the query."""
_N_LOOKS = 4


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
    looks: Counter[_Look] = Counter()
    others: list[Case] = []
    n_ties = 0
    for index in order:
        n_made = looks.total()
        if n_made >= wanted.n_against_own and n_ties >= wanted.n_ties:
            return
        near = [cases[at] for at in _neighbours(index, cases, unit, wanted.n_neighbours)]
        if len(near) < 2:
            continue
        if (
            n_ties < wanted.n_ties
            and (n_ties + 1) * wanted.n_against_own <= (n_made + len(others) + 1) * wanted.n_ties
        ):
            one, other = generator.sample(near, 2)
            n_ties += 1
            yield _tie(cases[index], one, other, generator)
        elif n_made < wanted.n_against_own:
            own = _own(cases[index], generator)
            drawn = [generator.choice(case.responses) for case in near]
            offered = _by_look(cases[index].query, own, drawn)
            look = min(offered, key=lambda look: (looks[look], generator.random()))
            borrowed = generator.choice(offered[look])
            pair = _placed(cases[index], own, borrowed, "borrowed", generator)
            if looks[look] < wanted.n_against_own / _N_LOOKS:
                looks[look] += 1
                yield pair
            elif len(others) < wanted.n_against_own:
                others.append(pair)
    # Of some looks there were too few.
    yield from others[: wanted.n_against_own - looks.total()]


def _by_look(
    query: str, own: Response, responses: Sequence[Response]
) -> dict[_Look, list[Response]]:
    """Responses to other queries, by how they look beside the own one."""
    n_own = n_shared_words(query, own.text)
    found: dict[_Look, list[Response]] = defaultdict(list)
    for response in responses:
        is_longer = len(response.text) > len(own.text)
        found[is_longer, n_shared_words(query, response.text) > n_own].append(response)
    return found


def _neighbours(
    index: int, cases: Sequence[Case], unit: NDArray[np.float32], most: int
) -> list[int]:
    similar = unit @ unit[index]
    best = np.argsort(-similar)[: 4 * most]
    return [
        int(at)
        for at in best
        if _TOO_FAR < similar[at] < _TOO_NEAR and cases[at].cluster != cases[index].cluster
    ][:most]


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
