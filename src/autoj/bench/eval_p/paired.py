"""Two judges on the same pairs: paired differences of their figures, overall and by part."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from autoj.bench.eval_p.evaluate import BREAKDOWNS, TieBand
from autoj.metrics import SHARES, Difference, Row, by, difference, holm
from autoj.metrics.base import Score
from autoj.metrics.rows import pair_row
from autoj.records import Case, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureDifference:
    """One judge's figure less another's on the same cases, overall and by part."""

    figure: str
    overall: Difference
    parts: Mapping[str, Difference]
    corrected: Mapping[str, float]
    """Each part's p-value after Holm's correction for looking at all parts."""


FIGURE_SCORES: Mapping[str, Score] = {
    "accuracy": lambda row: (
        float(row.winners[0] == row.label) if row.winners and row.winners[0] is not None else None
    ),
    "agreement": lambda row: (
        None if row.consistent is None else float(row.consistent and row.winners[0] == row.label)
    ),
    "consistency": lambda row: None if row.consistent is None else float(row.consistent),
    "averaged accuracy": lambda row: (
        None if row.averaged is None else float(row.averaged == row.label)
    ),
    "averaged accuracy, decided": lambda row: (
        None
        if row.averaged is None or row.label not in ("a", "b")
        else float(row.averaged == row.label)
    ),
}
"""A case's share of each figure, for differences of two judges."""


def compare(
    cases: Sequence[Case],
    one: Sequence[Verdict],
    other: Sequence[Verdict],
    breakdown: str = "scenario",
    tie_band: TieBand | None = None,
) -> list[FigureDifference]:
    """Paired differences of two judges' figures; those that both have.

    Args:
        cases: pairs with labels.
        one: a judge's verdicts, in the same order.
        other: another judge's.
        breakdown: "group", "scenario", "subset" or "style".
        tie_band: for ratings, of both judges.
    """
    labelled = [case.label is not None for case in cases]
    rows, others = (
        [
            pair_row(case, verdict, tie_band.width if tie_band else 0.0)
            for case, verdict, keep in zip(cases, verdicts, labelled, strict=True)
            if keep
        ]
        for verdicts in (one, other)
    )
    found = [
        _comparison(figure, score, rows, others, BREAKDOWNS[breakdown])
        for figure, score in FIGURE_SCORES.items()
    ]
    return [comparison for comparison in found if comparison.overall.estimate.value is not None]


def _comparison(
    figure: str,
    score: Score,
    one: Sequence[Row],
    other: Sequence[Row],
    name_of: Callable[[Row], str | None],
) -> FigureDifference:
    ours, theirs = by(one, name_of), by(other, name_of)
    parts = {
        name: difference(figure, rows, theirs[name], score, span=SHARES)
        for name, rows in ours.items()
    }
    known = {name: its.p_value for name, its in parts.items() if its.p_value is not None}
    return FigureDifference(
        figure=figure,
        overall=difference(figure, one, other, score, span=SHARES),
        parts=parts,
        corrected=holm(known),
    )
