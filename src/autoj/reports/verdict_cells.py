"""Cells of a verdict: its winner, ratings, votes and probabilities; and counts of wins."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from autoj.records import Verdict
from autoj.reports import render


def winner_cell(verdict: Verdict) -> Text:
    """Its winner, or the reason that it has none."""
    if verdict.winner is not None:
        return Text(verdict.winner, style="bold")
    if verdict.rule == "split":
        return Text("split", style="yellow")
    return Text("failed" if verdict.n_failed else "unknown", style="yellow")


def why_unrated(verdict: Verdict) -> str:
    """The reason of a missing rating; "no rating" if some failed and some are unreadable.

    >>> why_unrated(Verdict(case_id="1", judge="j", ratings=(None,), n_failed=1))
    'failed'
    """
    if verdict.n_failed and verdict.n_unreadable:
        return "no rating"
    return "failed" if verdict.n_failed else "unreadable"


def rating_cell(
    rating: float | None,
    digits: int = 1,
    deviation: float | None = None,
    *,
    missing: str = "unreadable",
) -> Text:
    """A rating, with the standard deviation of its samples if there are several.

    Args:
        rating: None if it is missing.
        digits: after the point.
        deviation: of its samples.
        missing: the text of a missing rating, from `why_unrated`.
    """
    if rating is None:
        return Text(missing, style="yellow")
    spread = "" if deviation is None else f" ± {render.number(deviation, digits)}"
    return Text(f"{render.number(rating, digits)}{spread}")


def ratings_text(verdict: Verdict) -> str:
    """The ratings of both responses of a pair."""
    return ", ".join(render.number(rating, 2) for rating in verdict.ratings)


def votes_text(verdict: Verdict) -> str:
    """Per order, the share of its readable samples that agree with the majority."""
    return ", ".join(render.number(share, 2) for share in verdict.vote_shares)


def probability_cells(verdict: Verdict) -> list[str]:
    """The probabilities of a, b and a tie."""
    return [render.number(share, 3) for share in verdict.probabilities or (None, None, None)]


def wins_text(winners: Mapping[str, int]) -> str:
    """The numbers of wins of a and b, and of ties.

    >>> wins_text({"a": 1200, "tie": 1, "unknown": 2})
    'a 1,200, b 0, ties 1, no winner 2'
    """
    text = f"a {winners.get('a', 0):,}, b {winners.get('b', 0):,}, ties {winners.get('tie', 0):,}"
    unknown = winners.get("unknown", 0)
    return text + (f", no winner {unknown:,}" if unknown else "")
