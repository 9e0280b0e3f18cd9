"""Tables of scenario classifiers: figures on a set, and differences of two classifiers."""

from __future__ import annotations

from rich.console import Group

from autoj.bench.scenario_classifier.comparison import ClassifierDifference
from autoj.bench.scenario_classifier.evaluate import ALL
from autoj.bench.scenario_classifier.published import PublishedClassifier
from autoj.bench.scenario_classifier.query_set import QuerySet, SeenQueries
from autoj.datasets.base import Cases
from autoj.metrics import Difference
from autoj.metrics.result import Result
from autoj.records import Case
from autoj.reports.bench_scenario_classifier import difference_table, published_table, set_view

from .pages import check_pages, estimate, page, rows

CASES = [
    Case(id=str(number), query="q", responses=(), cluster=f"q{number % 3}", scenario=scenario)
    for number, scenario in enumerate(["planning", "planning", "ranking", "others"])
]


def query_set(name: str) -> QuerySet:
    return QuerySet(
        name=name,
        bench="x",
        data=Cases(format="x", paths=(), read=lambda: iter(())),
        cases=CASES,
        n_rows=1200,
        seen=(SeenQueries(name=name, n_rows=7),),
    )


def figures(value: float | None, n: int = 1200):
    ends = {} if value is None else {"low": value - 0.1, "high": value + 0.1}
    intervals = [
        estimate(name, value, **ends, n=n) for name in ("accuracy", "macro F1", "weighted F1")
    ]
    names = ("top-3 accuracy", "expected calibration error", "mean confidence")
    return (*intervals, *(estimate(name, value) for name in names))


def result(name: str, **details) -> Result:
    its = {"dropped": ("planning",), "n_unreadable": 2, "n_failed": 1}
    return Result(
        bench="x",
        judge=name,
        source=f"weights of {name}",
        n_cases=4,
        estimates=(),
        parts={"rows": {ALL: figures(0.5), "without": figures(None, n=1)}},
        notes=("a note",),
        details=its | details,
    )


def difference(value: float | None) -> Difference:
    ends = {} if value is None else {"low": value - 0.01, "high": value + 0.01}
    name = "accuracy" if value == 0.05 else "macro F1"
    return Difference(estimate=estimate(name, value, **ends, n=1200), p_value=value and 1e-5)


def comparison(name: str, rows: str = ALL) -> ClassifierDifference:
    differences = (difference(0.05), difference(None))
    return ClassifierDifference(classifier=name, other="other", rows=rows, differences=differences)


def views(name: str) -> Group:
    published = PublishedClassifier(model=name, accuracy="72.55", f1="74.12", source=name)
    return Group(
        set_view(query_set(name), [result(name)], [result("trivial")]),
        published_table([published]),
        difference_table([comparison(name)]),
    )


def test_pages():
    check_pages(
        views, "50.0 [40, 60]", "0.500", "50.0", "72.55", "74.12", "+5.0 [+4.0, +6.0]", "<0.001"
    )


def test_a_set_is_told_with_what_was_left_out_of_it():
    text = page(set_view(query_set("testbed"), [result("a"), result("b")], []), 120)
    assert text.startswith("testbed: 4 rows, 3 queries, 3 scenarios\n")
    assert "1,196 of the file's 1,200 rows are left out." in text
    assert "is in training data: testbed 7; they are kept." in text
    assert "without: the rows of planning (2) are left out." in text
    assert "a, b: a note" in text
    assert "a: 2 unreadable answers count as wrong; 1 failed requests are left out" in text


def test_rows_without_a_scenario_stand_below_those_with_all():
    lines = rows(page(set_view(query_set("x"), [result("mine")], [])))
    assert lines[2][:4] == ["mine", "1,200", "50.0", "[40,"]
    assert lines[3] == ["without", "1", "-", "-", "-", "-", "-", "-"]


def test_a_difference_without_a_value_has_no_p_value():
    lines = rows(page(difference_table([comparison("a"), comparison("a", "without")])))
    assert lines[1] == [
        "a", "less", "other", "1,200", "+5.0", "[+4.0,", "+6.0]", "<0.001", "-", "-",
    ]  # fmt: skip
    assert lines[2][0] == "without"
