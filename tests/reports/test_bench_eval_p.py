"""Tables of pairs' meta-evaluations: four figures by part, and differences from another judge."""

from __future__ import annotations

from rich.console import Group

from autoj.bench.eval_p.paired import FigureDifference
from autoj.metrics import Difference
from autoj.metrics.result import Result
from autoj.reports.bench_eval_p import baseline_table, comparison_table, parts_table, result_view

from .pages import check_pages, estimate, page, rows

FIGURES = (
    estimate("accuracy", 1.0, 0.99, 1.0, n=1390),
    estimate("agreement", 0.5, 0.4, 0.6, n=1392),
    estimate("consistency", None, n=0, reason="one order"),
    estimate("averaged accuracy", 0.52, 0.42, 0.62),
)


def result(name: str) -> Result:
    return Result(
        bench="eval-p",
        judge=name,
        source=f"runs/{name}",
        n_cases=1392,
        estimates=FIGURES,
        notes=(f"a note on {name}",),
        details={"n_unreadable": 1200, "n_failed": 0},
    )


def less(value: float | None, p_value: float | None) -> Difference:
    ends = {} if value is None else {"low": value - 0.01, "high": value + 0.01}
    return Difference(estimate=estimate("agreement", value, **ends), p_value=p_value)


def comparisons(name: str) -> list[FigureDifference]:
    parts = {name: less(0.05, 0.0001), "Code": less(None, None)}
    overall = less(-0.02, 0.04)
    return [
        FigureDifference(figure="agreement", overall=overall, parts=parts, corrected={name: 0.0004})
    ]


def views(name: str) -> Group:
    return Group(
        result_view(result(name)),
        parts_table("group", {name: FIGURES, "Code": FIGURES}),
        baseline_table([result(name)]),
        comparison_table(comparisons(name), f"{name} (runs/{name})"),
    )


def test_pages():
    check_pages(
        views,
        "100.0 [99, 100]",
        "50.0 [40, 60]",
        "52.0 [42, 62]",
        "-2.0 [-3.0, -1.0]",
        "<0.001",
        "1,392",
    )


def test_a_figure_that_no_part_has_is_no_column():
    assert rows(page(parts_table("group", {"Code": FIGURES})))[:2] == [
        ["averaged"], ["group", "n", "accuracy", "agreement", "accuracy"],
    ]  # fmt: skip
    assert "consistency" in page(parts_table("x", {"y": (estimate("consistency", 0.5),)}))


def test_what_was_lost_and_what_must_be_known_is_said():
    text = page(result_view(result("plain")))
    assert "unreadable, failed  1,200 and 0" in text
    assert "consistency         One order." in text
    assert "a note on plain" in text


def test_parts_have_corrected_p_values_and_the_whole_has_none():
    head, whole, part, code = rows(page(comparison_table(comparisons("Math"), "longest")))
    assert head == ["less", "longest", "points", "[95", "%", "interval]", "p", "p", "(Holm)"]
    assert whole == ["agreement", "-2.0", "[-3.0,", "-1.0]", "0.040"]
    assert part == ["Math", "+5.0", "[+4.0,", "+6.0]", "<0.001", "<0.001"]
    assert code == ["Code", "-", "-", "-"]
