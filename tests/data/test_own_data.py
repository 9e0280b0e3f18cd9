"""The project's own data is what its datasheet says: readable, consistent, apart from its tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from autoj import critiques, inputs, jsonl
from autoj.datasets import open_cases, open_queries
from autoj.protocols import load_protocol
from autoj.records import Case, Decision, Rating, normalise_query
from autoj.scenarios.seeds import query_digest

OWN = Path(__file__).resolve().parents[2] / "data" / "own"
CASES = ["pairs.jsonl", "singles.jsonl", "plain_facts.jsonl"]
HELD_OUT = ["plain_facts.jsonl", "planted_errors.jsonl"]
FILES = sorted([*CASES, "planted_errors.jsonl", "arena55k_judgments.jsonl"])
SHOWN = {"a": "1", "b": "2", "tie": "tie"}
SUFFIX = {"en": "", "zh": "-zh"}
# Shorter ones are inch marks, initials and empty strings of code.
QUOTATION = re.compile(r'"([^"]{3,})"')


def rows_of(name: str) -> list[dict[str, Any]]:
    return [jsonl.decode(line) for _, line in inputs.read_lines(OWN / name)]


@cache
def cases_of(name: str) -> tuple[Case, ...]:
    read = [row.case for row in open_cases(OWN / name).read()]
    cases = tuple(case for case in read if isinstance(case, Case))
    assert len(cases) == len(read)
    return cases


def judgment_of(case: Case) -> str:
    judgment = case.meta["judgment"]
    assert isinstance(judgment, str)
    return judgment


def better_and_worse(cases: Iterable[Case]) -> Iterator[tuple[str, str]]:
    """The texts of decided pairs, the better one first."""
    for case in cases:
        if case.label in ("a", "b"):
            first, second = (response.text for response in case.responses)
            yield (first, second) if case.label == "a" else (second, first)


def share_of_shorter(cases: Iterable[Case]) -> float:
    shorter = [len(better) < len(worse) for better, worse in better_and_worse(cases)]
    return sum(shorter) / len(shorter)


def quotations_in(judgment: str, texts: Sequence[str]) -> list[bool]:
    """One value for each quotation of a judgment's factors: True where one of the texts has it."""
    parsed = critiques.parse(judgment)
    assert parsed is not None
    # A sentence's own mark may stand inside its quotation marks.
    quoted = [
        quotation.rstrip(".,")
        for factor in parsed.factors
        for quotation in QUOTATION.findall(factor.explanation)
    ]
    return [any(quotation in text for text in texts) for quotation in quoted]


def check_decision(judgment: str, label: object, language: str) -> None:
    reading = load_protocol("pairwise" + SUFFIX[language]).parse(judgment)
    assert isinstance(reading, Decision)
    assert reading.shown == SHOWN[str(label)]


def check_rating(judgment: str, label: object, language: str) -> None:
    reading = load_protocol("single" + SUFFIX[language]).parse(judgment)
    assert isinstance(reading, Rating)
    assert reading.value == label
    assert reading.value in range(1, 11)


@pytest.mark.parametrize("name", CASES)
def test_every_row_is_read_as_a_native_case(name: str) -> None:
    assert open_cases(OWN / name).format == "native"
    n_responses = 1 if name == "singles.jsonl" else 2
    assert {len(case.responses) for case in cases_of(name)} == {n_responses}
    assert {case.source for case in cases_of(name)} == {"autoj-own"}


def test_every_planted_error_is_read_as_a_query() -> None:
    read = [row.case for row in open_queries(OWN / "planted_errors.jsonl").read()]
    assert all(isinstance(case, Case) for case in read)


@pytest.mark.parametrize("name", FILES)
def test_ids_are_distinct_and_rows_are_as_many_as_the_datasheet_says(name: str) -> None:
    rows = rows_of(name)
    assert len({row["id"] for row in rows}) == len(rows)
    assert f"| `{name}` | {len(rows):,} |" in (OWN / "README.md").read_text(encoding="utf-8")


def test_the_folder_holds_the_files_of_the_datasheet_alone() -> None:
    assert sorted(path.name for path in OWN.iterdir()) == sorted(["README.md", *FILES])


def test_a_pairs_judgment_decides_as_its_label() -> None:
    for case in cases_of("pairs.jsonl"):
        check_decision(judgment_of(case), case.label, case.language)


