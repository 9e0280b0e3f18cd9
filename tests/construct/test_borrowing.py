"""Borrowed responses come from similar queries, and the own one wins."""

from __future__ import annotations

import numpy as np
import pytest

from autoj.construct.borrowing import Borrowing, borrowed_pairs
from autoj.construct.thinning import says_longer, says_overlap
from autoj.records import Case, Response

N = 60


@pytest.fixture
def cases() -> list[Case]:
    """Pairs about queries in two topics, with responses of many lengths."""
    return [
        Case(
            id=f"case-{number}",
            query=f"question {number}",
            responses=(
                Response(text=f"{number} first " * (1 + number % 7)),
                Response(text=f"{number} second " * (1 + number % 5)),
            ),
            label=("a", "b", "tie")[number % 3],
            cluster=f"question {number}",
        )
        for number in range(N)
    ]


@pytest.fixture
def embeddings() -> np.ndarray:
    """Even cases are about one topic and odd ones about another."""
    generator = np.random.default_rng(0)
    topics = np.eye(8, dtype=np.float32)[[number % 2 for number in range(N)]]
    return (topics + generator.normal(scale=0.25, size=(N, 8))).astype(np.float32)


def number_of(response: Response) -> int:
    return int(response.text.split()[0])


def test_the_own_response_wins_and_the_other_is_of_the_same_topic(cases, embeddings):
    wanted = Borrowing(n_against_own=40, n_ties=0)
    pairs = list(borrowed_pairs(cases, embeddings, wanted, seed=1))
    assert len(pairs) == 40
    by_id = {case.id: case for case in cases}
    for pair in pairs:
        origin = by_id[pair.id.removesuffix("+borrowed")]
        assert pair.label in ("a", "b")
        better, worse = pair.responses if pair.label == "a" else pair.responses[::-1]
        assert better in origin.responses
        if origin.label in ("a", "b"):
            assert better == origin.responses["ab".index(origin.label)]
        assert number_of(worse) != number_of(better)
        assert number_of(worse) % 2 == number_of(better) % 2
        assert pair.meta == {"made": "borrowed"}
    assert {pair.label for pair in pairs} == {"a", "b"}
    longer = sum(
        (len(pair.responses[0].text) > len(pair.responses[1].text)) == (pair.label == "a")
        for pair in pairs
    )
    assert 8 <= longer <= 32


def test_two_borrowed_responses_tie(cases, embeddings):
    wanted = Borrowing(n_against_own=20, n_ties=5)
    pairs = list(borrowed_pairs(cases, embeddings, wanted, seed=2))
    ties = [pair for pair in pairs if pair.label == "tie"]
    assert (len(pairs), len(ties)) == (25, 5)
    for pair in ties:
        own = int(pair.id.split("-")[1].split("+")[0])
        assert own not in {number_of(response) for response in pair.responses}


def test_the_same_seed_gives_the_same_pairs(cases, embeddings):
    wanted = Borrowing(n_against_own=10, n_ties=2)
    first = list(borrowed_pairs(cases, embeddings, wanted, seed=3))
    assert first == list(borrowed_pairs(cases, embeddings, wanted, seed=3))


def test_a_query_without_neighbours_is_left_out(cases):
    apart = np.eye(N, dtype=np.float32)
    assert list(borrowed_pairs(cases, apart, Borrowing(n_against_own=5, n_ties=5), seed=0)) == []


def test_the_winner_is_longer_and_names_the_query_as_often_as_not(embeddings):
    """Also where own responses name their query far more often than others do."""
    generator = np.random.default_rng(1)
    cases = []
    for number in range(N):
        words = f"question about topic {number % 2}"
        own = [words if generator.random() < 0.8 else "nothing" for _ in range(2)]
        cases.append(
            Case(
                id=f"case-{number}",
                query=words,
                responses=tuple(
                    Response(text=f"{number} {text} " + "so " * int(generator.integers(1, 40)))
                    for text in own
                ),
                label="a",
                cluster=f"question {number}",
            )
        )
    pairs = list(borrowed_pairs(cases, embeddings, Borrowing(n_against_own=16, n_ties=0), seed=0))
    assert len(pairs) == 16
    assert sum(map(says_longer, pairs)) in range(-2, 3)
    looks = [says_overlap(pair) for pair in pairs]
    # Own responses name more of the query in most pairs that are drawn at random.
    assert looks.count(-1) >= 2
