"""Each metric by cases computed by hand, and by the figures that were published."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autoj import components, metrics
from autoj.metrics import Row, accuracy, agreement, consistency, mean_rating, win_rate
from autoj.records import SHOWN, Estimate, Winner
from autoj.verdicts import own_frame

# What metrics read and what is kept of them.
NO_METRICS = {"rows", "result"}
every_metric = pytest.mark.parametrize(
    "name", [name for name in components.names("metrics") if name not in NO_METRICS]
)


def pair(
    label: Winner | None,
    *winners: Winner | None,
    winner: Winner | None = None,
    cluster: int = 0,
    rating: float | None = None,
) -> Row:
    """A row of a pair; `consistent` follows from the winners as in `verdicts.resolve`."""
    known = len(winners) == 2 and None not in winners
    return Row(
        cluster=cluster,
        label=label,
        winner=winner,
        winners=winners,
        consistent=len(set(winners)) == 1 if known else None,
        scenario=None,
        rating=rating,
    )


ROWS = [
    pair("a", "a", "a", winner="a", cluster=0, rating=1.0),
    pair("a", "a", "b", winner="a", cluster=1, rating=10.0),
    pair("b", "a", "b", winner="b", cluster=2, rating=5.5),
    pair("b", "a", "a", winner="a", cluster=3, rating=4.0),
    pair("tie", "tie", "tie", winner="tie", cluster=4, rating=None),
    pair("a", None, "a", winner=None, cluster=5, rating=8.0),
    pair(None, "b", "b", winner="b", cluster=6, rating=8.5),
]


SHARES = [(0.6, 0.3, 0.1), (0.5, 0.4, 0.1), (0.2, 0.7, 0.1), (0.8, 0.1, 0.1), (0.1, 0.2, 0.7)]
LENGTHS = [(9, 4), (3, 8), (5, 2), (7, 6), (4, 4), (2, 3), (6, 1)]
FULL_ROWS = [
    row._replace(
        lengths=LENGTHS[index],
        averaged=row.winner,
        probabilities=SHARES[index] if index < len(SHARES) else None,
    )
    for index, row in enumerate(ROWS)
]
RATED_ROWS = [
    ROWS[0]._replace(label=label, rating=rating, cluster=index)
    for index, (label, rating) in enumerate([(0.2, 3.0), (0.9, 6.0), (0.4, 5.0), (0.7, 4.5)])
]


def rows_of(name: str) -> list[Row]:
    """Rows that hold all that a metric reads."""
    return RATED_ROWS if name == "correlation" else FULL_ROWS


def compute(name: str, rows: Sequence[Row]) -> Estimate:
    found: Estimate = components.load("metrics", name).compute(rows)
    return found


@every_metric
def test_a_metric_is_named_in_its_room_and_explained(name: str) -> None:
    module = components.load("metrics", name)
    assert module.__name__.rpartition(".")[2] in metrics.__all__
    assert inspect.getdoc(module.compute)
    assert compute(name, ROWS).name == name.replace("-", " ")


@every_metric
def test_a_metric_of_nothing_has_a_reason_and_no_number(name: str) -> None:
    found = compute(name, [])
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
    assert found.reason
    unread_rows = [pair("a", None, None), pair("b")]
    if name == "correlation":
        unread_rows = [row._replace(rating=None) for row in RATED_ROWS[:2]]
    unread = compute(name, unread_rows)
    assert (unread.value, unread.n, unread.n_unscored) == (None, 0, 2)
    assert unread.reason


@every_metric
def test_a_metric_lies_in_its_interval_and_counts_every_case_once(name: str) -> None:
    rows = rows_of(name)
    found = compute(name, rows)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    assert 0 < found.n + found.n_unscored <= len(rows)
    if found.bounds is not None:
        assert found.bounds[0] <= found.value <= found.bounds[1]


def figures(found: Estimate) -> tuple[float | None, int, int]:
    return found.value, found.n, found.n_unscored


def test_accuracy_is_the_first_order_against_the_label() -> None:
    # Right: 0, 1, 4. Wrong: 2, 3. Unscored: 5, whose first order was not read. Not counted: 6.
    assert figures(accuracy.compute(ROWS)) == (3 / 5, 5, 1)


def test_agreement_is_both_orders_against_the_label() -> None:
    # Right: 0, 4. Wrong: 1, 2, 3. Unscored: 5. Not counted, for it has no label: 6.
    assert figures(agreement.compute(ROWS)) == (2 / 5, 5, 1)


def test_consistency_is_both_orders_against_each_other() -> None:
    # Alike: 0, 3, 4, 6. Not: 1, 2. Unscored: 5.
    assert figures(consistency.compute(ROWS)) == (4 / 6, 6, 1)


def test_a_win_counts_one_and_a_tie_one_half() -> None:
    # Won: 0, 1, 3. Tied: 4. Lost: 2, 6. Unscored: 5.
    assert figures(win_rate.compute(ROWS)) == (3.5 / 6, 6, 1)


def test_a_mean_rating_is_the_mean_of_what_could_be_read() -> None:
    expected = pytest.approx((1 + 10 + 5.5 + 4 + 8 + 8.5) / 6)
    assert figures(mean_rating.compute(ROWS)) == (expected, 6, 1)


@pytest.mark.parametrize("metric", [accuracy, agreement, consistency])
@pytest.mark.parametrize("winner", ["a", "b", "tie", None])
def test_the_resolved_winner_changes_neither_accuracy_nor_agreement_nor_consistency(
    metric: Any, winner: Winner | None
) -> None:
    resolved = [
        pair(row.label, *row.winners, winner=winner, cluster=row.cluster)  # type: ignore[arg-type]
        for row in ROWS
    ]
    assert metric.compute(resolved) == metric.compute(ROWS)


def test_one_order_alone_gives_an_accuracy_and_nothing_that_needs_two() -> None:
    rows = [pair("a", "a", winner="a"), pair("b", "a", winner="a", cluster=1)]
    assert figures(accuracy.compute(rows)) == (1 / 2, 2, 0)
    assert figures(agreement.compute(rows)) == (None, 0, 2)
    assert figures(consistency.compute(rows)) == (None, 0, 2)


def test_a_judge_that_always_names_the_first_response_agrees_never_and_wins_half() -> None:
    rows = [pair("a", "a", "b", winner="tie", cluster=number) for number in range(10)]
    assert accuracy.compute(rows).value == 1.0
    assert agreement.compute(rows).value == 0.0
    assert consistency.compute(rows).value == 0.0
    assert win_rate.compute(rows).value == 0.5


@pytest.fixture(scope="module")
def published(data_folder: Path) -> list[Row]:
    """The judge of the paper on Eval-P: its published labels in both orders."""

    def column(path: Path, field: str) -> list[int]:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)[field] for line in lines]

    folder = data_folder / "autoj"
    own = column(folder / "outputs" / "pairwise_example_output.jsonl", "output")
    swapped = column(folder / "outputs" / "pairwise_exchange_example_output.jsonl", "output")
    labels = column(folder / "testdata_pairwise.jsonl", "label")
    return [
        pair(
            own_frame.to_winner(SHOWN[label], (0, 1)),
            own_frame.to_winner(SHOWN[first], (0, 1)),
            own_frame.to_winner(SHOWN[second], (1, 0)),
            cluster=number,
        )
        for number, (label, first, second) in enumerate(zip(labels, own, swapped, strict=True))
    ]


@pytest.mark.parametrize(
    ("metric", "percent"), [(accuracy, 59.99), (agreement, 54.96), (consistency, 83.41)]
)
def test_the_published_labels_give_the_published_figures(
    published: list[Row], metric: Any, percent: float
) -> None:
    found = metric.compute(published)
    assert (found.n, found.n_unscored) == (1392, 0)
    assert round(100 * found.value, 2) == percent
