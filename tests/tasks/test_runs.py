"""The list of runs: figures as in each run's summary, and no exception whatever a folder holds."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from autoj.errors import DataError
from autoj.reports.summary import summarise
from autoj.runs import judge_run, open_run
from autoj.tasks.jury import JuryRun
from autoj.tasks.run import Run
from autoj.tasks.runs import list_runs

from ..scripted import CARD, Recorder

FROZEN = Path(__file__).parents[1] / "frozen" / "v0_1"
RUN = ("run.json", "cases.jsonl", "verdicts.jsonl", "plan.jsonl", "ledger.jsonl")


@pytest.fixture
def runs(tmp_path) -> Path:
    """Copies of runs of every kind that version 0.1 wrote."""
    shutil.copytree(FROZEN, tmp_path / "runs")
    return tmp_path / "runs"


def by_name(folder: Path):
    return {Path(entry.path).name: entry for entry in list_runs(folder)}


def test_every_kind_of_run_is_listed_with_its_counts_and_figure(runs):
    found = by_name(runs)
    kinds = {name: entry.kind for name, entry in found.items()}
    assert kinds == {
        "judged": "judge", "critiqued": "judge", "followed": "judge", "named": "judge",
        "calibrated": "judge", "sampled": "judge", "shard-1": "judge", "shard-2": "judge",
        "stopped": "judge", "failed": "judge", "rated": "rate", "selected": "select",
        "met": "select", "classified": "classify", "jury": "jury", "exports": None,
    }  # fmt: skip
    assert found["exports"].state == "no run"
    stopped = found["stopped"]
    assert (stopped.n_judged, stopped.n_answers, stopped.n_cases) == (0, 5, 7)
    assert found["failed"].n_failed > 0
    assert found["jury"].judge == "verdict, two, three"
    assert found["judged"].protocol == "pairwise-verdict"


@pytest.mark.parametrize(
    "name", ["judged", "critiqued", "calibrated", "sampled", "rated", "failed"]
)
def test_a_figure_is_that_of_the_runs_own_summary(runs, name):
    entry, run = by_name(runs)[name], Run.open(runs / name)
    summary = summarise(run, run.spec, run.n_cases)
    figures = {estimate.name: estimate for estimate in summary.estimates}
    assert entry.figure is not None
    named = "averaged accuracy" if entry.figure.name == "verdict accuracy" else entry.figure.name
    assert (entry.figure.value, entry.figure.n) == (figures[named].value, figures[named].n)
    assert (entry.n_failed, entry.n_unreadable) == (summary.n_failed, summary.n_unreadable)
    assert entry.n_judged == summary.n_judged


def test_without_labels_the_figure_is_the_win_rate_and_names_the_model(tmp_path, cases, pair_spec):
    lines = (tmp_path / "pairs.jsonl").read_text().replace(', "label"', ', "was"')
    lines = lines.replace(',"label"', ',"was"')
    (tmp_path / "pairs.jsonl").write_text(lines)
    spec = pair_spec(protocol="pairwise-verdict")
    with open_run(tmp_path / "runs" / "x", spec, cases) as folder:
        judge_run(folder, spec, Recorder())
    (entry,) = list_runs(tmp_path / "runs")
    assert entry.figure is not None
    assert entry.figure.name == "win rate"
    assert entry.judge == CARD.name


def test_runs_that_changed_last_come_first_and_the_others_at_the_end(runs):
    for at, name in enumerate(("rated", "judged")):
        for path in (runs / name).iterdir():
            os.utime(path, (2e9 + at, 2e9 + at))
    names = [Path(entry.path).name for entry in list_runs(runs)]
    assert names[:2] == ["judged", "rated"]
    assert names[-1] == "exports"


def test_a_folder_of_runs_inside_another_is_one_entry(runs):
    inside = runs / "audit"
    inside.mkdir()
    shutil.copytree(runs / "judged", inside / "pairs")
    shutil.copytree(runs / "shard-1", inside / "repeated")
    entry = by_name(runs)["audit"]
    assert (entry.state, entry.n_judged, entry.judge) == ("several runs", 11, "verdict")


def test_a_run_itself_is_listed_alone_and_no_folder_is_an_error(runs):
    assert [entry.path for entry in list_runs(runs / "judged")] == [str(runs / "judged")]
    for path, message in ((runs / "none", "no such folder"), (runs / "pairs.jsonl", "is a file")):
        with pytest.raises(DataError, match=message):
            list_runs(path)


def test_a_jury_that_has_not_decided_is_listed(runs):
    (runs / "jury" / "verdicts.jsonl").unlink()
    entry = by_name(runs)["jury"]
    assert (entry.state, entry.n_judged, entry.n_cases, entry.figure) == ("run", 0, 7, None)
    assert JuryRun.open(runs / "jury").jury.paired


HOSTILE = [
    b"", b"null", b"[]", b"{}", b"[" * 100_000, b'{"spec": 7}', b'{"spec":{"judge":{}},"data":{}}',
    b'{"spec":{"judge":{"name":7}},"data":{"paths":[],"sha256":[]}}', b"\xff\xfe\x00", b"NaN",
    b'{"jurors": []}', b'{"jurors": 3, "method": "mean"}',
]  # fmt: skip


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("name", ["run.json", "jury.json", "cases.jsonl", "verdicts.jsonl"])
def test_whatever_a_file_holds_it_is_a_line_of_the_list(tmp_path, name, content):
    shutil.copytree(FROZEN / "judged", tmp_path / "runs" / "x")
    (tmp_path / "runs" / "x" / name).write_bytes(content + b"\n")
    (entry,) = list_runs(tmp_path / "runs")
    assert entry.state in ("run", "damaged")
    assert (entry.state == "damaged") == bool(entry.reason)


def mutated(data: bytes, draw: random.Random) -> bytes:
    """A file with a few bytes flipped, cut out or doubled."""
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(data) + 1)
        end = min(len(data), at + draw.randint(1, 40))
        data = draw.choice([
            data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :],
            data[:at] + data[end:],
            data[:end] + data[at:],
        ])  # fmt: skip
    return data


@pytest.mark.parametrize("n", [60, pytest.param(3000, marks=pytest.mark.slow)], ids=["few", "many"])
def test_damaged_folders_are_listed(tmp_path, n):
    draw = random.Random(17)
    for number in range(n):
        folder = tmp_path / str(number % 60)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(FROZEN / draw.choice(["judged", "rated", "jury", "selected"]), folder)
        path = draw.choice([path for path in folder.rglob("*") if path.name in (*RUN, "jury.json")])
        path.write_bytes(mutated(path.read_bytes(), draw))
        if number % 60 == 59 or number == n - 1:
            entries = list_runs(tmp_path)
            assert {entry.state for entry in entries} <= {
                "run",
                "damaged",
                "several runs",
                "no run",
            }
            assert len(entries) == len(list(tmp_path.iterdir()))
