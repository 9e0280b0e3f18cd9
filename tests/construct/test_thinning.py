"""Thinned pairs: each rule is right half of the time, and what was dropped is what it decides."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.construct.thinning import (
    Easy,
    accuracy_of_rules,
    says_longer,
    says_overlap,
    thin,
)
from autoj.records import Case, Response, Winner

QUERY = "bake bread with seeds"


def pair(better: str, worse: str, number: int = 0) -> Case:
    """A decided pair, whose better response is the first one of every other pair."""
    first = number % 2 == 0
    texts = (better, worse) if first else (worse, better)
    label: Winner = "a" if first else "b"
    return Case(
        id=f"{number}",
        query=QUERY,
        responses=(Response(text=texts[0]), Response(text=texts[1])),
        label=label,
        cluster=f"{number}",
    )


KINDS = {
    (1, 1): ("bread with seeds and much more", "no"),
    (-1, -1): ("no", "bread with seeds and much more"),
    (1, -1): ("something that is rather long", "bread"),
    (-1, 1): ("bread", "something that is rather long"),
    (1, 0): ("something that is rather long", "short"),
    (-1, 0): ("short", "something that is rather long"),
    (0, 1): ("bread", "water"),
    (0, -1): ("water", "bread"),
    (0, 0): ("bread", "bakes"),
}


@pytest.mark.parametrize("answers", [kind for kind in KINDS if kind != (0, 0)])
def test_rules_say_which_response_is_better(answers: tuple[int, int]) -> None:
    for number in range(2):
        case = pair(*KINDS[answers], number)
        assert (says_longer(case), says_overlap(case)) == answers


@given(st.lists(st.sampled_from(sorted(KINDS)), max_size=60), st.integers(0, 5))
def test_each_rule_is_right_about_half_of_the_rest(kinds: list[tuple[int, int]], seed: int) -> None:
    cases = [pair(*KINDS[kind], number) for number, kind in enumerate(kinds)]
    thinned = thin(cases, 1.0, seed)
    kept = [item for item in thinned if isinstance(item, Case)]
    for rule in (says_longer, says_overlap):
        assert sum(rule(case) for case in kept) == 0
    # Nothing is lost, and the order stays.
    assert [item if isinstance(item, Case) else item.case for item in thinned] == cases
    assert thin(cases, 1.0, seed) == thinned
    # No group is emptied that has a mirror image.
    before, after = (
        Counter((says_longer(case), says_overlap(case)) for case in some) for some in (cases, kept)
    )
    for answers, n in before.items():
        assert after[answers] == min(n, before[-answers[0], -answers[1]])


def test_dropped_pairs_are_named_by_the_rule_that_decides_them() -> None:
    many = [pair(*KINDS[1, 0], number) for number in range(20)]
    overlapping = [pair(*KINDS[-1, 1], number) for number in range(20, 30)]
    dropped = [item for item in thin([*many, *overlapping], 1.0, 0) if isinstance(item, Easy)]
    reasons = Counter((item.reason, item.detail) for item in dropped)
    assert reasons == {
        ("decided by length", "the longer one wins, as many query words"): 20,
        ("decided by word overlap", "the shorter one wins, more query words"): 10,
    }


def test_a_share_of_the_surplus_is_dropped() -> None:
    cases = [pair(*KINDS[1, 1], number) for number in range(100)]
    assert sum(isinstance(item, Easy) for item in thin(cases, 0.6, 0)) == 60
    assert not any(isinstance(item, Easy) for item in thin(cases, 0.0, 0))


def test_ties_stay() -> None:
    tie = Case(
        id="tie",
        query=QUERY,
        responses=(Response(text="bread"), Response(text="no")),
        label="tie",
        cluster="tie",
    )
    assert thin([tie], 1.0, 0) == [tie]
    assert [one.n for one in accuracy_of_rules([tie])] == [0, 0]


def test_the_accuracy_of_rules_has_an_interval_and_counts_what_they_leave_open() -> None:
    cases = [pair(*KINDS[Random(number).choice(sorted(KINDS))], number) for number in range(60)]
    length, overlap = accuracy_of_rules(cases)
    assert (length.name, overlap.name) == ("longer wins", "more query words win")
    for estimate, rule in ((length, says_longer), (overlap, says_overlap)):
        answers = [rule(case) for case in cases]
        assert estimate.n == sum(answer != 0 for answer in answers)
        assert estimate.n_unscored == answers.count(0)
        assert estimate.value == pytest.approx(answers.count(1) / estimate.n)
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < estimate.value < estimate.high
