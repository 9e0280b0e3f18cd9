"""Tests of progress where stderr is no terminal."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from autoj.cli import _progress
from autoj.datasets.base import Cases
from autoj.records import Request
from autoj.runs import make_spec
from autoj.runs.budget import Budget
from autoj.tasks.judge import judge

from ..scripted import CARD, Recorder, by_hash
from ..watches import Notes


@dataclass
class _Clock:
    now: float = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    clock = _Clock()
    monkeypatch.setattr(_progress, "time", clock)
    return clock


def _line(
    clock: _Clock, capsys: pytest.CaptureFixture[str], *, before: int, done: int, total: int
) -> str:
    """Return what is printed ten minutes after the first progress."""
    watch = _progress.TerminalWatch(Progress(console=Console(file=io.StringIO())))
    watch.progress("judging", before, total)
    clock.now += 600
    watch.progress("judging", done, total)
    return capsys.readouterr().err.strip()


def test_the_time_left_follows_the_pace(clock: _Clock, capsys: pytest.CaptureFixture[str]) -> None:
    line = _line(clock, capsys, before=0, done=50, total=200)
    assert line == "judging: 50 of 200, about 30 min left"


def test_what_an_earlier_session_did_is_no_pace(
    clock: _Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    line = _line(clock, capsys, before=100, done=150, total=200)
    assert line == "judging: 150 of 200, about 10 min left"


@pytest.mark.parametrize(("before", "done"), [(0, 0), (0, 1), (100, 105)])
def test_the_first_of_a_batch_says_nothing_of_the_rest(
    clock: _Clock, capsys: pytest.CaptureFixture[str], before: int, done: int
) -> None:
    line = _line(clock, capsys, before=before, done=done, total=200)
    assert line == f"judging: {done} of 200"


def test_of_a_few_the_first_tells(clock: _Clock, capsys: pytest.CaptureFixture[str]) -> None:
    assert _line(clock, capsys, before=0, done=1, total=4) == "judging: 1 of 4, about 30 min left"


def test_the_last_minute_is_no_zero(clock: _Clock, capsys: pytest.CaptureFixture[str]) -> None:
    line = _line(clock, capsys, before=0, done=199, total=200)
    assert line == "judging: 199 of 200, less than a minute left"


@pytest.mark.parametrize("second_order", [None, "unsure:0.7"])
def test_a_resumed_run_tells_the_pace_of_its_own_session(
    clock: _Clock,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    cases: Cases,
    second_order: str | None,
) -> None:
    def answer(request: Request) -> str | tuple[float, ...]:
        clock.now += 240
        return by_hash(request)

    # Two of the further pairs share their texts.
    spec = make_spec("judge", CARD, second_order=second_order, critique=False, limit=6)
    judge(cases, spec, tmp_path / "run", backend=Recorder(), budget=Budget(None, 4))
    watch = _progress.TerminalWatch(Progress(console=Console(file=io.StringIO())))
    judge(cases, spec, tmp_path / "run", backend=Recorder(answer), watch=watch)
    lines = [line for line in capsys.readouterr().err.splitlines() if "min left" in line]
    assert lines
    for line in lines:
        numbers = [int(word) for word in line.replace(",", "").split() if word.isdigit()]
        n_done, n_total = numbers[:2]
        # Each answer takes four minutes.
        assert f"about {4 * (n_total - n_done)} min left" in line, line


def test_a_resumed_run_begins_with_what_is_known(tmp_path: Path, cases: Cases) -> None:
    spec = make_spec("judge", CARD, protocol="pairwise-verdict", critique=True, limit=6)
    begun: list[dict[str, int]] = []
    for cap in (4, 14, 100):
        watch, budget = Notes(), Budget(None, cap)
        judge(cases, spec, tmp_path / "run", backend=Recorder(), budget=budget, watch=watch)
        firsts: dict[str, int] = {}
        for what, n_done, _ in watch.progress_of:
            firsts.setdefault(what, n_done)
        begun.append(firsts)
    assert begun == [
        {"judging": 0},
        {"judging": 4, "writing critiques": 0},
        {"judging": 12, "writing critiques": 2},
    ]
    assert watch.progress_of[-1] == ("writing critiques", 6, 6)
