"""Picks of a run: the pick of each case, how clear it was, and all of them in figures."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Group

from autoj.records import Case, Response, Verdict
from autoj.reports.select import selection_summary_table, selection_table, summarise_selection
from autoj.runs import make_spec
from autoj.tasks.selection_folder import PickedResponse, Selection
from autoj.verdicts.knockout import Match

from ..scripted import CARD
from .pages import check_pages, page, rows

RATE = make_spec("rate", CARD)
PAIRS = make_spec("judge", CARD)


def selection(name: str, *ratings: float | None, rule: str = "rating") -> Selection:
    case = Case(
        id=name,
        query=name,
        cluster=name,
        responses=tuple(Response(text="r", model=name) for _ in ratings),
    )
    best = max((rating for rating in ratings if rating is not None), default=None)
    picked = None
    if best is not None:
        picked = PickedResponse(
            id=name, query=name, response="r", model=name, rating=best,
            selected=ratings.index(best), n_responses=len(ratings), rule=rule,
        )  # fmt: skip
    verdict = Verdict(case_id=name, judge="j", ratings=ratings, n_unreadable=ratings.count(None))
    return Selection(case=case, verdict=verdict, picked=picked)


def played(name: str) -> Selection:
    verdict = Verdict(case_id=name, judge="j", winner="b", probabilities=(0.125, 0.75, 0.125))
    match = Match(case_id=name, pair=(0, 1), round=1, winner=1, rule="agreed", verdict=verdict)
    lost = replace(match, pair=(0, 2), winner=None)
    found = selection(name, 1.0, 2.0, None, rule="wins")
    return replace(found, verdict=Verdict(case_id=name, judge="j"), matches=(match, lost))


def test_a_pick_has_its_rating_and_its_lead():
    listed = [selection("x", 7.0, 7.25, None), selection("y", None), selection("z", 3.0)]
    assert rows(page(selection_table(listed, RATE))) == [
        ["case", "N", "pick", "rating", "gap", "query"],
        ["x", "3", "2", "x", "7.25", "0.25", "x"],
        ["y", "1", "unreadable", "-", "-", "y"],
        ["z", "1", "1", "z", "3.00", "-", "z"],
    ]


def test_a_winner_of_matches_has_those_it_won():
    assert rows(page(selection_table([played("x")], PAIRS)))[1] == [
        "x", "3", "2", "x", "1", "of", "1", "0.750", "x",
    ]  # fmt: skip
    alone = replace(played("x"), matches=())
    assert rows(page(selection_table([alone], PAIRS)))[1][4:8] == ["0", "of", "0", "-"]


def test_figures_compare_picks_with_all_responses():
    summary = summarise_selection([selection("x", 4.0, 8.0), selection("y", None, None)], RATE)
    assert [each.value for each in summary.estimates] == [8.0, 6.0]
    assert (summary.n_cases, summary.n_picked, summary.n_unrated) == (2, 1, 2)
    text = " ".join(page(selection_summary_table(summary, RATE)).split())
    assert "picked 1, no basis for a pick in 1" in text
    assert "1: no other rating is as high" in text
    assert "without a rating 2 responses" in text


def test_matches_are_counted_with_those_that_nobody_won():
    summary = summarise_selection([played("x")], PAIRS)
    text = page(selection_summary_table(summary, PAIRS))
    assert "2, 1 failed or unreadable" in text
    assert summary.estimates == ()


def test_pages():
    def view(name: str) -> Group:
        summary = summarise_selection([selection(name, 7.0, 7.25)], RATE)
        return Group(
            selection_table([selection(name, 7.0, 7.25)], RATE),
            selection_table([played(name)], PAIRS),
            selection_summary_table(summary, RATE),
        )

    check_pages(view, "7.25", "0.25", "0.750", "1 of 1")
