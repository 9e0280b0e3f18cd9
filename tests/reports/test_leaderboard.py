"""Boards as tables: printed figures as they were printed, ours with intervals."""

from __future__ import annotations

from dataclasses import replace

from autoj.bench.leaderboard.board import BaselineComparison, Board, BoardRow, Section
from autoj.bench.published import Citation, Printed
from autoj.reports.leaderboard import baseline_lines, board_view

from .pages import check_pages, estimate, page, rows

PAPER = Citation(cite="The paper, Table 3", work="paper", note="of 1,392 pairs")
NAMES = ("agreement", "averaged accuracy", "spearman")


def measured(name: str) -> BoardRow:
    figures = {
        "agreement": estimate("agreement", 0.5, 0.4, 0.6),
        "averaged accuracy": estimate("averaged accuracy", 0.5, 0.499, 0.501),
        "spearman": estimate("spearman", -0.5, -0.6, -0.4),
    }
    return BoardRow(
        judge=name, status="measured", kind="single", in_sample=True, figures=figures,
        parts={"group": {"Code": figures, name: figures}}, sources=(PAPER,), notes=("a note",),
    )  # fmt: skip


def printed() -> BoardRow:
    def figure(value: float, text: str, remark: str | None = None) -> Printed:
        return Printed(value=value, text=text, source=PAPER, remark=remark)

    figures = {
        "agreement": figure(0.4165, "41.65"),
        "averaged accuracy": figure(0.75, "75/100", "p > 0.05"),
    }
    return BoardRow(
        judge="gpt-4", status="published", kind="pairwise", figures=figures,
        parts={"group": {"Code": figures}}, sources=(PAPER,),
    )  # fmt: skip


def board(name: str, breakdown: str | None = None) -> Board:
    clearing = BaselineComparison(
        judge=name, source="runs/x", baseline="longest", figure="agreement",
        difference=estimate("agreement", 0.05, -0.01, 0.11), beats=False,
    )  # fmt: skip
    return Board(
        bench="eval-p",
        breakdown=breakdown,
        sort="agreement",
        sections=(Section(title="Eval-P", figures=NAMES, rows=(measured(name), printed())),),
        against_baselines=(clearing, replace(clearing, baseline="first", beats=True)),
        messages=("a message",),
    )


def test_pages():
    check_pages(
        lambda name: board_view(board(name)), "50.0 [40, 60]", "-0.500 [-0.60, -0.40]", "41.65"
    )
    check_pages(lambda name: board_view(board(name, "group")), "Code", "50.0", "41.65")


def test_ours_have_intervals_and_printed_figures_stand_as_printed():
    lines = rows(page(board_view(board("mine"))))
    assert lines[3] == [
        "mine",
        "[1]",
        "measured*",
        "50.0",
        "[40,",
        "60]",
        "50.0",
        "-0.500",
        "[-0.60,",
        "-0.40]",
    ]
    assert lines[4] == ["gpt-4", "[1]", "published", "41.65", "75.0", "(75/100)†", "-"]
    text = page(board_view(board("mine")))
    for words in (
        "* in-sample: a tie",
        "† p > 0.05",
        "[1] The paper, Table 3. of 1,392 pairs",
        "mine: a note",
    ):
        assert words in text


def test_groups_stand_in_the_papers_order_under_their_short_names():
    lines = rows(page(board_view(board("mine", "group"))))
    assert lines[1] == ["judge", "what", "Code", "mine", "all"]
    assert lines[3] == ["gpt-4", "[1]", "published", "41.65", "-", "41.65"]


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
