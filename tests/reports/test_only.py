"""Cases of one kind, as a run's table lists them, with their number."""

from __future__ import annotations

from autoj.records import Case, Response, Verdict
from autoj.reports.only import only_view
from autoj.runs import RunFolder, make_spec
from autoj.tasks.run import Run
from autoj.verdicts.only import KINDS, Found

from ..scripted import CARD
from .pages import check_pages, page


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
