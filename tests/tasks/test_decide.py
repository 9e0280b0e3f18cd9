"""`tasks.decide`: unsure verdicts handed over in what is derived, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.jsonl import read_records
from autoj.records import Verdict
from autoj.reports.decide import decided_view
from autoj.runs import RunFolder, judge_run, make_spec, open_run
from autoj.tasks.decide import decide
from autoj.verdicts.sureness import HandTo

from ..reports.pages import page
from ..scripted import CARD, Recorder


@pytest.fixture
def run(tmp_path: Path, cases: Cases) -> Path:
    with open_run(tmp_path / "run", make_spec("judge", CARD), cases) as folder:
        judge_run(folder, folder.spec(), Recorder())
    return tmp_path / "run"


@pytest.mark.parametrize(("to", "winner"), [("tie", "tie"), ("unresolved", None)])
def test_unsure_verdicts_are_handed_over_and_the_run_stays(
    run: Path, tmp_path: Path, to: HandTo, winner: str | None
) -> None:
    files = {path: path.read_bytes() for path in run.iterdir() if path.is_file()}
    verdicts = list(RunFolder.existing(run).verdicts())
    out = tmp_path / "decided.jsonl"
    found = decide(run, to=to, above=0.45, out=out)
    assert {path: path.read_bytes() for path in run.iterdir() if path.is_file()} == files
    decided = list(read_records(out, Verdict))
    for before, after in zip(verdicts, decided, strict=True):
        low = max(before.probabilities or ()) < 0.45
        assert (after.winner, after.rule) == (
            (winner, "unsure") if low else (before.winner, before.rule)
        )
        assert after.probabilities == before.probabilities
    n_low = sum(max(its.probabilities or ()) < 0.45 for its in verdicts)
    assert 0 < found.n_handed == n_low < found.n == 8
    assert sum(found.before.values()) == sum(found.after.values()) == 8
    assert found.accuracy_after is not None
    assert found.accuracy_after.n == (8 if to == "tie" else 8 - n_low)
    assert f"{n_low} with a confidence below 0.45" in page(decided_view(found))


def test_what_cannot_be_decided_is_refused(run: Path, tmp_path: Path, cases: Cases) -> None:
    with pytest.raises(ConfigError, match="has no confidence below which"):
        decide(run, to="tie")
    with pytest.raises(ConfigError, match="between 0 and 1"):
        decide(run, to="tie", above=1.5)
    with pytest.raises(ConfigError, match="in the run's folder"):
        decide(run, to="tie", above=0.5, out=run / "verdicts.jsonl")
    (tmp_path / "latest").symlink_to(run)
    with pytest.raises(ConfigError, match="in the run's folder"):
        decide(tmp_path / "latest", to="tie", above=0.5, out=run / "verdicts.jsonl")
    spec = make_spec("judge", CARD, orders="one")
    with open_run(tmp_path / "one", spec, cases) as folder:
        judge_run(folder, spec, Recorder())
    with pytest.raises(ConfigError, match="no verdict with a confidence"):
        decide(tmp_path / "one", to="tie", above=0.5)
