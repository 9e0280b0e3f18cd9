"""A judge of pairs that reads each response alone is measured as an independent scorer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.known_pairs import write_known_pairs

from autoj.audit.card import audit_card, save_plan
from autoj.audit.plan import audit_spec, plan_audit
from autoj.bench.eval_p.evaluate import TieBand, evaluate
from autoj.calibration import outcome_probabilities
from autoj.datasets import open_cases
from autoj.metrics.result import Result
from autoj.metrics.rows import pair_row
from autoj.records import (
    Calibration,
    Case,
    JudgeCard,
    Request,
    Response,
    Verdict,
    Winner,
    likeliest,
)
from autoj.reports.audit import audit_view
from autoj.runs import judge_run, make_spec, open_run

from ..scripted import CARD, Recorder

FITTED = Calibration(temperature=0.5, tie=1.0, fitted_on="val.jsonl")
BY_RATING = replace(CARD, protocols=("pairwise-by-rating", "single-verdict"))
CALIBRATED = replace(BY_RATING, calibration={"pairwise-by-rating": FITTED})


def case(number: int, label: Winner) -> Case:
    return Case(
        id=f"c{number}",
        query=f"q{number}",
        cluster=f"q{number}",
        responses=(Response(text="one"), Response(text="two")),
        label=label,
    )


def verdict(number: int, a: float, b: float, calibration: Calibration | None) -> Verdict:
    chances = None if calibration is None else outcome_probabilities(a - b, calibration)
    raw: Winner = "tie" if a == b else "a" if a > b else "b"
    return Verdict(
        case_id=f"c{number}",
        judge="j",
        ratings=(a, b),
        rule="ratings",
        winner=raw if chances is None else likeliest(chances),
        probabilities=chances,
    )


CASES = [case(0, "a"), case(1, "tie"), case(2, "b"), case(3, "tie")]
RATINGS = [(8.0, 3.0), (6.2, 6.0), (4.0, 6.0), (7.0, 2.0)]


def verdicts(calibration: Calibration | None) -> list[Verdict]:
    return [verdict(number, *pair, calibration) for number, pair in enumerate(RATINGS)]


def test_a_calibrated_verdict_is_its_own_and_takes_no_band() -> None:
    fitted = verdicts(FITTED)
    assert [one.winner for one in fitted] == ["a", "tie", "b", "a"]
    for one, item in zip(CASES, fitted, strict=True):
        row = pair_row(one, item, 10.0)
        assert row.winner == row.averaged == item.winner
        assert row.probabilities == item.probabilities
        assert row.winners == ()
    raw = [pair_row(one, item, 0.3) for one, item in zip(CASES, verdicts(None), strict=True)]
    assert [row.winner for row in raw] == ["a", "tie", "b", "a"]
    assert raw[0].probabilities is None


def values(result: Result) -> dict[str, float | None]:
    return {found.name: found.value for found in result.estimates}


def test_it_has_one_accuracy_and_no_agreement() -> None:
    fitted = evaluate(CASES, verdicts(FITTED), judge="j", source="-", calibration=FITTED)
    raw = evaluate(CASES, verdicts(None), judge="j", source="-")
    band = TieBand(width=0.5, chosen_on="elsewhere")
    banded = evaluate(CASES, verdicts(None), judge="j", source="-", tie_band=band)
    assert values(fitted)["averaged accuracy"] == values(banded)["averaged accuracy"] == 0.75
    assert values(raw)["averaged accuracy"] == 0.5
    assert values(fitted)["averaged accuracy, decided"] == 1.0
    assert values(fitted)["kappa"] == values(banded)["kappa"]
    for name in ("accuracy", "agreement", "consistency"):
        estimate = fitted.estimate(name)
        assert estimate is not None
        assert estimate.reason == "not applicable: each response is rated alone"
    assert "ties by the card's calibration" in fitted.notes[0]
    assert "fitted on val.jsonl" in fitted.notes[0]
    assert fitted.details["calibration"] == FITTED
    assert "equal ratings are a tie" in raw.notes[0]


def test_a_calibration_that_names_no_data_says_so() -> None:
    nameless = replace(FITTED, fitted_on=None)
    result = evaluate(CASES, verdicts(FITTED), judge="j", source="-", calibration=nameless)
    assert "unnamed data" in result.notes[0]


def by_length(request: Request) -> tuple[float, ...]:
    """The longer the page, the better, up to the scale's end."""
    rating = 1 + len(request.messages[0].content) % 10
    return tuple(-2.0 * abs(rating - other) for other in range(1, 11))


@pytest.mark.parametrize("card", [BY_RATING, CALIBRATED], ids=["raw", "calibrated"])
def test_an_audit_has_no_position_and_everything_else(tmp_path: Path, card: JudgeCard) -> None:
    write_known_pairs(tmp_path / "known.jsonl", 40, seed=0)
    spec = audit_spec(card)
    assert (spec.task, spec.protocol) == ("judge", "pairwise-by-rating")
    plan = plan_audit(open_cases(tmp_path / "known.jsonl"), spec, n_sample=30, n_probed=10, seed=1)
    assert [part.name for part in plan.parts] == ["pairs", "repeated"]
    for part in plan.parts:
        with open_run(tmp_path / part.name, part.spec, part.cases) as folder:
            judge_run(folder, part.spec, Recorder(by_length, card))
    save_plan(tmp_path, plan)
    result = audit_card(tmp_path)
    for name in ("position bias", "consistency", "agreement", "tie on an identical pair"):
        estimate = result.estimate(name)
        assert estimate is not None
        assert estimate.reason == "not applicable: each response is rated alone"
    known = values(result)
    for name in ("accuracy", "kappa", "longer preferred by the judge", "flip rate", "test-retest"):
        assert known[name] is not None
    assert known["test-retest"] == 1.0
    assert (known["calibration"] is not None) == (card is CALIBRATED)
    assert ("ties by its calibration" in result.notes[1]) == (card is CALIBRATED)
    audit_view(result)


def test_it_rates_by_its_protocol_for_one_response() -> None:
    # Best of N, system level and autoj rate ask for a rating, and the pair's protocol gives none.
    assert make_spec("rate", CALIBRATED).protocol == "single-verdict"
    assert make_spec("rate", CALIBRATED).calibration is None
    assert make_spec("judge", CALIBRATED).calibration == FITTED


def test_a_rating_alone_makes_no_pair() -> None:
    one = Verdict(case_id="c0", judge="j", ratings=(3.0, None))
    row = pair_row(CASES[0], one)
    assert (row.winner, row.averaged, row.probabilities) == (None, None, None)
