"""The win rate by the rules of other tools, on verdicts where they differ."""

from __future__ import annotations

import pytest

from autoj.errors import UnknownComponent
from autoj.metrics import Row, win_rate
from autoj.records import Winner


def row(number: int, *winners: Winner | None) -> Row:
    return Row(
        cluster=number, label=None, winner=None, winners=winners, consistent=None, scenario=None
    )


ROWS = [
    row(0, "a", "a"),
    row(1, "a", "b"),
    row(2, "a", "tie"),
    row(3, "tie", "tie"),
    row(4, "b", "b"),
    row(5, None, "a"),
]


@pytest.mark.parametrize(
    ("convention", "share", "n"),
    [
        ("auto-j", 1 / 6, 6),
        ("mt-bench", (1 + 0.5 + 0.5 + 0.5 + 0) / 5, 5),
        ("pandalm", (1 + 1 + 1 + 0 + 0 + 0) / 6, 6),
        ("alpaca-eval", (1 + 1 + 1 + 0.5 + 0) / 5, 5),
        ("arena-hard", (1 + 0.5 + 0.75 + 0.5 + 0 + 1) / 6, 6),
    ],
)
def test_each_tool_makes_its_own_win_rate_of_the_same_verdicts(
    convention: str, share: float, n: int
) -> None:
    found = win_rate.by_convention(ROWS, convention)
    assert found.value == pytest.approx(share)
    assert found.n == n


def test_clear_wins_count_three_games_over_all_cases() -> None:
    rows = [
        row(0, "a", "a")._replace(strengths=(2, 1)),
        row(1, "b", "tie")._replace(strengths=(1, 0)),
        row(2, "b", None)._replace(strengths=(2, None)),
    ]
    found = win_rate.by_convention(rows, "arena-hard")
    assert found.value == pytest.approx((3 + 1 + 0 + 0.5 + 0) / (3 + 1 + 1 + 1 + 3))
    assert (found.n, found.n_unscored) == (3, 0)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < found.value < found.high <= 1  # type: ignore[operator]


def test_clear_wins_alone_still_have_an_interval_within_the_scale() -> None:
    rows = [row(number, "a", "a")._replace(strengths=(2, 1)) for number in range(13)]
    found = win_rate.by_convention(rows, "arena-hard")
    assert found.value == 1.0
    assert found.low is not None
    assert 0.5 < found.low < 0.9
    assert found.high == pytest.approx(1.0)


@pytest.mark.parametrize("convention", ["auto-j", "mt-bench"])
def test_one_order_has_no_win_rate_where_the_tool_needs_two(convention: str) -> None:
    found = win_rate.by_convention([row(0, "a"), row(1, "b")], convention)
    assert found.value is None
    assert found.reason == "not applicable: only one order was judged"


def test_an_unknown_tool_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownComponent, match="mt-bench"):
        win_rate.by_convention(ROWS, "mtbench")
