"""Sentences on measured judges: all trivial judges that one beats, and those it does not."""

from __future__ import annotations

from autoj.bench.leaderboard.board import Clearing
from autoj.reports.leaderboard_clearing import clearing_lines

from .test_leaderboard import board


def test_a_judge_is_told_to_beat_trivial_judges_or_not():
    [(clears, line)] = clearing_lines(board("mine").clearings)
    assert clears is False
    assert line == (
        "mine (runs/x) on agreement: does not beat the baseline longest "
        "(+5.0 [-1.0, +11.0] points); beats first."
    )
    apart = Clearing(judge="j", source="s", trivial="t", figure="f", difference=None, clears=False)
    assert clearing_lines([apart])[0][1].endswith(
        "does not beat the baseline t (intervals compared, not cases)."
    )
