"""A tournament: who meets whom, who goes on, who is picked, and at what cost."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.records import Case, Response, Verdict
from autoj.verdicts.knockout import (
    MATCH_RULES,
    Tournament,
    champion,
    match_case,
    next_pairs,
    play,
    replay,
    start,
    tournament_verdict,
)
from autoj.verdicts.selection import PICK_RULES

Judge = Callable[[int, int], Verdict]
"""Two responses' numbers, a first, to what is said of them."""


def case_of(*texts: str, logprobs: tuple[float | None, ...] = ()) -> Case:
    known = logprobs or (None,) * len(texts)
    return Case(
        id="c",
        query="q",
        cluster="q",
        label=3.0,
        responses=tuple(
            Response(text=text, logprob=logprob) for text, logprob in zip(texts, known, strict=True)
        ),
    )


def numbered(n: int) -> Case:
    return case_of(*(f"r{number}" for number in range(n)))


def verdict(winner, rule="agreed", probabilities=None, **fields) -> Verdict:
    return Verdict(
        case_id="m", judge="j", winner=winner, rule=rule, probabilities=probabilities, **fields
    )


LOST = verdict(None, "incomplete", n_unreadable=1)


def hold(case: Case, judge: Judge) -> Tournament:
    tournament = start(case)
    while pairs := next_pairs(tournament):
        tournament = play(tournament, case, [judge(*pair) for pair in pairs])
    return tournament


def strongest(best: int) -> Judge:
    """One response beats all others, and of others the earlier wins."""
    return lambda a, b: verdict("b" if b == best else "a")


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 32])
def test_the_best_is_found_in_n_less_1_matches(n):
    case = numbered(n)
    for best in range(n):
        tournament = hold(case, strongest(best))
        found = champion(tournament, case)
        assert found is not None
        assert found.index == best
        assert found.rule == ("only" if n == 1 else "wins")
        assert len(tournament.matches) == n - 1
        assert tournament.n_rounds == (math.ceil(math.log2(n)) if n > 1 else 0)


def test_who_sits_out_plays_first_in_the_next_round():
    case = numbered(5)
    tournament = start(case)
    assert next_pairs(tournament) == [(0, 1), (2, 3)]
    tournament = play(tournament, case, [verdict("a"), verdict("b")])
    assert tournament.entrants == (4, 0, 3)
    assert next_pairs(tournament) == [(0, 4)]


@pytest.mark.parametrize(
    ("said", "logprobs", "winner", "rule"),
    [
        (verdict("b"), (None, None), 1, "verdict"),
        (verdict("tie"), (-1.0, -2.0), 0, "output probability"),
        (verdict("tie"), (-2.0, -1.0), 1, "output probability"),
        (verdict("tie", probabilities=(0.2, 0.3, 0.5)), (-1.0, -2.0), 0, "output probability"),
        (verdict("tie", probabilities=(0.2, 0.3, 0.5)), (-1.0, None), 1, "leaning"),
        (verdict("tie", probabilities=(0.25, 0.25, 0.5)), (None, None), 0, "first"),
        (verdict("tie"), (None, None), 0, "first"),
        (verdict(None, "unresolved"), (-2.0, -1.0), 1, "output probability"),
        (verdict(None, "unresolved"), (None, None), 0, "first"),
    ],
)
def test_a_level_match_goes_to_the_likelier_the_leaning_or_the_first(said, logprobs, winner, rule):
    case = case_of("x", "y", logprobs=logprobs)
    (match,) = hold(case, lambda a, b: said).matches
    assert (match.winner, match.rule) == (winner, rule)
    assert match.verdict is said
    assert rule in MATCH_RULES


def test_equal_texts_play_as_one():
    case = case_of("x", "y", "x", "x", logprobs=(-3.0, None, -1.0, -2.0))
    assert start(case).entrants == (1, 2)
    found = champion(hold(case_of("x", "x"), strongest(0)), case_of("x", "x"))
    assert found is not None
    assert (found.index, found.rule) == (0, "only")


def test_what_could_not_be_read_costs_nobody_the_tournament():
    # Response 0 can never be read; 2 is the best of the others.
    def judge(a: int, b: int) -> Verdict:
        return LOST if 0 in (a, b) else strongest(2)(a, b)

    case = numbered(4)
    tournament = hold(case, judge)
    found = champion(tournament, case)
    assert found is not None
    assert found.index == 2
    assert sum(match.winner is None for match in tournament.matches) == 2
    assert {match.rule for match in tournament.matches if match.winner is None} == {"unknown"}
    result = tournament_verdict(tournament, case, "j")
    assert (result.selected, result.n_unreadable, result.ratings) == (2, 2, ())


def test_a_winner_that_nobody_can_be_compared_with_any_more_is_picked():
    case = numbered(4)
    tournament = hold(case, lambda a, b: verdict("a") if (a, b) == (0, 1) else LOST)
    found = champion(tournament, case)
    assert found is not None
    assert (found.index, found.rule) == (0, "wins")


def test_undefeated_winners_with_a_lost_final_are_equals():
    case = case_of(*"wxyz", logprobs=(-2.0, -1.0, -1.5, -1.0))
    judge: Judge = lambda a, b: verdict("a") if b - a == 1 and a % 2 == 0 else LOST  # noqa: E731
    found = champion(hold(case, judge), case)
    assert found is not None
    assert (found.index, found.rule) == (2, "output probability")
    assert found.rule in PICK_RULES


@pytest.mark.parametrize("n", [2, 3, 8])
def test_where_nothing_can_be_read_nothing_is_picked(n):
    case = numbered(n)
    tournament = hold(case, lambda a, b: LOST)
    assert champion(tournament, case) is None
    assert tournament_verdict(tournament, case, "j").selected is None
    assert len(tournament.matches) <= n


@given(st.data(), st.integers(1, 12))
def test_no_pair_meets_twice_the_cost_is_bounded_and_the_pick_is_unbeaten(data, n):
    outcomes = st.sampled_from([verdict("a"), verdict("b"), verdict("tie"), LOST])
    case = numbered(n)
    tournament = hold(case, lambda a, b: data.draw(outcomes))
    met = [frozenset(match.pair) for match in tournament.matches]
    assert len(met) == len(set(met))
    assert len(met) <= max(2 * n - 1, 0)
    found = champion(tournament, case)
    won = {match.winner for match in tournament.matches} - {None}
    assert (found is None) == (not won and n > 1)
    if found is not None and n > 1:
        mine = [match for match in tournament.matches if found.index in match.pair]
        assert any(match.winner == found.index for match in mine)
        assert all(match.winner in (found.index, None) for match in mine)


def test_a_replay_goes_as_far_as_verdicts_are_known():
    case = numbered(4)
    known = {match_case(case, pair).id: verdict("a") for pair in ((0, 1), (2, 3), (0, 2))}
    assert replay(case, known.get) == hold(case, lambda a, b: verdict("a"))
    del known["c/3-4"]
    assert replay(case, known.get) == start(case)
    assert replay(case, {}.get) == start(case)


def test_a_match_is_a_case_of_two_responses():
    case = numbered(4)
    its = match_case(case, (1, 3))
    assert (its.id, its.label) == ("c/2-4", None)
    assert [response.text for response in its.responses] == ["r1", "r3"]
    assert its.cluster == case.cluster
