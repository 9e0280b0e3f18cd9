"""Judgments to a verdict: what failed or could not be read is never a tie, a loss or a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.calibration import outcome_probabilities
from autoj.records import (
    SHOWN,
    Asked,
    Calibration,
    Case,
    Completion,
    Critique,
    Decision,
    Failure,
    Judgment,
    Label,
    Rating,
    Reading,
    Response,
    Score,
    Shown,
    Unreadable,
    Verdict,
    Winner,
)
from autoj.verdicts import own_frame
from autoj.verdicts import resolve as verdicts
from autoj.verdicts.resolve import OnConflict

PAIR = Case(id="c", query="q", cluster="q", responses=(Response(text="x"), Response(text="y")))
FAILED = Failure(key="k", error="Unavailable", message="gone", retryable=True, attempts=3)
UNREADABLE = Unreadable(reason="no final decision is stated")
OTHER: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}
Probabilities = tuple[float, float, float]


def judged(reading: Reading, shown: tuple[int, ...], *, truncated: bool = False) -> Judgment:
    asked = Asked(
        case_id="c",
        judge="j",
        protocol="p",
        shown=shown,
        sample=0,
        scored=False,
        truncated=truncated,
        key="k",
    )
    done = Completion(key="k", text="t", finish="stop", prompt_tokens=1, completion_tokens=1)
    return Judgment(asked=asked, completion=done, reading=reading)


def both(
    first: Reading | Failure, second: Reading | Failure, on_conflict: OnConflict | None = None
) -> Verdict:
    """The verdict of a pair that was read as `first` in its own order and as `second` swapped."""
    judgments = [
        item if isinstance(item, Failure) else judged(item, shown)
        for item, shown in ((first, (0, 1)), (second, (1, 0)))
    ]
    return verdicts.resolve(PAIR, "j", judgments, on_conflict, paired=True)


def decided(shown: Shown, probabilities: Probabilities | None = None) -> Decision:
    return Decision(shown=shown, probabilities=probabilities)


@pytest.mark.parametrize(
    ("first", "second", "winner"), [("1", "2", "a"), ("2", "1", "b"), ("tie", "tie", "tie")]
)
def test_orders_that_name_the_same_winner_agree(first: Shown, second: Shown, winner: str) -> None:
    verdict = both(decided(first), decided(second))
    assert (verdict.winner, verdict.rule, verdict.consistent) == (winner, "agreed", True)
    assert verdict.winners == (winner, winner)


@pytest.mark.parametrize("on_conflict", [None, *get_args(OnConflict)])
def test_no_rule_touches_orders_that_agree(on_conflict: OnConflict | None) -> None:
    verdict = both(decided("1", (0.4, 0.3, 0.3)), decided("2", (0.1, 0.5, 0.4)), on_conflict)
    assert (verdict.winner, verdict.rule) == ("a", "agreed")


def calibrated(
    first: Reading | Failure,
    second: Reading | Failure,
    calibration: Calibration | None = None,
    on_conflict: OnConflict | None = None,
) -> Verdict:
    """The same with a calibration."""
    return verdicts.resolve(
        PAIR,
        "j",
        [
            item if isinstance(item, Failure) else judged(item, shown)
            for item, shown in ((first, (0, 1)), (second, (1, 0)))
        ],
        on_conflict,
        paired=True,
        calibration=calibration or FITTED,
    )


def compared(
    first: Reading | Failure, second: Reading | Failure, calibration: Calibration | None = None
) -> Verdict:
    """The verdict of a pair whose responses were read alone."""
    judgments = [
        item if isinstance(item, Failure) else judged(item, (index,))
        for index, item in enumerate((first, second))
    ]
    return verdicts.resolve(
        PAIR, "j", judgments, paired=True, reads_alone=True, calibration=calibration
    )


def drawn(
    first: Sequence[Shown | None],
    second: Sequence[Shown | None],
    on_conflict: OnConflict | None = None,
) -> Verdict:
    """The verdict of a pair of which each order was drawn several times; None is unreadable."""
    judgments = [
        judged(UNREADABLE if shown is None else decided(shown), order)
        for draws, order in ((first, (0, 1)), (second, (1, 0)))
        for shown in draws
    ]
    return verdicts.resolve(PAIR, "j", judgments, on_conflict, paired=True, n_draws=len(first))


FITTED = Calibration(temperature=0.8, tie=0.75)
SURFACE = Calibration(temperature=0.8, tie=0.75, surface={"lines": -2.0})
CONFLICT = (decided("1", (0.5, 0.4, 0.1)), decided("1", (0.9, 0.0, 0.1)))


@pytest.mark.parametrize(
    ("on_conflict", "winner", "rule"),
    [
        (None, "b", "probability"),
        ("probability", "b", "probability"),
        ("tie", "tie", "tie"),
        ("unresolved", None, "unresolved"),
    ],
)
def test_orders_that_disagree_are_decided_by_the_rule(
    on_conflict: OnConflict | None, winner: Winner | None, rule: str
) -> None:
    verdict = both(*CONFLICT, on_conflict)
    assert (verdict.winner, verdict.rule, verdict.consistent) == (winner, rule, False)
    assert verdict.winners == ("a", "b")
    assert verdict.probabilities == pytest.approx((0.25, 0.65, 0.1))


@pytest.mark.parametrize("on_conflict", [None, "probability"])
def test_without_probabilities_a_conflict_stays_open(on_conflict: OnConflict | None) -> None:
    verdict = both(decided("1"), decided("1"), on_conflict)
    assert (verdict.winner, verdict.rule, verdict.consistent) == (None, "unresolved", False)
    assert verdict.probabilities is None


def test_probabilities_of_one_order_alone_decide_nothing() -> None:
    verdict = both(decided("1", (0.9, 0.1, 0.0)), decided("1"))
    assert (verdict.winner, verdict.rule, verdict.probabilities) == (None, "unresolved", None)


@pytest.mark.parametrize("on_conflict", [None, *get_args(OnConflict)])
@pytest.mark.parametrize("broken", [FAILED, UNREADABLE, Label(name="x"), Score(value=1.0)])
@pytest.mark.parametrize("place", [0, 1])
def test_an_order_without_a_decision_leaves_the_verdict_open(
    on_conflict: OnConflict | None, broken: Reading | Failure, place: int
) -> None:
    fine = decided("1", (0.8, 0.1, 0.1))
    verdict = both(*((broken, fine) if place == 0 else (fine, broken)), on_conflict)
    assert (verdict.winner, verdict.rule, verdict.consistent) == (None, "incomplete", None)
    assert verdict.winners[place] is None
    assert verdict.winners[1 - place] in ("a", "b")
    assert verdict.probabilities is None
    assert verdict.n_failed == isinstance(broken, Failure)
    assert verdict.n_unreadable == isinstance(broken, Unreadable)


@pytest.mark.parametrize(("first", "second"), [(FAILED, FAILED), (UNREADABLE, UNREADABLE)])
def test_a_pair_that_was_never_judged_has_no_winner(
    first: Reading | Failure, second: Reading | Failure
) -> None:
    verdict = both(first, second)
    assert (verdict.winner, verdict.rule, verdict.consistent) == (None, "incomplete", None)
    assert verdict.n_failed + verdict.n_unreadable == 2


@pytest.mark.parametrize(("shown", "winner"), [((0, 1), "b"), ((1, 0), "a")])
def test_one_order_alone_decides_and_says_so(shown: tuple[int, int], winner: Winner) -> None:
    verdict = verdicts.resolve(
        PAIR, "j", [judged(decided("2", (0.2, 0.7, 0.1)), shown)], paired=True
    )
    assert (verdict.winner, verdict.rule, verdict.consistent) == (winner, "one order", None)
    assert verdict.probabilities is not None
    assert max(verdict.probabilities) == verdict.probabilities["ab".index(winner)]


LONG = replace(PAIR, responses=(Response(text="x\nx\nx"), Response(text="y")))
LEAD = -2.0 * (math.log1p(3) - math.log1p(1))


def test_surface_counts_beside_ratings_as_the_calibration_says() -> None:
    judgments = [judged(Rating(value=5.0), (0,)), judged(Rating(value=4.0), (1,))]
    verdict = verdicts.resolve(
        LONG, "j", judgments, paired=True, reads_alone=True, calibration=SURFACE
    )
    assert verdict.ratings == (5.0, 4.0)
    assert (verdict.winner, verdict.rule) == ("b", "ratings and surface")
    assert verdict.probabilities == outcome_probabilities(1.0 + LEAD, SURFACE)


def test_surface_counts_beside_probabilities_and_never_in_an_order_alone() -> None:
    page = decided("1", (0.6, 0.3, 0.1))
    asked = [judged(page, (0, 1)), judged(decided("2", (0.3, 0.6, 0.1)), (1, 0))]
    verdict = verdicts.resolve(LONG, "j", asked, paired=True, calibration=SURFACE)
    assert (verdict.winners, verdict.winner) == (("a", "a"), "b")
    assert verdict.rule == "calibrated with surface"
    expected = outcome_probabilities(math.log(2) + LEAD, SURFACE)
    assert verdict.probabilities == pytest.approx(expected)
    alone = verdicts.resolve(LONG, "j", asked[:1], paired=True, calibration=SURFACE)
    assert (alone.winner, alone.probabilities) == ("a", (0.6, 0.3, 0.1))


def test_a_response_that_was_not_read_is_not_judged_by_its_surface() -> None:
    judgments = [judged(UNREADABLE, (0,)), judged(Rating(value=4.0), (1,))]
    verdict = verdicts.resolve(
        LONG, "j", judgments, paired=True, reads_alone=True, calibration=SURFACE
    )
    assert (verdict.winner, verdict.probabilities) == (None, None)


def test_every_rule_of_a_verdict_is_explained() -> None:
    seen = {
        both(decided("1"), decided("2")).rule,
        *(both(*CONFLICT, rule).rule for rule in get_args(OnConflict)),
        both(FAILED, decided("1")).rule,
        verdicts.resolve(PAIR, "j", [judged(decided("1"), (0, 1))], paired=True).rule,
        calibrated(*CONFLICT).rule,
        calibrated(*CONFLICT, SURFACE).rule,
        compared(Rating(value=2.0), Rating(value=3.0)).rule,
        compared(Rating(value=2.0), Rating(value=3.0), SURFACE).rule,
        drawn(["1", "2"], ["2", "2"]).rule,
    }
    assert seen == set(verdicts.RULES)


def test_judgments_on_truncated_responses_are_counted() -> None:
    judgments = [
        judged(decided("1"), (0, 1), truncated=True),
        judged(decided("2"), (1, 0), truncated=True),
    ]
    assert verdicts.resolve(PAIR, "j", judgments, paired=True).n_truncated == 2
    assert both(decided("1"), decided("2")).n_truncated == 0


weights = st.floats(0, 1, allow_nan=False)
probabilities = st.tuples(weights, weights, weights)
readings = st.one_of(
    st.builds(Decision, shown=st.sampled_from(SHOWN), probabilities=st.none() | probabilities),
    st.just(UNREADABLE),
    st.just(FAILED),
)


@given(first=readings, second=readings, on_conflict=st.sampled_from(get_args(OnConflict)))
def test_swapping_the_case_swaps_the_verdict_exactly(
    first: Reading | Failure, second: Reading | Failure, on_conflict: OnConflict
) -> None:
    # The swapped case shows, as its own order, the page that the case shows as the other one.
    verdict, swapped = both(first, second, on_conflict), both(second, first, on_conflict)
    assert swapped.winner == (verdict.winner and OTHER[verdict.winner])
    assert (swapped.rule, swapped.consistent) == (verdict.rule, verdict.consistent)
    if verdict.probabilities is None:
        assert swapped.probabilities is None
    else:
        a, b, tie = verdict.probabilities
        assert swapped.probabilities == (b, a, tie)  # equal, not nearly equal
    if verdict.winners:
        assert [winner and OTHER[winner] for winner in swapped.winners] == [*verdict.winners[::-1]]


@given(page=probabilities, shown=st.sampled_from(("1", "2")))
def test_identical_responses_are_tied_by_probability(page: Probabilities, shown: Shown) -> None:
    # Both pages are the same text, so a judge that depends on nothing else answers them the same.
    verdict = both(decided(shown, page), decided(shown, page), "probability")
    assert verdict.winner == "tie"
    assert verdict.probabilities is not None
    assert verdict.probabilities[0] == verdict.probabilities[1]


@pytest.mark.parametrize("shown", SHOWN)
def test_a_decision_is_renamed_from_the_page_to_the_case(shown: Shown) -> None:
    winner = own_frame.to_winner(shown, (0, 1))
    assert own_frame.to_winner(shown, (1, 0)) == OTHER[winner]


def test_critiques_of_the_swapped_page_are_renamed_into_the_cases_frame() -> None:
    verdict = both(
        Decision(shown="1", critique="Response 1 beats Response 2."),
        Decision(shown="2", critique="Response 2 beats Response 1."),
    )
    assert verdict.critiques == ("Response 1 beats Response 2.",) * 2
    assert both(UNREADABLE, FAILED).critiques == (None, None)
    assert both(Decision(shown="1", critique=""), decided("2")).critiques == (None, None)


def rated(*readings: Reading | Failure) -> Verdict:
    judgments = [
        item if isinstance(item, Failure) else judged(item, (index,))
        for index, item in enumerate(readings)
    ]
    return verdicts.resolve(PAIR, "j", judgments, paired=False)


def test_each_rated_response_has_its_rating_or_none() -> None:
    verdict = rated(Rating(value=6.5, critique="Fine."), UNREADABLE, FAILED, Score(value=-3.0))
    assert verdict.ratings == (6.5, None, None, -3.0)
    assert verdict.critiques == ("Fine.", None, None, None)
    assert (verdict.winner, verdict.winners, verdict.rule) == (None, (), "incomplete")
    assert (verdict.n_unreadable, verdict.n_failed) == (1, 1)


def test_a_case_of_which_nothing_came_back_is_incomplete() -> None:
    verdict = rated(FAILED)
    assert (verdict.rule, verdict.winner, verdict.n_failed) == ("incomplete", None, 1)
    assert not any(verdict.ratings)


def test_critiques_written_afterwards_are_added_and_counted() -> None:
    verdict = replace(both(decided("1"), decided("2")), n_unreadable=1, n_truncated=1)
    written = [
        judged(Critique(text="Colder."), (0, 1), truncated=True),
        judged(UNREADABLE, (0, 1)),
        FAILED,
    ]
    added = verdicts.add_critiques(verdict, written)
    assert added.critiques == ("Colder.", None, None)
    assert (added.n_unreadable, added.n_failed, added.n_truncated) == (2, 1, 2)
    assert (added.winner, added.rule, added.winners) == ("a", "agreed", ("a", "a"))


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_how_a_completion_ended_does_not_change_a_decision_that_was_read(
    finish: Literal["stop", "length"],
) -> None:
    judgment = judged(decided("1"), (0, 1))
    judgment = replace(judgment, completion=replace(judgment.completion, finish=finish))
    assert verdicts.resolve(PAIR, "j", [judgment], paired=True).winner == "a"


@pytest.mark.parametrize(
    ("a", "b", "winner"), [(6.5, 6.25, "a"), (1.0, 10.0, "b"), (5.5, 5.5, "tie")]
)
def test_of_two_ratings_the_higher_wins_and_equal_ones_tie(
    a: float, b: float, winner: Winner
) -> None:
    verdict = compared(Rating(value=a), Rating(value=b))
    assert (verdict.winner, verdict.rule, verdict.ratings) == (winner, "ratings", (a, b))
    # Nothing was in any order, so there is none to agree with.
    assert (verdict.winners, verdict.consistent, verdict.probabilities) == ((), None, None)


@pytest.mark.parametrize("broken", [FAILED, UNREADABLE, Label(name="x"), decided("1")])
@pytest.mark.parametrize("calibration", [None, FITTED])
@pytest.mark.parametrize("place", [0, 1])
def test_a_pair_with_one_rating_is_open(
    broken: Reading | Failure, calibration: Calibration | None, place: int
) -> None:
    fine = Rating(value=9.0)
    verdict = compared(*((broken, fine) if place == 0 else (fine, broken)), calibration)
    assert (verdict.winner, verdict.rule, verdict.probabilities) == (None, "incomplete", None)
    assert verdict.ratings[place] is None
    assert verdict.ratings[1 - place] == 9.0
    assert verdict.n_failed == isinstance(broken, Failure)
    assert verdict.n_unreadable == isinstance(broken, Unreadable)


def test_a_calibration_makes_probabilities_of_two_ratings_and_calls_near_ones_a_tie() -> None:
    near, far = (
        compared(Rating(value=6.0 + gap), Rating(value=6.0), FITTED) for gap in (0.05, 2.0)
    )
    assert (near.winner, far.winner) == ("tie", "a")
    assert near.rule == far.rule == "ratings"
    assert far.probabilities == outcome_probabilities(2.0, FITTED)
    assert near.probabilities is not None
    assert near.probabilities[2] > near.probabilities[0] > near.probabilities[1]


def test_a_calibration_replaces_averaged_probabilities_and_leaves_each_order_as_it_was() -> None:
    first, second = decided("1", (0.41, 0.39, 0.2)), decided("2", (0.38, 0.42, 0.2))
    raw, verdict = both(first, second), calibrated(first, second)
    assert (raw.winner, raw.rule) == ("a", "agreed")
    assert raw.probabilities is not None
    a, b, _ = raw.probabilities
    assert verdict.probabilities == outcome_probabilities(math.log(a) - math.log(b), FITTED)
    assert (verdict.winner, verdict.rule) == ("tie", "calibrated")
    assert (verdict.winners, verdict.consistent) == (raw.winners, True)


@pytest.mark.parametrize(("on_conflict", "winner"), [("tie", "tie"), ("unresolved", None)])
def test_a_rule_that_was_asked_for_goes_before_the_calibration(
    on_conflict: OnConflict, winner: Winner | None
) -> None:
    verdict = calibrated(*CONFLICT, Calibration(temperature=0.1), on_conflict)
    assert (verdict.winner, verdict.rule) == (winner, on_conflict)
    assert calibrated(*CONFLICT, Calibration(temperature=0.1)).winner == "b"
    agreeing = (decided("1", (0.5, 0.4, 0.1)), decided("2", (0.4, 0.5, 0.1)))
    assert calibrated(*agreeing, None, on_conflict).rule == "calibrated"


def test_one_order_or_none_with_probabilities_is_not_calibrated() -> None:
    one = [judged(decided("1", (0.4, 0.35, 0.25)), (0, 1))]
    verdict = verdicts.resolve(PAIR, "j", one, paired=True, calibration=FITTED)
    assert (verdict.winner, verdict.rule) == ("a", "one order")
    assert verdict.probabilities == (0.4, 0.35, 0.25)
    assert calibrated(decided("1"), decided("1")).rule == "unresolved"
    assert calibrated(decided("1", (0.8, 0.1, 0.1)), UNREADABLE).rule == "incomplete"


values = st.floats(1, 10, allow_nan=False)
ratings = st.one_of(st.builds(Rating, value=values), st.just(UNREADABLE), st.just(FAILED))
calibrations = st.none() | st.builds(
    Calibration, temperature=st.floats(1e-3, 1e3), tie=st.floats(0, 20)
)


@given(
    pair=st.one_of(st.tuples(ratings, ratings), st.tuples(readings, readings)),
    calibration=calibrations,
    on_conflict=st.sampled_from([None, *get_args(OnConflict)]),
)
def test_swapping_the_responses_swaps_a_calibrated_verdict_exactly(
    pair: tuple[Reading | Failure, Reading | Failure],
    calibration: Calibration | None,
    on_conflict: OnConflict | None,
) -> None:
    first, second = pair
    if any(isinstance(item, Decision) for item in pair):
        verdict = calibrated(first, second, calibration, on_conflict)
        swapped = calibrated(second, first, calibration, on_conflict)
    else:
        verdict = compared(first, second, calibration)
        swapped = compared(second, first, calibration)
    assert swapped.winner == (verdict.winner and OTHER[verdict.winner])
    assert (swapped.rule, swapped.consistent) == (verdict.rule, verdict.consistent)
    assert swapped.ratings == verdict.ratings[::-1]
    if verdict.probabilities is None:
        assert swapped.probabilities is None
    else:
        a, b, tie = verdict.probabilities
        assert swapped.probabilities == (b, a, tie)


def test_a_preference_is_known_where_both_responses_or_both_orders_are() -> None:
    assert verdicts.preference(compared(Rating(value=6.0), Rating(value=8.5))) == -2.5
    assert verdicts.preference(compared(Rating(value=6.0), UNREADABLE)) is None
    averaged = both(decided("1", (0.6, 0.2, 0.2)), decided("2", (0.2, 0.6, 0.2)))
    assert verdicts.preference(averaged) == pytest.approx(math.log(3))
    assert verdicts.preference(both(decided("1"), decided("2"))) is None
    one = [judged(decided("1", (0.6, 0.2, 0.2)), (0, 1))]
    assert verdicts.preference(verdicts.resolve(PAIR, "j", one, paired=True)) is None


@pytest.mark.parametrize(
    ("first", "second", "winner", "rule", "shares"),
    [
        (["1", "1", "2"], ["2", "2", "2"], "a", "agreed", (2 / 3, 1.0)),
        (["tie", "1", "tie"], ["1", "tie", "tie"], "tie", "agreed", (2 / 3, 2 / 3)),
        (["1", "1", "2"], ["1", "1", "2"], None, "unresolved", (2 / 3, 2 / 3)),
        # Without a majority nobody wins, however many draws there are.
        (["1", "2", "tie"], ["2", "2", "2"], None, "split", (1 / 3, 1.0)),
        (["1", "1", "2", "2"], ["1", "1", "1", "tie"], None, "split", (1 / 2, 3 / 4)),
        # What cannot be read is no vote, and a vote needs more than half of the draws.
        (["1", None, "1"], ["2", "2", None], "a", "agreed", (1.0, 1.0)),
        (["1", "2", None], ["2", "2", "2"], None, "split", (1 / 2, 1.0)),
        (["1", None, None], ["2", "2", "2"], None, "incomplete", (None, 1.0)),
        (["1", "1", None, None], ["2", "2", "2", "2"], None, "incomplete", (None, 1.0)),
        ([None, None, None], ["1", "2", "tie"], None, "incomplete", (None, 1 / 3)),
    ],
)
def test_several_draws_vote(first, second, winner, rule, shares) -> None:
    verdict = drawn(first, second)
    assert (verdict.winner, verdict.rule) == (winner, rule)
    assert verdict.vote_shares == pytest.approx(shares)
    assert verdict.n_unreadable == (*first, *second).count(None)
    assert len(verdict.winners) == 2


@pytest.mark.parametrize("on_conflict", ["tie", "unresolved"])
def test_a_split_vote_is_no_conflict_of_the_orders(on_conflict: OnConflict) -> None:
    verdict = drawn(["1", "2"], ["2", "2"], on_conflict)
    assert (verdict.winner, verdict.rule, verdict.winners) == (None, "split", (None, "a"))


def test_a_vote_takes_its_critique_from_a_draw_that_it_followed() -> None:
    said = [Decision(shown=shown, critique=f"draw {shown}") for shown in ("2", "1", "1")]
    judgments = [judged(reading, (0, 1)) for reading in said]
    verdict = verdicts.resolve(PAIR, "j", judgments, paired=True, n_draws=3)
    assert (verdict.winner, verdict.critiques, verdict.rule) == ("a", ("draw 1",), "one order")


def test_failed_draws_are_counted_and_never_votes() -> None:
    judgments: list[Judgment | Failure] = [
        judged(decided("1"), (0, 1)),
        FAILED,
        judged(decided("1"), (0, 1)),
        FAILED,
        FAILED,
        judged(decided("2"), (1, 0)),
    ]
    verdict = verdicts.resolve(PAIR, "j", judgments, paired=True, n_draws=3)
    assert (verdict.winners, verdict.n_failed, verdict.rule) == (("a", None), 3, "incomplete")


def test_ratings_are_averaged_and_their_spread_is_kept() -> None:
    ratings = [Rating(value=value, critique=f"says {value:g}") for value in (6.0, 7.0, 9.0)]
    judgments = [judged(reading, (0,)) for reading in ratings]
    judgments += [judged(reading, (1,)) for reading in (UNREADABLE, UNREADABLE, ratings[0])]
    verdict = verdicts.resolve(PAIR, "j", judgments, paired=False, n_draws=3)
    assert verdict.ratings == (pytest.approx(22 / 3), None)
    assert verdict.rating_sds == (pytest.approx(math.sqrt(7 / 3)), None)
    assert verdict.critiques == ("says 7", None)
    assert (verdict.rule, verdict.n_unreadable) == ("incomplete", 2)


def test_one_draw_has_no_spread() -> None:
    assert both(decided("1"), decided("2")).vote_shares == ()
    assert compared(Rating(value=2.0), Rating(value=3.0)).rating_sds == ()


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(
            *[st.lists(st.sampled_from([*SHOWN, None]), min_size=n, max_size=n) for _ in range(2)]
        )
    )
)
def test_the_order_of_the_draws_and_of_the_responses_changes_no_vote(draws) -> None:
    first, second = draws
    verdict = drawn(first, second)
    assert drawn(first[::-1], second[::-1]) == verdict
    exchanged = drawn(second, first)
    assert exchanged.winner == (OTHER[verdict.winner] if verdict.winner else None)
    assert exchanged.vote_shares == verdict.vote_shares[::-1]
    assert exchanged.rule == verdict.rule
