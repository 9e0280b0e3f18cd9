"""The codes of other tools: every published one is understood, and none is made up."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.datasets._preferences import (
    CONVENTIONS,
    decode,
    decode_rating,
    encode,
    first_probability,
    strength_of,
)
from autoj.datasets.base import FieldError
from autoj.errors import UnknownComponent
from autoj.records import WINNERS, Winner

PUBLISHED: list[tuple[str, object, Winner | None]] = [
    ("auto-j", 0, "a"),
    ("auto-j", 1, "b"),
    ("auto-j", 2, "tie"),
    ("auto-j", -1, None),
    ("mt-bench", "model_1", "a"),
    ("mt-bench", "model_b", "b"),
    ("mt-bench", "tie", "tie"),
    ("mt-bench", "tie (inconsistent)", "tie"),
    ("mt-bench", "error", None),
    ("pandalm", 1, "a"),
    ("pandalm", "2", "b"),
    ("pandalm", 0, "tie"),
    ("pandalm", "Tie", "tie"),
    ("pandalm", "garbage", None),
    ("alpaca-eval", 1, "a"),
    ("alpaca-eval", 2.0, "b"),
    ("alpaca-eval", 1.5, "tie"),
    ("alpaca-eval", 0, "tie"),
    ("alpaca-eval", 1.4999, "a"),
    ("alpaca-eval", 1.9997935867, "b"),
    ("alpaca-eval", None, None),
    ("alpaca-eval", math.nan, None),
    ("arena-hard", "A>>B", "a"),
    ("arena-hard", "A>B", "a"),
    ("arena-hard", "A=B", "tie"),
    ("arena-hard", "B>A", "b"),
    ("arena-hard", "B>>A", "b"),
    ("arena-hard", "A<<B", "b"),
    ("arena-hard", "B<A", "a"),
    ("arena-hard", None, None),
    ("reward-bench", 1, "a"),
    ("reward-bench", 0, "b"),
    ("reward-bench", 0.5, "tie"),
]


@pytest.mark.parametrize(("convention", "code", "winner"), PUBLISHED)
def test_every_published_code_is_understood(
    convention: str, code: object, winner: Winner | None
) -> None:
    assert decode(convention, code) == winner


def test_each_convention_is_tested() -> None:
    assert {convention for convention, *_ in PUBLISHED} == set(CONVENTIONS)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_what_is_written_is_read_back(convention: str) -> None:
    table = CONVENTIONS[convention]
    for winner in table.writes:
        code = encode(convention, winner)
        assert decode(convention, code) == winner
        # What is written can stand in a JSON file and comes back from it the same.
        assert decode(convention, json.loads(json.dumps(code))) == winner
    assert set(WINNERS) <= table.writes.keys()


@pytest.mark.parametrize("convention", CONVENTIONS)
@given(winners=st.lists(st.sampled_from(WINNERS)))
def test_winners_survive_each_convention(convention: str, winners: list[Winner]) -> None:
    assert [decode(convention, encode(convention, winner)) for winner in winners] == winners


def test_a_failure_is_never_written_as_a_tie_or_a_loss() -> None:
    for convention, table in CONVENTIONS.items():
        if None in table.writes:
            assert decode(convention, encode(convention, None)) is None
        else:
            with pytest.raises(FieldError, match="has no code for a failed judgment"):
                encode(convention, None)
    assert [name for name, table in CONVENTIONS.items() if None not in table.writes] == [
        "reward-bench"
    ]


@pytest.mark.parametrize(
    ("convention", "code"),
    [
        ("auto-j", 3),
        ("auto-j", "0"),
        ("auto-j", None),
        ("auto-j", 0.5),
        ("auto-j", True),
        ("mt-bench", "model_3"),
        ("mt-bench", None),
        ("mt-bench", 1),
        ("pandalm", 3),
        ("pandalm", None),
        ("alpaca-eval", 2.5),
        ("alpaca-eval", 0.5),
        ("alpaca-eval", "1"),
        ("alpaca-eval", True),
        ("alpaca-eval", [1]),
        ("alpaca-eval", {}),
        ("arena-hard", "A>>>B"),
        ("arena-hard", "a>b"),
        ("reward-bench", 2),
        ("reward-bench", None),
        ("reward-bench", 0.7),
        ("reward-bench", math.nan),
    ],
)
def test_a_code_off_the_menu_is_told_with_the_menu(convention: str, code: object) -> None:
    with pytest.raises(FieldError) as told:
        decode(convention, code, "verdict")
    assert told.value.field == "verdict"
    assert repr(code) in told.value.message
    for known, meaning in CONVENTIONS[convention].codes.items():
        assert ("null" if known is None else repr(known)) in told.value.message
        assert {"a": "first", "b": "second", "tie": "tie", None: "failed"}[meaning] in str(
            told.value.message
        )


@given(code=st.none() | st.booleans() | st.integers() | st.floats() | st.text())
def test_any_code_is_read_or_refused(code: object) -> None:
    for convention in CONVENTIONS:
        try:
            assert decode(convention, code) in (*WINNERS, None)
        except FieldError:
            continue


def test_an_unknown_convention_is_told_the_nearest() -> None:
    with pytest.raises(UnknownComponent, match=r"(?s)no convention 'alpaca'.*alpaca-eval"):
        decode("alpaca", 1)
    with pytest.raises(UnknownComponent):
        encode("alpaca", "a")


@pytest.mark.parametrize(
    ("code", "strength"),
    [("A>>B", 2), ("B>>A", 2), ("A<<B", 2), ("A>B", 1), ("B<A", 1), ("A=B", 0), (None, None)],
)
def test_arena_hard_says_how_clear_a_verdict_is(code: object, strength: int | None) -> None:
    assert strength_of(code) == strength


@given(first=st.floats(0.001, 0.999).filter(lambda share: share != 0.5))
def test_a_graded_preference_is_a_probability_of_the_winner(first: float) -> None:
    preference = 2 - first
    share = first_probability(preference)
    if share is not None:
        assert share == pytest.approx(first)
        assert decode("alpaca-eval", preference) == ("a" if share > 0.5 else "b")


@pytest.mark.parametrize(("convention", "failed"), [("mt-bench", -1), ("auto-j", 0.0)])
def test_the_number_of_a_failed_rating_is_no_rating(convention: str, failed: float) -> None:
    assert decode_rating(convention, failed) is None  # type: ignore[arg-type]
    assert decode_rating(convention, 10) == 10.0  # type: ignore[arg-type]
    for wrong in (11, 0.5, -2, "5", None, True, math.nan):
        with pytest.raises(FieldError, match="rating from 1 to 10"):
            decode_rating(convention, wrong)  # type: ignore[arg-type]
