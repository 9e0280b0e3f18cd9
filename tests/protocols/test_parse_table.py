"""The specification of the parsers: what a judge wrote, what it is read as, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from autoj.protocols import load_protocol, protocol_names
from autoj.records import Critique, Decision, Rating, Reading, Unreadable

TABLE: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("parse_table.yaml").read_text(encoding="utf-8")
)


def _name(row: dict[str, Any]) -> str:
    return f"{row['protocol']}: {row['why']}: {row['text'][-40:]}".encode(
        "ascii", "backslashreplace"
    ).decode()


def _stated(reading: Reading) -> str | float:
    match reading:
        case Decision(shown=shown):
            return shown
        case Rating(value=value):
            return value
        case Critique():
            return "critique"
        case Unreadable():
            return "unreadable"
        case _:
            raise AssertionError(f"a parser gave {reading!r}")


@pytest.mark.parametrize("row", TABLE, ids=_name)
def test_a_text_is_read_as_the_table_says(row: dict[str, Any]) -> None:
    reading = load_protocol(row["protocol"]).parse(row["text"])
    assert _stated(reading) == row["expected"], f"{row['why']}; read as {reading!r}"


def test_each_row_says_why_and_no_text_stands_twice() -> None:
    assert all(set(row) == {"protocol", "text", "expected", "why"} for row in TABLE)
    texts = [(row["protocol"], row["text"]) for row in TABLE]
    assert len(set(texts)) == len(texts)


# older_judges_table.yaml holds the rows of these.
OLDER = ("pandalm", "scalar", "selfee", "steamshp")


# What names a scenario has a table of its own (`test_scenario`), and ratings by criterion cannot be
# read without their case (`test_single_criteria_each`).
JUDGING = [
    name
    for name in protocol_names()
    if name not in (*OLDER, "single-criteria-each") and load_protocol(name).subject != "query"
]


@pytest.mark.parametrize("name", JUDGING)
def test_each_protocol_has_rows_that_are_read(name: str) -> None:
    outcomes = {row["expected"] for row in TABLE if row["protocol"] == name}
    assert outcomes - {"unreadable"}


def test_each_unreadable_row_gives_a_reason_of_its_own_kind() -> None:
    rows = [row for row in TABLE if row["expected"] == "unreadable"]
    readings = [load_protocol(row["protocol"]).parse(row["text"]) for row in rows]
    reasons = {reading.reason for reading in readings if isinstance(reading, Unreadable)}
    for part in (
        "repeats the options",
        "not one of the options",
        "ends before",
        "several options",
        "against it",
        "1 to 10",
    ):
        assert any(part in reason for reason in reasons), part
