"""A small Eval-P, saved results and rows of boards, for the tests of leaderboards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autoj.bench.base import set_digest
from autoj.bench.leaderboard.board import Board, BoardRow
from autoj.datasets import open_cases
from autoj.jsonl import write_records
from autoj.metrics.result import Result
from autoj.records import Case, Estimate, Verdict
from autoj.verdicts.resolve import settle


def nowhere(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """No data but what a test puts there."""
    monkeypatch.delenv("AUTOJ_DATA", raising=False)
    monkeypatch.setenv("AUTOJ_CACHE", str(folder / "cache"))


def place_eval_p(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """An Eval-P of 60 pairs in which people prefer the longer response of two in three."""
    rows = [
        {
            "prompt": f"Question {number}?",
            "response 1": "Short.",
            "response 2": "This one is longer.",
            "label": 0 if number % 3 == 0 else 1,
            "scenario": ("planning", "ranking", "code_generation")[number % 3],
        }
        for number in range(60)
    ]
    path = folder / "data" / "autoj" / "testdata_pairwise.jsonl"
    path.parent.mkdir(parents=True)
    write_records(path, rows)
    monkeypatch.setenv("AUTOJ_DATA", str(folder / "data"))
    return path


def cases_of(path: Path) -> list[Case]:
    cases = [row.case for row in open_cases(path).read()]
    assert all(isinstance(case, Case) for case in cases)
    return cases  # type: ignore[return-value]


def set_of(path: Path) -> dict[str, str]:
    """The details of a result on all cases of a file."""
    return {"set": set_digest(cases_of(path))}


def said(case: Case, *winners) -> Verdict:
    return settle(Verdict(case_id=case.id, judge="x", winners=winners))


def by_judge(found: Board, status: str | None = None) -> dict[str, BoardRow]:
    return {
        row.judge: row
        for section in found.sections
        for row in section.rows
        if status in (None, row.status)
    }


def values(row: BoardRow, *names: str) -> tuple[float | None, ...]:
    return tuple(row.figures[name].value for name in names)


def a_result(bench: str = "eval-p", **changes) -> Result:
    return replace(
        Result(bench=bench, judge="x", source="files", n_cases=60, estimates=()), **changes
    )


def agreement(value: float, low: float, high: float, n: int = 60) -> Estimate:
    return Estimate(name="agreement", value=value, low=low, high=high, n=n, n_clusters=n)
