"""Runs as they are shown: one that was just made, and the same from its folder."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.jsonl import write_records
from autoj.records import Case, Response, Verdict
from autoj.reports.show import finished, only_view, shown
from autoj.runs import RunFolder, make_spec
from autoj.tasks.judge import judge
from autoj.tasks.run import Run
from autoj.verdicts.only import KINDS, Found

from ..scripted import CARD, Recorder, by_hash
from .pages import check_pages, page


def printed(view) -> str:
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


@pytest.fixture
def run(tmp_path):
    """A run of two labelled pairs."""
    rows = [
        {"id": name, "query": f"Why {name}?", "responses": ["So.", "No."], "label": "a"}
        for name in ("one", "two")
    ]
    write_records(tmp_path / "pairs.jsonl", rows)
    spec = make_spec("judge", CARD, protocol="pairwise-verdict")
    cases = open_cases(tmp_path / "pairs.jsonl")
    return judge(cases, spec, tmp_path / "run", backend=Recorder(by_hash, card=CARD))


def test_a_new_run_says_this_sessions_counts_and_a_stored_one_does_not(run):
    new, stored = finished(run), shown(run.path)
    assert "this session" in printed(new.view())
    assert "this session" not in printed(stored.view())
    assert new.record()["summary"] == stored.record()["summary"]
    assert new.hints == (f"autoj show {run.path} CASE shows a case with its judgments",)
    assert not new.failed
    assert finished(replace(run, stopped=True)).failed


def test_one_thing_is_shown_at_a_time(run):
    assert "Why two?" in printed(shown(run.path, "two").view())
    assert "case" in printed(shown(run.path, only="wrong").view())
    assert "alpaca-eval" in str(shown(run.path, convention="alpaca-eval").record())
    for asked in ({"only": "wrong"}, {"convention": "all"}):
        with pytest.raises(ConfigError, match="give one of a case, --only and --convention"):
            shown(run.path, "two", **asked)
    with pytest.raises(UnknownComponent, match="three"):
        shown(run.path, "three")
    with pytest.raises(DataError, match="not a run folder"):
        shown(run.path.parent)


def found(name: str, n: int) -> Found:
    responses = tuple(Response(text="r", model=name) for _ in range(2))
    case = Case(id=name, query=name, cluster=name, responses=responses, label="a")
    verdict = Verdict(case_id=name, judge="j", winner="b", probabilities=(0.125, 0.75, 0.125))
    return Found([(case, verdict)] if n else [], n, 1200)


def test_pages(tmp_path):
    run = Run(folder=RunFolder(tmp_path), spec=make_spec("judge", CARD))
    check_pages(
        lambda name: only_view(run, found(name, 17), "wrong"), "0.125", "0.750", "1,200", "✗"
    )
    text = page(only_view(run, found("x", 17), "wrong"), 120)
    assert "16 more; --first 17 lists all" in text
    assert f"17 of 1,200 cases: {KINDS['wrong'].says}" in text
    assert page(only_view(run, found("x", 0), "wrong"), 120).startswith("0 of 1,200 cases: ")
