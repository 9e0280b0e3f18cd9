"""Each thing that can be wrong with a row is told with the file, the line and the field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj import jsonl
from autoj.datasets import format_names, open_cases
from autoj.errors import DataError
from autoj.records import Case

FILES = Path(__file__).parent / "files"
PROMPT = "[BEGIN DATA]\n***\n[Query]: q\n***\n[Response]: r\n***\n[END DATA]"
GOOD: dict[str, dict[str, Any]] = {
    "native": {"query": "q", "responses": ["x", "y"], "label": "a"},
    "autoj-pairwise": {"prompt": "q", "response 1": "x", "response 2": "y", "label": 0},
    "autoj-critique": {"prompt": "q", "response": "x", "critiques": {"me": "c"}},
    "autoj-independent": {"output": "c", "meta": {"prompt": "q", "response": "x"}},
    "autoj-training": {"usrmsg": PROMPT, "target_output": "c"},
}
MISSING = object()

# format, what is changed in a good row, the field that is to blame, what is said about it
BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("native", {"query": MISSING}, "query", "is missing; expected a string"),
    ("native", {"query": None}, "query", "expected a string, found NoneType"),
    ("native", {"query": 5}, "query", "expected a string, found int 5"),
    ("native", {"query": ""}, "query", "the query is empty"),
    ("native", {"query": " \n\t"}, "query", "the query is empty"),
    ("native", {"responses": MISSING}, "response", "is missing; expected a string"),
    ("native", {"responses": MISSING, "response": 1}, "response", "expected a string"),
    ("native", {"responses": "x"}, "responses", "expected a list of responses, found str"),
    ("native", {"responses": {"text": "x"}}, "responses", "expected a list of responses"),
    ("native", {"responses": []}, "responses", "expected at least one response"),
    ("native", {"responses": ["x", None]}, "responses[1]", "expected a string"),
    ("native", {"responses": [5]}, "responses[0]", "expected a string, found int"),
    ("native", {"responses": [{"txt": "x"}]}, "responses[0]", "expected a string"),
    ("native", {"responses": [{"text": "x", "logprob": "-1"}]}, "responses[0].logprob", "a number"),
    ("native", {"responses": [{"text": "x", "logprob": True}]}, "responses[0].logprob", "a number"),
    (
        "native",
        {"responses": ["x", {"text": "y", "reference_score": []}]},
        "responses[1].reference_score",
        "expected a number",
    ),
    ("native", {"responses": [{"text": "x", "model": 5}]}, "responses[0].model", "a string"),
    ("native", {"responses": MISSING, "response": "x", "model": []}, "model", "a string"),
    ("native", {"label": "A"}, "label", 'expected "a", "b", "tie" or a number'),
    ("native", {"label": True}, "label", 'expected "a", "b", "tie" or a number'),
    ("native", {"label": ["a"]}, "label", 'expected "a", "b", "tie" or a number'),
    ("native", {"label": 0}, "label", 'expected "a", "b" or "tie" for a pair, found 0'),
    ("native", {"id": []}, "id", "expected a string, found list"),
    ("native", {"id": True}, "id", "expected a string, found bool"),
    ("native", {"scenario": 5}, "scenario", "expected a string"),
    ("native", {"source": 5}, "source", "expected a string"),
    ("native", {"meta": "x"}, "meta", "expected an object"),
    ("native", {"history": [{"role": "user"}]}, "history", "cannot be judged yet"),
    ("autoj-pairwise", {"prompt": MISSING}, "prompt", "is missing"),
    ("autoj-pairwise", {"prompt": " "}, "query", "the query is empty"),
    ("autoj-pairwise", {"response 1": MISSING}, "response 1", "is missing"),
    ("autoj-pairwise", {"response 2": None}, "response 2", "expected a string"),
    ("autoj-pairwise", {"label": 3}, "label", "expected 0 (first), 1 (second) or 2 (tie), found 3"),
    ("autoj-pairwise", {"label": -1}, "label", "found -1"),
    ("autoj-pairwise", {"label": "1"}, "label", "found '1'"),
    ("autoj-pairwise", {"label": 1.0}, "label", "found 1.0"),
    ("autoj-pairwise", {"label": True}, "label", "found True"),
    ("autoj-pairwise", {"scenario": []}, "scenario", "expected a string"),
    ("autoj-critique", {"prompt": 5}, "prompt", "expected a string"),
    ("autoj-critique", {"response": None}, "response", "expected a string"),
    ("autoj-critique", {"critiques": ["c"]}, "critiques", "expected an object, found list"),
    ("autoj-critique", {"critiques": {"me": 5}}, "critiques.me", "expected a string"),
    ("autoj-independent", {"output": 5}, "output", "expected a string"),
    ("autoj-independent", {"meta": []}, "meta", "expected an object, found list"),
    ("autoj-independent", {"meta": {"response": "x"}}, "prompt", "is missing"),
    ("autoj-independent", {"meta": {"prompt": "q"}}, "response", "is missing"),
    ("autoj-training", {"usrmsg": MISSING}, "usermsg", "is missing"),
    ("autoj-training", {"usrmsg": 5}, "usrmsg", "expected a string"),
    ("autoj-training", {"usrmsg": "Hello"}, "usrmsg", "holds no [Query]"),
    ("autoj-training", {"usrmsg": PROMPT.replace("Query", "Q")}, "usrmsg", "holds no [Query]"),
    ("autoj-training", {"gt_label": 3}, "gt_label", "expected 0, 1 or 2, found 3"),
    ("autoj-training", {"gt_label": 1.0}, "gt_label", "expected 0, 1 or 2, found 1.0"),
    ("autoj-training", {"gt_label": True}, "gt_label", "expected 0, 1 or 2, found True"),
    ("autoj-training", {"gt_label": None}, "gt_label", "expected 0, 1 or 2, found None"),
    ("autoj-training", {"pred_score": "nan"}, "pred_score", "expected a rating, found 'nan'"),
    ("autoj-training", {"pred_score": [5]}, "pred_score", "expected a rating"),
    ("autoj-training", {"source_dataset": 5}, "source_dataset", "expected a string"),
]


def changed(name: str, change: dict[str, Any]) -> dict[str, Any]:
    row = {**GOOD[name], **change}
    return {field: value for field, value in row.items() if value is not MISSING}


@pytest.mark.parametrize(("name", "change", "field", "said"), BAD)
def test_a_bad_row_is_told_with_its_place_and_the_others_are_read(
    tmp_path: Path, name: str, change: dict[str, Any], field: str, said: str
) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [GOOD[name], changed(name, change), GOOD[name]]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    first, wrong, last = open_cases(path, name).read()
    assert isinstance(first.case, Case)
    assert isinstance(last.case, Case)
    error = wrong.case
    assert isinstance(error, DataError)
    assert (error.path, error.line, error.field) == (path, 2, field)
    assert str(error).startswith(f"{path}:2:{field}: ")
    assert said in error.reason


def test_bad_rows_of_each_format_are_tested() -> None:
    assert {name for name, *_ in BAD} == set(GOOD) == set(format_names())


@pytest.mark.parametrize("kind", [str, int, list, dict, bool, float])
@pytest.mark.parametrize("name", format_names())
def test_a_field_of_whatever_type_is_told_or_kept(tmp_path: Path, name: str, kind: type) -> None:
    path = tmp_path / "rows.jsonl"
    known = {
        field
        for line in (FILES / f"{name}.jsonl").read_bytes().splitlines()
        for field in json.loads(line)
    }
    rows = [{**GOOD[name], field: kind()} for field in sorted(known)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    read = list(open_cases(path, name).read())
    assert len(read) == len(rows)
    for row in read:
        # What is read as a case can be kept in a run, so nothing of a wrong type went through.
        if isinstance(row.case, Case):
            assert jsonl.decode_as(Case, jsonl.encode(row.case)) == row.case


def test_a_long_value_is_shown_in_part(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"query": ["x" * 10_000], "response": "r"}), encoding="utf-8")
    (row,) = open_cases(path).read()
    assert len(str(row.case)) < len(str(path)) + 200
