"""Tables of a run: a line a case, its figures, and the same by part."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Group

from autoj.metrics.win_rate import CONVENTIONS
from autoj.records import Calibration, Case, Response, Verdict
from autoj.reports.judge import summary_table, verdict_table
from autoj.reports.summary import summarise
from autoj.reports.win_rates import convention_table
from autoj.runs import RunCounts, make_spec

from ..scripted import CARD
from .pages import check_pages, estimate, page, rows

PAIRS = make_spec("judge", CARD)
VOTES = make_spec("judge", CARD, protocol="pairwise", samples=5, temperature=1.0)
RATE = make_spec("rate", CARD)
DRAWN = make_spec("rate", CARD, protocol="single", samples=5, temperature=1.0)


def case(name: str, n: int = 2, **its) -> Case:
    responses = tuple(Response(text="r", model=name) for _ in range(n))
    return Case(id=name, query=name, cluster=name, responses=responses, **its)


def paired(name: str, **its) -> tuple[Case, Verdict]:
    return case(name), Verdict(
        case_id=name, judge="j",
        **{"winners": (None, None), "consistent": False, "probabilities": (0.125, 0.75, 0.125)}
        | its,
    )  # fmt: skip


def rated(name: str, *ratings: float | None, sds: tuple[float | None, ...] = ()):
    verdict = Verdict(case_id=name, judge="j", ratings=ratings, rating_sds=sds, n_unreadable=1)
    return case(name, len(ratings)), verdict


def views(name: str) -> Group:
    judged = [paired(name), paired("x", winner="a", winners=("a", "a"), consistent=True)]
    parts = {name: (estimate("win rate", 0.5, 0.4, 0.6, n=1200),)}
    summary = replace(summarise(judged, PAIRS, 1200), parts=parts)
    return Group(
        verdict_table([paired(name)], PAIRS),
        verdict_table([paired(name, vote_shares=(0.75, None))], VOTES),
        verdict_table([rated(name, 7.25, None)], RATE),
        verdict_table([rated(name, 7.25, sds=(0.5,))], DRAWN),
        summary_table(summary, PAIRS),
    )


def test_pages():
    check_pages(
        views, "0.125  0.750  0.125", "differ", "unknown", "0.75, -", "7.2", "7.2 ± 0.5",
        "50.0 [40, 60]", "1,200",
    )  # fmt: skip


def test_a_case_has_its_verdict_or_why_there_is_none():
    failed = paired("y", probabilities=None, consistent=None, n_failed=2)
    assert rows(page(verdict_table([paired("x", winner="b", consistent=True), failed], PAIRS))) == [
        ["case", "winner", "P(a)", "P(b)", "P(tie)", "orders", "query"],
        ["x", "b", "0.125", "0.750", "0.125", "agree", "x"],
        ["y", "failed", "-", "-", "-", "-", "y"],
    ]
    assert rows(page(verdict_table([rated("x", 7.25, None), rated("y")], RATE)))[1:] == [
        ["x", "x", "7.2", "x"],
        ["x", "x", "unreadable", "x"],
        ["y", "-", "failed", "y"],
    ]


def test_figures_say_what_is_missing_and_how_fast_it_was():
    judged = [paired("x", winner="a", n_unreadable=1), paired("y", n_failed=1, n_truncated=1)]
    counts = RunCounts(n_answered=1200, prompt_tokens=5000, completion_tokens=7, seconds=60.0)
    fitted = {"pairwise-verdict": Calibration(temperature=1.5, fitted_on="votes")}
    spec = make_spec("judge", replace(CARD, calibration=fitted))
    text = page(summary_table(summarise(judged, spec, 5), spec, counts), 120)
    for words in (
        "5 (3 not judged yet)", "a 1, b 0, ties 0, no winner 1", "1 and 1",
        "1 judgments had a response cut to fit", "temperature 1.5, tie 0, fitted on votes",
        "1,200 judgments in 60 s, 1,200/min; 5,000 tokens read, 7 written",
    ):  # fmt: skip
        assert words in text
    assert "this session" not in page(summary_table(summarise(judged, PAIRS, 2), PAIRS))


def test_draws_are_told_with_how_far_they_agree():
    judged = [paired("x", winners=("a", None), vote_shares=(0.75, 0.5), winner="a")]
    text = " ".join(page(summary_table(summarise(judged, VOTES, 1), VOTES)).split())
    assert "5 of each question; 75.0 % of the readable ones agree with their vote" in text
    assert "1 votes without a majority" in text


def test_other_tools_rules_stand_beside_each_other():
    names = list(CONVENTIONS)[:2]
    rates = {
        names[0]: estimate("win rate", 0.5, 0.4, 0.6, n=1200),
        names[1]: estimate("win rate", None, n=0, reason="it takes both orders"),
    }
    lines = page(convention_table(rates), 120).splitlines()
    assert "50.0 % [40.0, 60.0] n=1,200" in lines[1]
    assert CONVENTIONS[names[0]].says in lines[1]
    assert lines[2].split() == [names[1], "-", "n=0", "it", "takes", "both", "orders"]
