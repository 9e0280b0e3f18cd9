"""Two runs side by side: no number is cut, and what is wrong is marked."""

from __future__ import annotations

from dataclasses import replace

from autoj.metrics import Difference
from autoj.reports.diff import diff_stored_view, diff_view
from autoj.runs.authors import Authors
from autoj.tasks.diff import Against, DifferingCase, RunDiff
from autoj.tasks.diff_selections import DifferingPick, SelectionDiff

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


def picks(name: str) -> SelectionDiff:
    return SelectionDiff(
        paths=(f"runs/{name}", "runs/y"),
        judges=(name, "judge"),
        n_both=1200,
        n_alone=(3, 0),
        n_changed=2,
        settings=((name, name, None),),
        same=estimate("same pick", 0.75, 0.7, 0.8),
        by_chance=0.25,
        reference=Difference(estimate=estimate("best of N", 0.125, -0.05, 0.3), p_value=0.04),
        n_differing=300,
        differing=(
            DifferingPick(
                case_id=name, query=name, one=2, other=0, models=(name, None),
                reference_scores=(7.5, None),
            ),
        ),
    )  # fmt: skip


def test_pages_of_selections() -> None:
    check_pages(lambda name: diff_stored_view(picks(name), 20), "75.0 %", "25.0 %", "1,200")


def test_picks_are_counted_from_one_with_what_is_known_of_them() -> None:
    said = " ".join(page(diff_stored_view(picks("plain"), 20), 120).split())
    assert "plain 3, plain, 7.50 1 plain" in said
    assert "300 of 1,200" in said
    assert "+0.125" in said
    assert "p 0.040" in said
    assert "299 more; --first 300 lists all" in page(diff_stored_view(picks("plain"), 1), 120)


def test_without_scores_and_picks_nothing_is_made_up() -> None:
    bare = replace(picks("plain"), reference=None, by_chance=None, differing=(), n_differing=0)
    text = page(diff_stored_view(bare, 20))
    assert "reference" not in text
    assert "by chance" not in text
