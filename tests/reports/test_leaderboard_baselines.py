"""Sentences on measured judges: all baseline judges that one beats, and those it does not."""

from __future__ import annotations

from autoj.bench.leaderboard.board import BaselineComparison
from autoj.reports.leaderboard_baselines import baseline_lines

from .test_leaderboard import board


def test_a_judge_is_told_to_beat_trivial_judges_or_not():
    [(beats, line)] = baseline_lines(board("mine").against_baselines)
    assert beats is False
    assert line == (
        "mine (runs/x) on agreement: does not beat the baseline longest "
        "(+5.0 [-1.0, +11.0] points); beats first."
    )
    apart = BaselineComparison(
        judge="j", source="s", baseline="t", figure="f", difference=None, beats=False
    )
    assert baseline_lines([apart])[0][1].endswith(
        "does not beat the baseline t (intervals compared, not cases)."
    )
