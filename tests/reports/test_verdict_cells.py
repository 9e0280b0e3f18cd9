"""Cells of one verdict: its winner, or why there is none."""

from __future__ import annotations

from autoj.records import Verdict
from autoj.reports.verdict_cells import (
    probability_cells,
    rating_cell,
    ratings_text,
    votes_text,
    why_unrated,
    winner_cell,
    wins_text,
)


def verdict(**its) -> Verdict:
    return Verdict(case_id="1", judge="j", **its)


def test_a_winner_or_why_there_is_none():
    assert winner_cell(verdict(winner="tie")).plain == "tie"
    assert winner_cell(verdict(rule="split")).plain == "split"
    assert winner_cell(verdict(n_failed=1)).plain == "failed"
    assert winner_cell(verdict(n_unreadable=2)).plain == "unknown"


def test_a_rating_or_why_there_is_none():
    assert rating_cell(7.25, 2).plain == "7.25"
    assert rating_cell(7.25, 1, 0.5).plain == "7.2 ± 0.5"
    assert why_unrated(verdict(n_failed=1, n_unreadable=1)) == "no rating"
    assert rating_cell(None, missing=why_unrated(verdict(n_failed=1))).plain == "failed"
    assert ratings_text(verdict(ratings=(1.0, None))) == "1.00, -"


def test_probabilities_and_votes_are_dashes_where_they_are_not_known():
    assert probability_cells(verdict(probabilities=(1.0, 0.0, 0.0))) == ["1.000", "0.000", "0.000"]
    assert probability_cells(verdict()) == ["-", "-", "-"]
    assert votes_text(verdict(vote_shares=(2 / 3, None))) == "0.67, -"


def test_wins_are_counted_with_those_unknown():
    assert wins_text({}) == "a 0, b 0, ties 0"
    assert wins_text({"b": 1000, "unknown": 1}) == "a 0, b 1,000, ties 0, no winner 1"
