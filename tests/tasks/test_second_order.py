"""`tasks.second_order`: the trade of the second order, against values computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.records import JudgeCard, Request
from autoj.reports.second_order import second_order_view
from autoj.runs import judge_run, make_spec, open_run
from autoj.tasks.second_order import Figure, FittedSecondOrder, plan_second_order

from ..reports.pages import page
from ..scripted import CARD, Recorder

# P(a) in the first order and in the second one; the rest is b's but for a tenth.
P_A = {0: (0.9, 0.8), 1: (0.6, 0.05), 2: (0.8, 0.3), 3: (0.2, 0.1)}
PRICED = replace(CARD, usd_per_million_prompt_tokens=10.0, usd_per_million_completion_tokens=0.0)


def torn(request: Request) -> tuple[float, ...]:
    """Pair 1 turns to b in the second order, pair 2 too but not enough; 0 and 3 stay."""
    text = request.messages[-1].content
    number = next(number for number in P_A if f"Question {number}?" in text)
    a_first = text.index("Answer a") < text.index("Answer b")
    p_a = P_A[number][0 if a_first else 1]
    p_b = 0.95 - p_a
    first, second = (p_a, p_b) if a_first else (p_b, p_a)
    return math.log(first), math.log(second), math.log(0.05)


@pytest.fixture
def data(tmp_path: Path) -> Cases:
    rows = [
        {
            "query": f"Question {number}?",
            "responses": [f"Answer a {number}.", f"Answer b {number}."],
            "label": "b" if number in (1, 3) else "a",
        }
        for number in P_A
    ]
    write_records(tmp_path / "pairs.jsonl", rows)
    return open_cases(tmp_path / "pairs.jsonl")


def judged(path: Path, data: Cases, card: JudgeCard = PRICED, **settings: str) -> Path:
    spec = make_spec("judge", card, protocol="pairwise-verdict", **settings)  # type: ignore[arg-type]
    with open_run(path, spec, data) as folder:
        judge_run(folder, spec, Recorder(torn, card))
    return path


def test_the_curve_is_the_one_by_hand(tmp_path: Path, data: Cases) -> None:
    # Confidences of the first order: 0.9, 0.6, 0.8, 0.75; the whole run says a, b, a, b.
    found = plan_second_order(judged(tmp_path / "run", data), (0, 0.25, 0.5, 0.75, 1))
    assert (found.n, found.n_left_out) == (4, 0)
    points = found.points
    assert [point.below for point in points] == [
        pytest.approx(0.6), pytest.approx(0.75), pytest.approx(0.8), pytest.approx(0.9), None,
    ]  # fmt: skip
    assert [point.n_second for point in points] == [0, 1, 2, 3, 4]
    assert [point.calls for point in points] == [0.5, 0.625, 0.75, 0.875, 1.0]
    assert [point.same.value for point in points] == [0.75, 1.0, 1.0, 1.0, 1.0]
    assert [point.conflicts.value for point in points] == [0.0, 0.5, 0.5, 1.0, 1.0]
    assert [point.conflicts.n for point in points] == [2] * 5
    accuracy = [None if point.accuracy is None else point.accuracy.value for point in points]
    assert accuracy == [0.75, 1.0, 1.0, 1.0, 1.0]
    spent = [point.usd or 0 for point in points]
    assert spent == sorted(set(spent))
    assert spent[0] == pytest.approx(spent[-1] / 2, rel=0.05)
    text = page(second_order_view(found))
    assert "62.5 %" in text
    assert "dollars" in text


def test_pairs_of_equal_confidence_are_asked_together(tmp_path: Path, data: Cases) -> None:
    found = plan_second_order(judged(tmp_path / "run", data), (0, 0.1, 0.2, 1))
    assert [point.n_second for point in found.points] == [0, 4]


def test_without_prices_there_are_no_dollars(tmp_path: Path, data: Cases) -> None:
    found = plan_second_order(judged(tmp_path / "run", data, CARD))
    assert {point.usd for point in found.points} == {None}
    assert "dollars" not in page(second_order_view(found))


def test_a_run_that_cannot_say_is_refused(tmp_path: Path, data: Cases) -> None:
    with pytest.raises(ConfigError, match="not a run of pairs in both orders"):
        plan_second_order(judged(tmp_path / "one", data, orders="one"))
    path = judged(tmp_path / "cut", data)
    with open_run(tmp_path / "bare", make_spec("judge", CARD), data):
        pass
    with pytest.raises(DataError, match="is not finished"):
        plan_second_order(tmp_path / "bare")
    assert plan_second_order(path).n == 4


def fitted(path: Path, at_most: float, figure: Figure = "winner") -> FittedSecondOrder:
    found = plan_second_order(path, at_most=at_most, figure=figure).fitted
    assert found is not None
    return found


@pytest.mark.parametrize("figure", ["winner", "accuracy"])
def test_the_threshold_is_the_lowest_that_moves_the_figure_by_so_much(
    tmp_path: Path, data: Cases, figure: Figure
) -> None:
    # Only pair 1, with a confidence of 0.6, has another winner by its first order, and is wrong.
    path = judged(tmp_path / "run", data)
    none = fitted(path, 0.0, figure)
    assert none.point.below == pytest.approx(0.75)
    assert none.point.n_second == 1
    assert none.point.moved is not None
    assert none.point.moved.value == 0
    some = fitted(path, 0.25, figure)
    assert some.point.below == pytest.approx(0.6)
    assert some.point.n_second == 0
    assert some.point.moved is not None
    assert some.point.moved.value == 0.25
    assert some.held_out.n == 4
    text = " ".join(page(second_order_view(plan_second_order(path, at_most=0.0))).split())
    assert "--second-order unsure:0.75" in text
    assert "62.5 % of the calls" in text
    with pytest.raises(ConfigError, match="must be from 0 to 1"):
        fitted(path, 1.5)


def test_a_threshold_that_was_fitted_does_what_the_plan_says(tmp_path: Path, data: Cases) -> None:
    """The whole circle: a run in both orders, its threshold, and a new run that goes by it."""
    point = fitted(judged(tmp_path / "run", data), 0.0).point
    spec = make_spec(
        "judge", PRICED, protocol="pairwise-verdict",
        second_order=f"unsure:{point.below}", always_full=0.0,
    )  # fmt: skip
    engine = Recorder(torn, PRICED)
    with open_run(tmp_path / "saved", spec, data) as folder:
        judge_run(folder, spec, engine)
        found = [verdict.winner for verdict in folder.verdicts()]
    assert len(engine.asked) == 4 + point.n_second
    assert found == ["a", "b", "a", "b"]
    with pytest.raises(ConfigError, match="second orders of unsure pairs alone"):
        plan_second_order(tmp_path / "saved")


def test_accuracy_cannot_be_kept_without_labels(tmp_path: Path) -> None:
    rows = [{"query": f"Question {n}?", "responses": [f"Answer a {n}.", f"Answer b {n}."]}
            for n in P_A]  # fmt: skip
    write_records(tmp_path / "bare.jsonl", rows)
    path = judged(tmp_path / "run", open_cases(tmp_path / "bare.jsonl"))
    with pytest.raises(ConfigError, match="has no labels"):
        fitted(path, 0.01, "accuracy")
    assert plan_second_order(path).points[0].moved is not None


def test_the_ranking_of_models_is_kept_or_not(tmp_path: Path) -> None:
    names = {0: ("x", "y"), 1: ("y", "x"), 2: ("y", "z"), 3: ("x", "z")}
    rows = [
        {
            "query": f"Question {n}?",
            "responses": [
                {"text": f"Answer a {n}.", "model": names[n][0]},
                {"text": f"Answer b {n}.", "model": names[n][1]},
            ],
        }
        for n in P_A
    ]
    write_records(tmp_path / "models.jsonl", rows)
    path = judged(tmp_path / "run", open_cases(tmp_path / "models.jsonl"))
    # By both orders x wins 2 of 3, z 1 of 2 and y 1 of 3; by the first alone y wins pair 1, too.
    points = plan_second_order(path, (0, 0.25, 1)).points
    assert [point.same_ranking for point in points] == [False, True, True]
    text = page(second_order_view(plan_second_order(path, (0, 1))))
    assert "other" in text
    assert "kept" in text
