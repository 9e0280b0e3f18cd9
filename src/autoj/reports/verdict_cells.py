"""What a table says of one verdict: its winner, its ratings and how far its draws agree."""

from __future__ import annotations

from rich.text import Text

from autoj.records import Verdict

__all__ = ["rating_cell", "ratings_text", "votes_text", "why_unrated", "winner_cell"]


def winner_cell(verdict: Verdict) -> Text:
    """Its winner, or why there is none."""
    if verdict.winner is not None:
        return Text(verdict.winner, style="bold")
    if verdict.rule == "split":
        return Text("split", style="yellow")
    return Text("failed" if verdict.n_failed else "unknown", style="yellow")


def why_unrated(verdict: Verdict) -> str:
    """Why a rating is missing; where some failed and some are unreadable, only that it is.

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
    """A rating, with the standard deviation of its draws where it was asked several times.

    Args:
        rating: None where there is none.
        digits: after the point.
        deviation: of its draws.
        missing: what is said where there is none, from `why_unrated`.
    """
    if rating is None:
        return Text(missing, style="yellow")
    spread = "" if deviation is None else f" ± {deviation:.{digits}f}"
    return Text(f"{rating:.{digits}f}{spread}")


def ratings_text(verdict: Verdict) -> str:
    """The ratings of both responses of a pair."""
    return ", ".join("-" if rating is None else f"{rating:.2f}" for rating in verdict.ratings)


def votes_text(verdict: Verdict) -> str:
    """Per order, the share of its readable draws that state what most of them state."""
    return ", ".join("-" if share is None else f"{share:.2f}" for share in verdict.vote_shares)
