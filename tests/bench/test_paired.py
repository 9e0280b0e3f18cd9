"""Two judges on the same pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.bench.eval_p.paired import compare
from autoj.bench.predictions import read_predictions
from autoj.records import Case, Response, Verdict, Winner, normalise_query
from autoj.verdicts.resolve import settle


def case(number: int, scenario: str) -> Case:
    query = f"Question {number}?"
    return Case(
        id=f"line-{number}",
        query=query,
        responses=(Response(text="A longer answer."), Response(text="Short.")),
        cluster=normalise_query(query),
        label="a",
        scenario=scenario,
    )


def verdict(number: int, *winners: Winner | None) -> Verdict:
    return settle(Verdict(case_id=f"line-{number}", judge="j", winners=winners))


def test_a_judge_is_compared_case_by_case_with_another() -> None:
    numbers = range(1, 31)
    cases = [case(n, "planning" if n % 2 else "ranking") for n in numbers]
    good = [verdict(n, "a", "a") for n in numbers]
    bad = [verdict(n, "a" if n % 3 else "b", "b") for n in numbers]
    found = {item.figure: item for item in compare(cases, good, bad)}
    assert set(found) == {"accuracy", "agreement", "consistency"}
    assert found["accuracy"].overall.estimate.value == pytest.approx(1 / 3)
    assert found["agreement"].overall.estimate.value == 1.0
    parts = found["accuracy"].parts
    assert set(parts) == {"planning", "ranking"}
    assert found["accuracy"].corrected["ranking"] >= (parts["ranking"].p_value or 1)


def test_the_paired_files_of_the_release_differ_by_their_accuracies(
    data_folder: Path, eval_p_cases: list[Case]
) -> None:
    outputs = data_folder / "autoj" / "outputs"
    one = read_predictions(outputs / "pairwise_example_output.jsonl", eval_p_cases)
    longest = [
        settle(Verdict(case_id=item.id, judge="longest", winners=("a",))) for item in eval_p_cases
    ]
    (found,) = compare(eval_p_cases, one, longest, "group")
    estimate = found.overall.estimate
    assert estimate.value == pytest.approx(0.5999 - 520 / 1392, abs=1e-4)
    assert estimate.low is not None
    assert estimate.low > 0.15
    assert len(found.corrected) == 8
