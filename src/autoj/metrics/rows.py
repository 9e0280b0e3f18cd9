"""Builds the rows that metrics read, from cases and their verdicts."""

import zlib
from collections.abc import Sequence

from autoj.metrics.base import Row
from autoj.records import BudgetedVerdict, Case, CaseOutline, Verdict, Winner, likeliest


def cluster_number(cluster: str) -> int:
    """A number for a normalised query, the same in every process.

    >>> cluster_number("whatis22") == cluster_number("whatis22") != cluster_number("other")
    True
    """
    text = cluster.encode()
    # Two checksums distinguish millions of queries in a fifth of a digest's time.
    return zlib.crc32(text) << 31 ^ zlib.adler32(text)


def pair_row(case: Case | CaseOutline, verdict: Verdict, tie_band: float = 0.0) -> Row:
    """The row of a pair: judged in one order or both, or each response rated alone.

    Args:
        case: the pair; without its texts the row has no lengths.
        verdict: its verdict.
        tie_band: ratings that differ by at most this much tie. Ratings with a calibration are
            compared by it and ignore the band.
    """
    # Probabilities of a single order are not averaged over anything.
    whole = len(verdict.winners) == 2 or bool(verdict.ratings)
    known = verdict.probabilities if whole else None
    averaged = None if known is None else likeliest(known)
    if verdict.ratings and known is None:
        averaged = _by_ratings(verdict.ratings, tie_band)
    return Row(
        cluster=cluster_number(case.cluster),
        label=case.label,
        winner=averaged if verdict.ratings else verdict.winner,
        winners=verdict.winners,
        consistent=verdict.consistent,
        scenario=case.scenario,
        subset=_subset(case) if case.meta else None,
        style=_style(case) if case.meta else None,
        averaged=averaged,
        probabilities=known,
        lengths=_lengths(case),
    )


def rows_by_turn(row: Row, verdict: BudgetedVerdict) -> tuple[Row, Row | None]:
    """A pair by the first order where that is sure, and by both orders if it was drawn.

    Args:
        row: its row, from all orders that were asked.
        verdict: its verdict.
    """
    cheap = row
    if verdict.first_sure:
        first = row.winners[0] if row.winners else None
        # A sure first order stands for both.
        cheap = row._replace(
            winner=first, winners=(first, first), consistent=None if first is None else True
        )
    return cheap, row if verdict.drawn and verdict.n_orders == 2 else None


def rating_rows(case: Case, verdict: Verdict) -> list[Row]:
    """One row per rated response; its label is its reference score, or the case's own label.

    Args:
        case: what was rated.
        verdict: its ratings; none where nothing could be read.
    """
    row = Row(
        cluster=cluster_number(case.cluster),
        label=case.label,
        winner=None,
        winners=(),
        consistent=None,
        scenario=case.scenario,
        subset=_subset(case),
    )
    ratings = verdict.ratings or (None,) * len(case.responses)
    return [
        row._replace(rating=rating, label=label)
        for label, rating in zip(response_labels(case), ratings, strict=True)
    ]


def scored_row(case: Case, score: float | None) -> Row:
    """A row that holds one score of a case, in `rating`."""
    return Row(
        cluster=cluster_number(case.cluster),
        label=None,
        winner=None,
        winners=(),
        consistent=None,
        scenario=case.scenario,
        rating=score,
    )


def response_labels(case: Case) -> list[Winner | float | None]:
    """The label of each rated response: its reference score, or the case's own label."""
    return [
        case.label if response.reference_score is None else response.reference_score
        for response in case.responses
    ]


def _by_ratings(ratings: Sequence[float | None], tie_band: float) -> Winner | None:
    if len(ratings) != 2 or ratings[0] is None or ratings[1] is None:
        return None
    # The grid's steps are decimal: 0.3 - 0.1 must lie within a band of 0.2.
    gap = round(ratings[0] - ratings[1], 9)
    if abs(gap) <= tie_band:
        return "tie"
    return "a" if gap > 0 else "b"


def _subset(case: Case | CaseOutline) -> str | None:
    subset = case.meta.get("subset", case.meta.get("domain"))
    return subset if isinstance(subset, str) else None


def _style(case: Case | CaseOutline) -> str | None:
    """RM-Bench's three grades, from two styles: plain (0), detailed (1), detailed with markup (2).

    **Source:** Y. Liu et al., "RM-Bench" (2024), section 4.2.
    """
    chosen, rejected = (case.meta.get(f"style_{side}") for side in ("chosen", "rejected"))
    if not isinstance(chosen, int) or not isinstance(rejected, int):
        return None
    if chosen == rejected:
        return "normal"
    return "easy" if chosen > rejected else "hard"


def _lengths(case: Case | CaseOutline) -> tuple[int, int] | None:
    if isinstance(case, CaseOutline) or len(case.responses) != 2:
        return None
    first, second = (len(response.text.strip()) for response in case.responses)
    return first, second
