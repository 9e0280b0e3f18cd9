"""Tables of the system level: ranks, correlations, and what the choice of queries leaves open."""

from __future__ import annotations

from autoj.bench.system_level.model_table import Ranked
from autoj.bench.system_level.query_ratings import Precision
from autoj.metrics.result import Result
from autoj.reports.bench_system_level import ranking_view

from .pages import check_pages, estimate, page, rows

NAMES = ("spearman", "pearson", "kendall")
PRECISION = Precision(
    n_queries=100, n_set_queries=1200, of_mean=0.1, of_mean_on_all=0.03, of_difference=0.2,
    of_difference_on_all=0.06, n_pairs=1000, n_pairs_apart=333,
)  # fmt: skip


def coefficients(value: float | None, suffix: str = "", **others):
    ends = {} if value is None else {"low": value - 0.1, "high": value + 0.1}
    return tuple(estimate(f"{name}{suffix}", value, **ends, **others) for name in NAMES)


def result(name: str, estimates=(), **details) -> Result:
    models = [
        Ranked(
            model=name, title=name, rating=6.5, reference=91.25, rank=3, reference_rank=1, delta=2
        ),
        Ranked(model="b", title="b", rating=5.0, reference=9.0, rank=2, reference_rank=2, delta=0),
    ]
    return Result(
        bench="system-level",
        judge=name,
        source=f"ratings of {name}",
        n_cases=1200,
        estimates=(*coefficients(-0.512), *estimates),
        parts={"model": {name: (estimate("mean rating", 6.5, 6.25, 6.75),)}},
        details={"models": models, "published": [], **details},
    )


def view(name: str):
    over = coefficients(-0.6, " over queries")
    published = {
        "judge": name, "source": "paper", "figures": {"Spearman": "0.9"}, "is_computed": True,
        "note": "a note",
    }  # fmt: skip
    return ranking_view(
        result(name, over, precision=PRECISION, published=[published], n_unreadable=4, n_failed=0),
        result("length"),
    )


def test_pages():
    check_pages(
        view, "6.50 [6.25, 6.75]", "91.25", "-0.512 [-0.61, -0.41]", "-0.600 [-0.70, -0.50]"
    )


def test_a_model_that_is_placed_as_by_the_reference_has_no_sign():
    lines = rows(page(ranking_view(result("a"), None)))
    assert lines[1] == ["a", "6.50", "[6.25,", "6.75]", "91.25", "1", "3", "+2"]
    assert lines[2] == ["b", "5.00", "9.00", "2", "2", "0"]


def test_a_reason_is_said_once_for_the_figures_that_share_it():
    lost = coefficients(None, " over queries", reason="too few queries")
    text = page(ranking_view(result("a", lost), None), 120)
    assert "no spearman over queries, pearson over queries, kendall over queries: too few" in text


def test_what_the_choice_of_queries_leaves_open_is_said():
    text = page(view("a"))
    assert "Standard errors in points of rating, from 100 of 1,200 queries:" in text
    assert "a model's mean              0.100   (0.030 on all 1,200)" in text
    assert "333 of 1,000 pairs of models are significantly different at 95 % (33.3 %)." in text
    assert "Our arithmetic: a, paper: Spearman 0.9." in text
