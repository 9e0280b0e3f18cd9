"""A run that saves second orders, as it is shown: on the terminal, as JSON, as a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.backends.scripted import ScriptedBackend
from autoj.datasets import open_cases
from autoj.jsonl import write_records
from autoj.reports.case import case_view
from autoj.reports.html.report import write_report
from autoj.reports.judge import run_record, run_view, stored_view, summarise_stored
from autoj.reports.plan import plan_view
from autoj.reports.summary import summary_record
from autoj.runs import make_spec, read_case
from autoj.tasks.judge import judge
from autoj.tasks.plan import plan_run
from autoj.tasks.run import Run
from autoj.tasks.runs import list_runs

from ..scripted import CARD, by_hash
from .pages import page


@pytest.fixture
def run(tmp_path: Path) -> Run:
    rows = [
        {
            "id": f"case-{number}",
            "query": f"Question {number}?",
            "responses": [f"First answer {number}.", f"Second answer {number}."],
            "label": "ab"[number % 2],
        }
        for number in range(60)
    ]
    write_records(tmp_path / "many.jsonl", rows)
    spec = make_spec("judge", CARD, second_order="unsure:0.6", always_full=0.3)
    return judge(
        open_cases(tmp_path / "many.jsonl"), spec, tmp_path / "run",
        backend=ScriptedBackend(CARD, by_hash),
    )  # fmt: skip


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_figures_say_what_they_are_of(run: Run) -> None:
    summary, listed = summarise_stored(run, None, 60)
    counts = summary.second_orders
    assert counts is not None
    assert counts.n_unsure + counts.n_drawn + counts.n_saved == 60
    assert min(counts.n_unsure, counts.n_drawn, counts.n_saved) > 0
    found = {each.name: each for each in summary.estimates}
    both = found["consistency, both asked"]
    assert both.n == counts.n_unsure + counts.n_drawn < 60
    assert both.bounds is None
    for name in ("consistency", "agreement", "verdict accuracy", "win rate"):
        each = found[f"{name}, all in full"]
        assert each.n == 60
        assert each.low is not None
    assert "consistency" not in found
    assert "agreement" not in found
    text = flat(page(stored_view(run, summary, listed)))
    assert f"{counts.n_unsure} asked where the first is below 0.6" in text
    assert f"{counts.n_saved} saved" in text
    assert "first sure" in text
    assert text == flat(page(stored_view(run, summary, listed)))
    assert page(run_view(run, summary, 5))


def test_a_run_in_both_orders_does_not_speak_of_it(tmp_path: Path, run: Run) -> None:
    spec = make_spec("judge", CARD)
    whole = judge(
        open_cases(tmp_path / "many.jsonl"), spec, run.path, backend=ScriptedBackend(CARD, by_hash)
    )
    summary, _ = summarise_stored(whole, None, 0)
    names = [each.name for each in summary.estimates]
    assert names == ["win rate", "consistency", "accuracy", "agreement"]
    assert "second_orders" not in summary_record(summary)


def test_a_case_says_how_many_orders_were_asked_and_why(run: Run) -> None:
    said = set()
    for case, _ in run:
        record = read_case(run.folder, run.spec, case.id)
        assert record is not None
        text = flat(page(case_view(record)))
        said.add(("1 of 2" in text, "first is sure" in text, "of the random share" in text))
        assert text.count("then") == (1 if "1 of 2" in text else 2)
    assert said == {
        (True, True, False), (False, True, True), (False, False, False), (False, False, True),
    }  # fmt: skip


def test_json_the_list_and_the_page_show_it(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("vl_convert", reason="the extra `report` is not installed")
    summary, _ = summarise_stored(run, None, 0)
    record = run_record(run, summary)
    assert {verdict.n_orders for verdict in record["verdicts"]} == {1, 2}
    assert set(record["summary"]["second_orders"]) == {"n_unsure", "n_drawn", "n_saved"}
    (entry,) = list_runs(run.path)
    assert entry.figure is not None
    assert "agreement" not in entry.figure.name
    write_report([run.path], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "--second-order unsure:0.6 --always-full 0.3" in text


def test_the_plan_says_that_it_counts_the_most(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autoj.tasks.plan.load_engine", lambda *_: ScriptedBackend(CARD, by_hash))
    found = plan_run(open_cases(tmp_path / "many.jsonl"), run.spec, tmp_path / "other")
    assert "at most" in flat(page(plan_view([found])))
