"""Runs of a judge whose card marks verdicts as unsure: the mark is derived, and asks nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from autoj.datasets.base import Cases
from autoj.errors import DataError
from autoj.judges import load_card
from autoj.records import JudgeCard, MarkedVerdict, SureThreshold, Verdict
from autoj.reports.html.report import write_report
from autoj.reports.judge import run_record, run_view, stored_view, summarise_stored
from autoj.runs import RunFolder, RunSpec, judge_run, make_spec, open_run, resolve_run
from autoj.runs.table import columns_of, flat_rows
from autoj.tasks.check import are_whole, check_folders
from autoj.tasks.run import Run

from ..reports.pages import page
from ..scripted import CARD, Recorder

AT = SureThreshold(below=0.45, right=0.85, n=1200, fitted_on="val.jsonl")


def marked(threshold: SureThreshold) -> JudgeCard:
    return replace(CARD, unsure={"pairwise-verdict": threshold})


def finish(path: Path, spec: RunSpec, cases: Cases, backend: Recorder) -> list[Verdict]:
    with open_run(path, spec, cases) as folder:
        judge_run(folder, spec, backend)
    return list(RunFolder.existing(path).verdicts())


def test_a_threshold_marks_a_stored_run_and_asks_nothing(
    tmp_path: Path, cases: Cases, pair_spec: Callable[..., RunSpec]
) -> None:
    path = tmp_path / "run"
    plain = finish(path, pair_spec(), cases, Recorder())
    stored, plan = (path / "run.json").read_bytes(), (path / "plan.jsonl").read_bytes()
    assert b"unsure" not in stored
    again = Recorder()
    spec = make_spec("judge", marked(AT))
    found = finish(path, spec, cases, again)
    assert again.asked == []
    assert (path / "plan.jsonl").read_bytes() == plan
    assert [(its.winner, its.probabilities) for its in found] == [
        (its.winner, its.probabilities) for its in plain
    ]
    confident = [max(its.probabilities or ()) for its in found]
    assert [(its.confidence, its.unsure) for its in found if isinstance(its, MarkedVerdict)] == [
        (value, value < 0.45) for value in confident
    ]
    assert 0 < sum(value < 0.45 for value in confident) < len(confident)
    # From the folder alone it is the same, and every file agrees with the ledger.
    folder = RunFolder.existing(path)
    assert [verdict for _, verdict in resolve_run(folder, folder.spec())] == found
    assert are_whole(check_folders(path))
    # Without the threshold, the run is as it was.
    assert finish(path, pair_spec(), cases, Recorder()) == plain
    assert are_whole(check_folders(path))


def test_the_mark_is_shown_and_explained(tmp_path: Path, cases: Cases) -> None:
    spec = make_spec("judge", marked(AT))
    found = finish(tmp_path / "run", spec, cases, Recorder())
    run = Run.open(tmp_path / "run")
    summary, listed = summarise_stored(run, None, 20)
    for view in (run_view(run, summary, 20), stored_view(run, summary, listed)):
        text = page(view, 120)
        assert "?: unsure, with a confidence below 0.45; fitted for 85.0 % right of the" in text
        assert "1,200 pairs of val.jsonl" in text
    unsure = [its.case_id for its in found if isinstance(its, MarkedVerdict) and its.unsure]
    lines = [line.split() for line in text.splitlines()]
    assert [line[0] for line in lines if len(line) > 2 and line[1] in ("a?", "b?", "tie?")] == (
        unsure
    )
    rows = orjson.loads(orjson.dumps(run_record(run, summary)))["verdicts"]
    assert [row["case_id"] for row in rows if row["unsure"]] == unsure
    flat = [row for case, verdict in run for row in flat_rows(case, verdict, spec)]
    assert all(set(row) == set(columns_of(spec)) for row in flat)
    assert [row["id"] for row in flat if row["unsure"]] == unsure


def test_one_order_alone_is_not_marked(tmp_path: Path, cases: Cases) -> None:
    spec = make_spec("judge", marked(AT), orders="one")
    found = finish(tmp_path / "run", spec, cases, Recorder())
    assert {its.unsure for its in found if isinstance(its, MarkedVerdict)} == {None}
    run = Run.open(tmp_path / "run")
    text = page(run_view(run, summarise_stored(run, None, 20)[0], 20))
    assert "?:" not in text


def test_a_card_states_a_threshold_and_one_that_is_no_share_is_refused(tmp_path: Path) -> None:
    text = (
        "title: Mine\nbackend: scripted\nmodel: mine\nwrapper: none\nprotocols: [pairwise-verdict]"
        "\ncontext_tokens: 4096\nunsure:\n  pairwise-verdict: {below: %s, right: 0.85, n: 1200, "
        "fitted_on: val.jsonl}\n"
    )
    path = tmp_path / "mine.yaml"
    path.write_text(text % "0.45", "utf-8")
    assert load_card(str(path)).unsure == {"pairwise-verdict": AT}
    path.write_text(text % "1.2", "utf-8")
    with pytest.raises(DataError, match=r"unsure\.pairwise-verdict\.below"):
        load_card(str(path))


def test_a_report_says_what_is_unsure(tmp_path: Path, cases: Cases) -> None:
    pytest.importorskip("jinja2")
    found = finish(tmp_path / "run", make_spec("judge", marked(AT)), cases, Recorder())
    write_report([tmp_path / "run"], tmp_path / "report.html", figures=None)
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "with a confidence below 0.45; fitted for 85.0 % right of the rest" in text
    n_unsure = sum(isinstance(its, MarkedVerdict) and its.unsure is True for its in found)
    block = text.split('class="cases">')[1].split("</script>")[0]
    pages = [orjson.loads(line) for line in block.splitlines()]
    assert sum("unsure" in page["verdicts"][0]["flags"] for page in pages) == n_unsure