def test_a_pairs_judgment_has_the_layout_of_table_18() -> None:
    for case in cases_of("pairs.jsonl"):
        parsed = critiques.parse(judgment_of(case))
        assert parsed is not None
        assert parsed.factors
        assert parsed.language == case.language
        assert critiques.render(parsed) == judgment_of(case)


def test_a_single_judgment_rates_as_its_label() -> None:
    for case in cases_of("singles.jsonl"):
        check_rating(judgment_of(case), case.label, case.language)


def test_ratings_of_a_pair_are_in_the_order_of_its_label() -> None:
    ratings = {case.id: case for case in cases_of("singles.jsonl")}
    for pair in cases_of("pairs.jsonl"):
        a, b = (ratings[f"{pair.id}-{number}"] for number in (1, 2))
        assert (a.responses[0], b.responses[0]) == pair.responses
        assert isinstance(a.label, float)
        assert isinstance(b.label, float)
        assert pair.label == ("tie" if a.label == b.label else "a" if a.label > b.label else "b")


def test_english_factors_quote_the_texts() -> None:
    found = [
        is_there
        for case in cases_of("pairs.jsonl")
        if case.language == "en"
        for is_there in quotations_in(
            judgment_of(case), [case.query, *(response.text for response in case.responses)]
        )
    ]
    assert len(found) > 1000
    assert found.count(False) <= 0.01 * len(found)


def test_no_query_of_the_training_rows_is_held_out() -> None:
    trained = {
        normalise_query(case.query)
        for name in ("pairs.jsonl", "singles.jsonl")
        for case in cases_of(name)
    }
    digests = {row["query_sha256"] for row in rows_of("arena55k_judgments.jsonl")}
    for name in HELD_OUT:
        queries = [row["query"] for row in rows_of(name)]
        assert len({normalise_query(query) for query in queries}) == len(queries)
        assert trained.isdisjoint(map(normalise_query, queries))
        assert digests.isdisjoint(map(query_digest, queries))


def test_neither_length_nor_place_predicts_the_better_response() -> None:
    pairs = cases_of("pairs.jsonl")
    assert 0.4 <= share_of_shorter(pairs) <= 0.6
    labels = [pair.label for pair in pairs]
    assert 0.48 <= labels.count("a") / (labels.count("a") + labels.count("b")) <= 0.52


def test_plain_facts_are_balanced_in_each_half() -> None:
    for part in ("validation", "second half"):
        cases = [case for case in cases_of("plain_facts.jsonl") if case.meta["part"] == part]
        assert [case.label for case in cases] == ["b", "a"] * 75
        assert share_of_shorter(cases) == 0.5


def test_planted_errors_stand_in_the_planted_texts_alone() -> None:
    for row in rows_of("planted_errors.jsonl"):
        assert row["span"] in row["planted"]
        assert row["correct"] in row["clean"]
        assert row["planted"] != row["clean"]
        assert row["names"]
        assert all(name and name == name.lower() for name in row["names"])


def test_judgments_of_arena55k_agree_with_their_labels_and_hold_no_texts() -> None:
    for row in rows_of("arena55k_judgments.jsonl"):
        assert "query" not in row
        assert "responses" not in row
        check_decision(row["meta"]["judgment"], row["label"], row["language"])
        for judgment, rating in zip(row["meta"]["single_judgments"], row["ratings"], strict=True):
            check_rating(judgment, rating, row["language"])


def test_judgments_of_arena55k_quote_the_texts_of_their_ids(data_folder: Path) -> None:
    path = data_folder / "train" / "arena55k.train.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not in the data folder")
    judged = {row["id"]: row for row in rows_of("arena55k_judgments.jsonl")}
    found: list[bool] = []
    for read in open_cases(path).read():
        case = read.case
        if isinstance(case, Case) and (row := judged.pop(case.id, None)) is not None:
            assert query_digest(case.query) == row["query_sha256"]
            texts = [case.query, *(response.text for response in case.responses)]
            # The public file writes a slash as JSON may, with a backslash before it.
            plain = [text.replace("\\/", "/") for text in texts]
            found += quotations_in(row["meta"]["judgment"], plain)
    assert not judged
    assert found.count(False) <= 0.01 * len(found)
