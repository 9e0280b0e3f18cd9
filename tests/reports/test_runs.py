"""The list of runs: nothing is cut, whatever a run or a judge is called."""

from __future__ import annotations

from autoj.reports.runs import age, runs_view
from autoj.runs.authors import Authors
from autoj.tasks.runs import RunEntry

from .pages import check_pages, estimate, page


def entry(name: str, **its) -> RunEntry:
    given = {"state": "run", "changed": 100.0, "kind": "judge", "judge": name, "protocol": name}
    return RunEntry(path=f"runs/{name}", **given | {"n_cases": 1200, "n_judged": 1200} | its)


def test_pages():
    def view(name: str):
        figure = estimate("win rate", 0.625, 0.5, 0.75)
        runs = [
            entry(name, figure=figure, authors=Authors(a=name, b="y", n_a=1, n_b=1)),
            entry("half", n_judged=30, n_failed=4),
            entry("audit", state="several runs", kind=None, reason="3 runs in it"),
            entry(name, state="damaged", reason=name),
        ]
        return runs_view(runs, now=7300.0)

    check_pages(view, "1,200", "30 of 1,200", "62.5 %", "2 h")


def test_a_run_that_has_answers_and_no_verdicts_yet_says_so():
    text = page(runs_view([entry("x", n_judged=0, n_answers=17)], now=100.0))
    assert "17 answers" in text
    assert "now" in text
    assert page(runs_view([])) == "There are no runs here.\n"


def test_an_age_has_its_largest_unit():
    ages = [age(seconds) for seconds in (0, 60, 86_399, 864_000, None)]
    assert ages == ["now", "1 min", "23 h", "10 d", "-"]
