"""Tables of Eval-C: shares of wins, ties and losses, beside published ones."""

from __future__ import annotations

from rich.console import Group

from autoj.bench.eval_c.published import OVERALL, PublishedVotes
from autoj.metrics.result import Result
from autoj.reports.bench_eval_c import critique_parts_table, critique_view, published_table

from .pages import check_pages, estimate, page, rows

FIGURES = (
    estimate("win", 0.5, 0.4, 0.6, n=88, n_unscored=2),
    estimate("tie", 0.125),
    estimate("lose", 0.375),
    estimate("consistency", None, n=0, reason="one order"),
)


def result(name: str, **details) -> Result:
    its = {"against": name, "judged_by": name, "n_unreadable": 2, "n_failed": 0, "n_truncated": 0}
    return Result(
        bench="eval-c",
        judge=name,
        source=f"runs/{name}",
        n_cases=90,
        estimates=FIGURES,
        details=its | details,
    )


def votes(group: str, judged_by: str = "gpt-4") -> PublishedVotes:
    return PublishedVotes(
        critic="auto-j", against="chatgpt", judged_by=judged_by, group=group,
        win=70.0, tie=10.0, lose=20.0, unit="percent", source="paper, Table 22",
    )  # fmt: skip


def views(name: str) -> Group:
    published = [votes(name), votes(name, "human"), votes(OVERALL)]
    return Group(
        critique_view(result(name)),
        published_table(result(name), published),
        critique_parts_table("group", {name: FIGURES, "Code": FIGURES}, published),
    )


def test_pages():
    check_pages(views, "50.0 [40, 60]", "12.5", "37.5", "70.0/10.0/20.0", "70.0")


def test_published_rows_of_all_cases_stand_below_ours():
    lines = rows(page(published_table(result("mine"), [votes(OVERALL), votes("Code")])))
    assert lines[2][:5] == ["mine", "mine", "50.0", "12.5", "37.5"]
    assert lines[3] == [
        "auto-j", "GPT-4", "70.0", "10.0", "20.0", "paper,", "Table", "22",
    ]  # fmt: skip
    assert len(lines) == 4


def test_a_part_that_nobody_published_has_a_dash():
    text = page(critique_parts_table("group", {"Code": FIGURES, "Math": FIGURES}, [votes("Code")]))
    head, code, other, *said = rows(text)
    assert head == ["group", "n", "win", "tie", "lose", "agree", "GPT-4"]
    assert (code[1], code[-2:]) == ("90", ["-", "70.0/10.0/20.0"])
    assert other[-1] == "-"
    assert " ".join(said[0]).startswith("Right: auto-j against chatgpt, win/tie/lose by GPT-4")


def test_texts_that_were_cut_are_told():
    assert "truncated" not in page(critique_view(result("x")))
    cut = page(critique_view(result("x", n_truncated=1200)))
    assert "1,200 judgments had a text cut to fit" in cut
