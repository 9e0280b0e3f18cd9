"""Tables of Eval-R: best of N, differences from trivial picks, correlations."""

from __future__ import annotations

from autoj.bench.eval_r.best_of_n import BestOfN
from autoj.metrics import Difference
from autoj.metrics.result import Result
from autoj.reports.bench_eval_r import best_of_n_view

from .pages import check_pages, estimate, page, rows

SIZES = (2, 4, 8, 16)


def best_of(value: float | None):
    ends = {} if value is None else {"low": value - 0.03, "high": value + 0.03}
    return tuple(estimate(f"best of {size}", value, **ends) for size in SIZES)


def difference(value: float, p_value: float | None = 0.0) -> Difference:
    its = estimate("best of 4", value, value - 0.01, value + 0.01)
    return Difference(estimate=its, p_value=p_value)


def result(name: str, value: float | None = 6.125, **details) -> Result:
    less = {"random": difference(0.25), "longest": difference(-0.125, 0.2)}
    comparisons = [
        BestOfN(base_model=None, size=size, figures={}, less=less) for size in SIZES[1:3]
    ]
    correlated = (
        estimate("pearson", 0.3, 0.25, 0.35, n=1234),
        estimate("spearman", -0.3, -0.35, -0.25, n=1234),
    )
    its = {
        "n_unreadable": 3,
        "n_failed": 0,
        "n_without_pick": {"2": 1200, "4": 0},
        "n_without_reference": {},
        "comparisons": comparisons,
        "sizes": SIZES,
        "p_values": {"pearson": 1e-9, "spearman": None},
    }
    return Result(
        bench="eval-r",
        judge=name,
        source=f"runs/{name}",
        n_cases=500,
        estimates=(*best_of(value), *correlated),
        notes=("a note",),
        details=its | details,
    )


def trivial(name: str) -> Result:
    return Result(
        bench="eval-r",
        judge=name,
        source="lengths",
        n_cases=500,
        estimates=best_of(5.5),
        details={"sizes": SIZES},
    )


def test_pages():
    check_pages(
        lambda name: best_of_n_view([result(name)], [trivial("oracle")]),
        "6.125 [6.09, 6.16]", "+0.250 [+0.24, +0.26]", "-0.125 [-0.14, -0.12]", "<0.001",
        "-0.300 [-0.35, -0.25]", "1,234",
    )  # fmt: skip


def test_three_sizes_stand_beside_each_other():
    heads = [
        words for words in rows(page(best_of_n_view([], [trivial("oracle")]))) if "best" in words
    ]
    assert [words[2:] for words in heads] == [
        ["best", "of", "2", "best", "of", "4", "best", "of", "8"],
        ["best", "of", "16"],
    ]


def test_what_is_missing_is_said_with_its_reason():
    view = best_of_n_view([result("mine", None)], [trivial("oracle")])
    text = page(view)
    assert "not counted         no rating to pick by: 1,200 at 2" in text
    assert "mine: no best of 16: None" in text
    assert ["mine", "-", "-", "-"] in rows(text)


def test_a_note_that_judges_share_is_said_once():
    assert (
        page(best_of_n_view([result("x"), result("y")], [trivial("oracle")])).count("a note") == 1
    )
