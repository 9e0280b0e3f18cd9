"""Tests of progress where stderr is no terminal."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pytest
from rich.console import Console
from rich.progress import Progress

from autoj.cli import _progress


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
