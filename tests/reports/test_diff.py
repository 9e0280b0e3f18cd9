"""Two runs side by side: no number is cut, and what is wrong is marked."""

from __future__ import annotations

from dataclasses import replace

from autoj.metrics import Difference
from autoj.reports.diff import diff_view
from autoj.runs.authors import Authors
from autoj.tasks.diff import Against, DifferingCase, RunDiff

from .pages import check_pages, estimate, page

PAIRED = Difference(estimate=estimate("verdict accuracy", 0.125, -0.05, 0.3), p_value=0.04)


def pairs(name: str) -> RunDiff:
    return RunDiff(
        paths=(f"runs/{name}", "runs/y"),
        judges=(name, "judge"),
        n_both=1200,
        n_alone=(3, 0),
        n_changed=2,
        settings=((name, name, None), *(("protocol", "one", "other") for _ in range(9))),
        estimates=(estimate("same winner", 0.75, 0.7, 0.8), estimate("kappa", 0.5, 0.4, 0.6)),
        winners=({"a": 700, "b": 500}, {"a": 600, "tie": 600}),
        labelled=Against(
            one=estimate("verdict accuracy", 0.625), other=estimate("verdict accuracy", 0.5),
            difference=PAIRED, both=500, one_alone=250, other_alone=100, neither=350,
        ),
        mean_difference=None,
        authors=Authors(a=name, b="vicuna-7b", n_a=1, n_b=1),
        n_differing=300,
        differing=(
            DifferingCase(case_id=name, query=name, label="a", one="b", other="a"),
            DifferingCase(case_id="2", query="q", label="tie", one=None, other="tie"),
        ),
    )  # fmt: skip


def ratings(name: str) -> RunDiff:
    return replace(
        pairs(name),
        estimates=(
            estimate("pearson", 0.5, 0.25, 0.75), estimate("spearman", 0.5),
            estimate("mean rating", 5.25), estimate("mean rating", 4.5),
        ),
        labelled=None,
        mean_difference=Difference(estimate=estimate("mean rating", 0.75, 0.5, 1.0), p_value=None),
        differing=(
            DifferingCase(case_id=name, query=name, response=1, label=None, one=7.5, other=2.0),
        ),
    )  # fmt: skip


def test_pages():
    check_pages(lambda name: diff_view(pairs(name), 20), "75.0 %", "0.500", "1,200", "+12.5")
    check_pages(lambda name: diff_view(ratings(name), 20), "7.50", "2.00", "+0.75", "5.25")


def test_what_differs_is_marked_where_it_is_wrong():
    text = page(diff_view(pairs("plain"), 20), 120)
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert lines["plain"][1:5] == ["b", "✗", "a", "a"]
    assert lines["2"][1:4] == ["unknown", "tie", "tie"]
    said = " ".join(text.split())
    assert "1,200; only in one 3; same id but other texts 2, not compared" in said
    assert "4 more differ; --json has all" in said
    assert "p 0.040" in said
    assert "both 500, only one 250, only the other 100, neither 350" in said


def test_a_long_list_says_how_many_more_there_are():
    assert "299 more; --first 300 lists all" in page(diff_view(pairs("plain"), 1))
    assert "runs/plain" in page(diff_view(pairs("plain"), 0))
