"""What judges really wrote, as far as it was published, is read as it was meant."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from autoj.protocols import load_protocol
from autoj.records import Decision, Rating, Unreadable


def rows_of(path: Path) -> list[dict[str, Any]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.splitlines()]


@pytest.fixture(scope="module")
def autoj_folder(data_folder: Path) -> Path:
    return data_folder / "autoj"


def test_every_target_of_the_training_data_is_read_to_its_rating(autoj_folder: Path) -> None:
    rows = rows_of(autoj_folder / "single_traindata.jsonl")
    parse = load_protocol("single").parse
    readings = [parse(row["target_output"]) for row in rows]
    assert len(rows) == 960
    assert [getattr(reading, "value", reading) for reading in readings] == [
        row["pred_score"] for row in rows
    ]


def test_of_the_chinese_targets_those_without_a_rating_are_unreadable(autoj_folder: Path) -> None:
    rows = rows_of(autoj_folder / "zh_single_traindata.jsonl")
    parse = load_protocol("single-zh").parse
    readings = [parse(row["target_output"]) for row in rows]
    assert sum(isinstance(reading, Unreadable) for reading in readings) == 16
    for row, reading in zip(rows, readings, strict=True):
        if isinstance(reading, Rating):
            assert reading.value == row["pred_score"]


@pytest.mark.parametrize(
    ("file", "protocol", "n_read"),
    [
        ("outputs/critique_example_output.jsonl", "single", 231),
        ("reference_chatgpt_critique.jsonl", "single", 219),
        ("zh_reference_chatgpt_critique.jsonl", "single-zh", 232),
    ],
)
def test_published_critiques_carry_as_many_ratings_as_is_known(
    autoj_folder: Path, file: str, protocol: str, n_read: int
) -> None:
    parse = load_protocol(protocol).parse
    kinds = Counter(type(parse(row["output"])) for row in rows_of(autoj_folder / file))
    assert kinds == Counter({Rating: n_read, Unreadable: 232 - n_read})


def test_a_critique_is_what_was_written_without_its_rating(autoj_folder: Path) -> None:
    for row in rows_of(autoj_folder / "outputs" / "critique_example_output.jsonl"):
        reading = load_protocol("single").parse(row["output"])
        if isinstance(reading, Rating):
            assert reading.critique
            assert "Rating: [[" not in reading.critique
            assert row["output"].strip().startswith(reading.critique)


@pytest.mark.parametrize("file", ["noscenario.jsonl", "usescenario.jsonl"])
def test_independent_critiques_state_no_rating_in_brackets(autoj_folder: Path, file: str) -> None:
    parse = load_protocol("single").parse
    rows = rows_of(autoj_folder / "single_independent" / file)
    assert all(isinstance(parse(row["output"]), Unreadable) for row in rows)


def test_the_votes_on_critiques_are_all_read(autoj_folder: Path) -> None:
    rows = rows_of(autoj_folder / "outputs" / "gpt-4-Eval_auto-j_vs_chatgpt.jsonl")
    parse = load_protocol("critique-comparison").parse
    readings = [parse(row["output"]) for row in rows]
    votes = Counter(reading.shown for reading in readings if isinstance(reading, Decision))
    assert votes == {"1": 93, "2": 134, "tie": 5}


@pytest.mark.parametrize(
    ("file", "protocol"),
    [("single_traindata.jsonl", "single"), ("zh_single_traindata.jsonl", "single-zh")],
)
def test_no_target_is_read_otherwise_by_a_reader_that_knows_what_was_judged(
    autoj_folder: Path, file: str, protocol: str
) -> None:
    parse = load_protocol(protocol).parse
    for row in rows_of(autoj_folder / file):
        # The whole request: it holds the query, the response and an example of a rating.
        assert parse(row["target_output"], [row["usrmsg"]]) == parse(row["target_output"])


@pytest.mark.parametrize(
    ("file", "language"),
    [
        ("outputs/critique_example_output.jsonl", ""),
        ("reference_chatgpt_critique.jsonl", ""),
        ("zh_reference_chatgpt_critique.jsonl", "zh_"),
    ],
)
def test_no_critique_is_read_otherwise_by_a_reader_that_knows_what_was_judged(
    autoj_folder: Path, file: str, language: str
) -> None:
    parse = load_protocol("single-zh" if language else "single").parse
    asked = rows_of(autoj_folder / f"{language}testdata_critique.jsonl")
    for row, case in zip(rows_of(autoj_folder / file), asked, strict=True):
        judged = [case["prompt"], case["response"]]
        assert parse(row["output"], judged) == parse(row["output"])


def test_no_vote_is_read_otherwise_by_a_reader_that_knows_the_critiques(
    autoj_folder: Path,
) -> None:
    parse = load_protocol("critique-comparison").parse
    votes = rows_of(autoj_folder / "outputs" / "gpt-4-Eval_auto-j_vs_chatgpt.jsonl")
    first = rows_of(autoj_folder / "outputs" / "critique_example_output.jsonl")
    second = rows_of(autoj_folder / "reference_chatgpt_critique.jsonl")
    cases = rows_of(autoj_folder / "testdata_critique.jsonl")
    for vote, one, other, case in zip(votes, first, second, cases, strict=True):
        judged = [case["prompt"], case["response"], one["output"], other["output"]]
        assert parse(vote["output"], judged) == parse(vote["output"])


def test_ratings_of_another_judge_are_read_to_their_label_or_not_at_all(data_folder: Path) -> None:
    path = data_folder / "train" / "arena_bench_v1.single.jsonl.gz"
    if not path.exists():
        pytest.skip("arena_bench_v1.single.jsonl.gz is not in the data folder")
    parse = load_protocol("baseline-single").parse
    outcomes: Counter[str] = Counter()
    for row in rows_of(path):
        reading = parse(row["meta"]["judgment"])
        assert parse(row["meta"]["judgment"], _judged(row)) == reading
        value = reading.value if isinstance(reading, Rating) else None
        outcomes["right" if value == row["label"] else "unread" if value is None else "wrong"] += 1
    assert outcomes == {"right": 5191, "unread": 9}


def _judged(row: dict[str, Any]) -> list[str]:
    return [str(row["query"]), *map(str, row["responses"])]
