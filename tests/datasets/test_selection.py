"""Eval-R's released layout: a case per base model, with log-probabilities and published ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autoj.datasets import open_cases
from autoj.errors import DataError
from autoj.jsonl import write_records
from autoj.records import Case, Response

ROW: dict[str, Any] = {
    "scenario": "planning",
    "prompt": "Plan a lesson.",
    "outputs": {
        "small-7b": {
            "outputs": ["First draft.", "Second draft.", ""],
            "logprobs": [-20.5, -10, None],
            "finish_reasons": ["stop", "stop", "length"],
            "id": 7,
            "scores": {"autoj": [6.0, 5, None], "scalar": [-0.5, 0.0, 2.25]},
        },
        "large-13b": {"outputs": ["A plan.", "Another plan."], "logprobs": [-3.0, -4.0]},
    },
}


def read(folder: Path, *rows: dict[str, Any]) -> list[Case | DataError]:
    write_records(folder / "selection.jsonl", rows)
    opened = open_cases(folder / "selection.jsonl")
    assert opened.format == "autoj-selection"
    return [row.case for row in opened.read()]


def test_a_row_is_a_case_per_base_model(tmp_path: Path) -> None:
    small, large = read(tmp_path, ROW)
    assert isinstance(small, Case)
    assert isinstance(large, Case)
    assert (small.id, large.id) == ("line-1/small-7b", "line-1/large-13b")
    # One query, so one cluster: the two are not independent.
    assert small.cluster == large.cluster
    assert small.scenario == "planning"
    assert small.responses == (
        Response(text="First draft.", model="small-7b", logprob=-20.5),
        Response(text="Second draft.", model="small-7b", logprob=-10.0),
        Response(text="", model="small-7b"),
    )
    assert small.meta == {
        "base_model": "small-7b",
        "scores": {"autoj": [6.0, 5.0, None], "scalar": [-0.5, 0.0, 2.25]},
        "finish_reasons": ["stop", "stop", "length"],
        "id": 7,
    }
    assert large.meta == {"base_model": "large-13b"}


def test_ids_stay_apart_when_queries_and_models_repeat(tmp_path: Path) -> None:
    cases = read(tmp_path, ROW, ROW)
    assert len({case.id for case in cases if isinstance(case, Case)}) == 4


@pytest.mark.parametrize(
    ("block", "field", "told"),
    [
        ({"outputs": ["x", 3]}, r"outputs\.m\.outputs\[1\]", "expected a string, found int"),
        ({"outputs": ["x"], "logprobs": [1, 2]}, r"outputs\.m\.logprobs", "list of 1 numbers.*2"),
        ({"outputs": ["x"], "logprobs": 3}, r"outputs\.m\.logprobs", "one per response, found int"),
        ({"outputs": ["x"], "logprobs": ["a"]}, r"outputs\.m\.logprobs\[0\]", "a number"),
        ({"outputs": ["x"], "scores": [1]}, r"outputs\.m\.scores", "an object, found list"),
        ({"outputs": ["x"], "scores": {"j": []}}, r"outputs\.m\.scores\.j", "found 0"),
        ({"outputs": ["x"], "scores": {"j": [True]}}, r"outputs\.m\.scores\.j\[0\]", "True"),
    ],
)
def test_a_row_that_is_wrong_in_one_model_says_where(
    tmp_path: Path, block: dict[str, Any], field: str, told: str
) -> None:
    good, other, wrong = read(tmp_path, ROW, {"prompt": "q", "outputs": {"m": block}})
    assert isinstance(good, Case)
    assert isinstance(other, Case)
    with pytest.raises(DataError, match=rf"selection\.jsonl:2:{field}: .*{told}"):
        raise wrong if isinstance(wrong, DataError) else AssertionError(wrong)
