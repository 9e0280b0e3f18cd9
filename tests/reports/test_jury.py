"""A jury's figures are those of its judges' verdicts; its tables fit and say what is missing."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from rich.console import Console, Group, RenderableType

from autoj.jsonl import write_records
from autoj.records import Case, Response, Verdict, Winner
from autoj.reports.jury import jury_summary_view, jury_table
from autoj.reports.jury_summary import JurySummary, summarise_jury
from autoj.runs import make_spec
from autoj.tasks.jurors import Juror, Jury
from autoj.tasks.jury_folder import open_jury, read_jury_verdicts, write_jury_verdicts

from ..scripted import CARD
from .pages import check_pages

LABELS: tuple[Winner, ...] = ("a", "b", "a", "tie", "b", "a")
VOTES: dict[str, tuple[Winner | None, ...]] = {
    "one": ("a", "b", "a", "tie", "a", None),
    "two": ("a", "b", "b", "tie", "b", "a"),
    "three": ("a", "a", "a", None, None, None),
}


def make(path: Path, verdicts: dict[str, list[Verdict]], paired: bool) -> Jury:
    """A jury's folder as its judges' runs leave it."""
    spec = make_spec("judge" if paired else "rate", CARD)
    jurors = tuple(Juror(name=name, folder=f"judges/{name}", spec=spec) for name in verdicts)
    jury = Jury(jurors=jurors, method="majority" if paired else None)
    with open_jury(path, jury):
        for name, its in verdicts.items():
            folder = path / "judges" / name
            folder.mkdir(parents=True)
            n_responses = 2 if paired else 1
            cases = [
                Case(
                    id=f"case-{number}",
                    query=f"Question {number}?",
                    cluster=f"question{number}",
                    label=LABELS[number] if paired else float(number),
                    responses=tuple(Response(text=f"r{index}") for index in range(n_responses)),
                    scenario="planning" if number % 2 else "chitchat",
                )
                for number in range(len(its))
            ]
            write_records(folder / "cases.jsonl", cases)
            write_records(folder / "verdicts.jsonl", its)
        write_jury_verdicts(path, jury)
    return jury


def voted(votes: tuple[Winner | None, ...]) -> list[Verdict]:
    return [
        Verdict(
            case_id=f"case-{number}",
            judge="script",
            winner=vote,
            winners=(vote, vote),
            consistent=None if vote is None else True,
            rule="agreed" if vote else "incomplete",
            n_unreadable=int(vote is None),
        )
        for number, vote in enumerate(votes)
    ]


@pytest.fixture
def paired(tmp_path: Path) -> tuple[Path, Jury]:
    return tmp_path, make(tmp_path, {name: voted(its) for name, its in VOTES.items()}, True)


def text_of(view: RenderableType) -> str:
    console = Console(width=80, highlight=False)
    with console.capture() as captured:
        console.print(view)
    return captured.get()


def named(summary: JurySummary, judge: str, estimate: str):
    figures = {its.name: its for its in (*summary.judges, summary.jury)}[judge]
    return {its.name: its for its in figures.estimates}[estimate]


def test_each_judge_is_measured_on_the_cases_it_has_a_vote_on(paired):
    summary = summarise_jury(*paired)
    for name, votes in VOTES.items():
        known = [(vote, label) for vote, label in zip(votes, LABELS, strict=True) if vote]
        right = sum(vote == label for vote, label in known)
        found = named(summary, name, "verdict accuracy")
        assert found.value == pytest.approx(right / len(known))
        assert (found.n, found.n_unscored) == (len(known), len(LABELS) - len(known))
        assert named(summary, name, "agreement").value == found.value
    # a, b and a by two of three; a tie by both that vote; no majority of b and a; one vote of 3.
    assert [verdict.winner for _, verdict in read_jury_verdicts(*paired, Case)] == [
        "a", "b", "a", "tie", None, None,
    ]  # fmt: skip
    assert named(summary, "jury", "verdict accuracy").value == 1.0
    assert named(summary, "jury", "verdict accuracy").bounds == pytest.approx((4 / 6, 1.0))
    assert summary.rules == {"majority": 4, "no majority": 1, "too few votes": 1}
    assert summary.jury.winners == {"a": 2, "b": 1, "tie": 1, "unknown": 2}
    assert summary.jury.n_unreadable == 4


def test_two_judges_are_compared_where_both_vote(paired):
    summary = summarise_jury(*paired)
    for found, (one, other) in zip(summary.agreements, combinations(VOTES, 2), strict=True):
        both = [pair for pair in zip(VOTES[one], VOTES[other], strict=True) if None not in pair]
        same, kappa = found.estimates
        assert found.judges == (one, other)
        assert same.value == pytest.approx(sum(x == y for x, y in both) / len(both))
        assert same.n == kappa.n == len(both)
        assert same.n_unscored == kappa.n_unscored == len(LABELS) - len(both)


def test_judges_that_share_no_case_and_judges_of_one_outcome_have_no_kappa(tmp_path):
    nowhere = make(
        tmp_path / "x", {"x": voted(("a", None)), "y": voted((None, "b")), "z": voted(("a",) * 2)},
        True,
    )  # fmt: skip
    summary = summarise_jury(tmp_path / "x", nowhere)
    (same, kappa), (_, beyond), _ = (found.estimates for found in summary.agreements)
    assert (same.value, kappa.value) == (None, None)
    assert kappa.reason == same.reason
    assert beyond.reason == "both judges name only one and the same outcome"
    text = text_of(jury_summary_view(summary, nowhere))
    assert "-: no case could be scored" in " ".join(text.split())


def test_a_breakdown_is_of_the_jurys_figures(paired):
    summary = summarise_jury(*paired, "scenario")
    assert set(summary.parts) == {"planning", "chitchat"}
    text = text_of(jury_summary_view(summary, paired[1]))
    assert "the jury on" in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_table_says_why_a_judge_has_no_vote(paired):
    text = text_of(jury_table(read_jury_verdicts(*paired, Case), paired[1]))
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == ["case", "jury", "label", "one", "two", "three"]
    assert lines[4] == ["case-3", "tie", "tie", "tie", "tie", "unread"]
    assert lines[6] == ["case-5", "unknown", "a", "unread", "a", "unread"]


def test_ratings_are_correlated_over_responses(tmp_path):
    ratings = {"x": (1.0, 3.0, 4.0, 9.0), "y": (2.0, 6.0, None, 8.0), "z": (9.0, 4.0, 3.0, 1.0)}
    jury = make(
        tmp_path,
        {
            name: [
                Verdict(case_id=f"case-{number}", judge="script", ratings=(rating,))
                for number, rating in enumerate(its)
            ]
            for name, its in ratings.items()
        },
        False,
    )
    summary = summarise_jury(tmp_path, jury)
    pearson, spearman = summary.agreements[0].estimates
    assert (pearson.n, pearson.n_unscored) == (3, 1)
    assert spearman.value == pytest.approx(1.0)
    assert summary.agreements[1].estimates[1].value == pytest.approx(-1.0)
    assert named(summary, "jury", "mean rating").value == pytest.approx(
        ((1 + 2 + 9) / 3 + (3 + 6 + 4) / 3 + (4 + 3) / 2 + (9 + 8 + 1) / 3) / 4
    )
    assert named(summary, "z", "correlation").value < 0
    text = text_of(jury_table(read_jury_verdicts(tmp_path, jury, Case), jury))
    assert text.splitlines()[3].split() == ["case-2", "1", "3.50", "4.00", "-", "3.00"]


def jury_of(path: Path, name: str, n_judges: int = 3) -> tuple[Path, Jury]:
    votes = list(VOTES.values())
    its = {f"{number} {name}": voted(votes[number % 3]) for number in range(n_judges)}
    spec = make_spec("judge", CARD)
    jurors = tuple(
        Juror(name=judge, folder=f"judges/{number}", spec=spec) for number, judge in enumerate(its)
    )
    jury = make(path, {str(number): verdicts for number, verdicts in enumerate(its.values())}, True)
    return path, replace(jury, jurors=jurors)


@pytest.mark.parametrize("n_judges", [2, 7])
def test_pages(tmp_path, n_judges):
    made = {}

    def view(name: str) -> Group:
        if name not in made:
            made[name] = jury_of(tmp_path / str(len(made)), name, n_judges)
        folder, jury = made[name]
        summary = summarise_jury(folder, jury, "scenario")
        listed = jury_table(read_jury_verdicts(folder, jury, Case), jury)
        return Group(listed, jury_summary_view(summary, jury))

    check_pages(view, "80.0 [", "unknown", "verdict = label", "same winner")
