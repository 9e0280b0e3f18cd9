"""Two selections side by side: no number is cut, and picks stand with their models and scores."""

from __future__ import annotations

from dataclasses import replace

from autoj.metrics import Difference
from autoj.reports.diff_selections import diff_stored_view
from autoj.tasks.diff_selections import DifferingPick, SelectionDiff

from .pages import check_pages, estimate, page


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


def test_pages() -> None:
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
