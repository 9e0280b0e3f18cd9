"""Drift: flips, repeatability, and limits that are passed or kept."""

from __future__ import annotations

import pytest

from autoj.errors import ConfigError
from autoj.tasks.drift import Limits, find_drift

from .test_diff import judge, rows


def test_flips_and_lost_agreement_by_hand(tmp_path):
    before = judge(tmp_path / "before", rows(10), "aaaaaaaabb")
    after = judge(tmp_path / "after", rows(10), "aaaaaabbbb")
    drift = find_drift(before, after)
    assert drift.flipped.value == pytest.approx(0.2)
    assert 0 < drift.flipped.low < 0.2 < drift.flipped.high < 1
    assert drift.lost.value == pytest.approx(0.2)
    # The settings are equal: what differs is the judge's own doing.
    assert drift.repeatability.value == pytest.approx(0.8)
    assert drift.beyond == ()


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(most_flipped=0.2), []),
        (Limits(most_flipped=0.19), ["20.0 % of the verdicts flipped, and the limit is 19 %"]),
        (Limits(most_flipped=0.19, certain=True), []),
        (Limits(most_flipped=0.01, certain=True), ["at least"]),
        (Limits(most_lost=0.1), ["20.0 % less agreement with labels, and the limit is 10 %"]),
        (Limits(most_flipped=0.1, most_lost=0.1), ["flipped", "less agreement"]),
    ],
)
def test_limits(tmp_path, limits, words):
    before = judge(tmp_path / "before", rows(10), "aaaaaaaabb")
    after = judge(tmp_path / "after", rows(10), "aaaaaabbbb")
    beyond = find_drift(before, after, limits).beyond
    assert len(beyond) == len(words)
    assert all(word in line for word, line in zip(words, beyond, strict=True))


def test_a_judge_that_got_better_lost_nothing(tmp_path):
    before = judge(tmp_path / "before", rows(4), "abbb")
    after = judge(tmp_path / "after", rows(4), "aaab")
    assert find_drift(before, after, Limits(most_lost=0.0)).beyond == ()


def test_limit_on_labels_needs_labels(tmp_path):
    unlabelled = rows(2, label=None)
    before = judge(tmp_path / "before", unlabelled, "ab")
    with pytest.raises(ConfigError, match="needs cases with labels"):
        find_drift(before, before, Limits(most_lost=0.1))
