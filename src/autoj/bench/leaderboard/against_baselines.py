"""Comparisons of a measured judge with baselines, which read nothing or only lengths.

Where the judge's verdicts are at hand the two are compared case by case on the same cases; else
their intervals are compared, which asks for more.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from autoj.bench.base import set_digest
from autoj.bench.eval_p.paired import FIGURE_SCORES
from autoj.bench.leaderboard.board import BaselineComparison, BoardRow
from autoj.errors import DataError
from autoj.metrics import SHARES, difference
from autoj.metrics.result import Result
from autoj.metrics.rows import pair_row
from autoj.records import Case, Estimate, Verdict
from autoj.runs import RunFolder
from autoj.verdicts.baselines import BASELINE_JUDGES, baseline_verdicts


def compare_with_baselines(
    result: Result, path: Path, baselines: Sequence[BoardRow]
) -> list[BaselineComparison]:
    """A judge's figures on pairs compared with each baseline's.

    Each figure is compared with the same figure, never agreement with accuracy.

    Args:
        result: the judge's.
        path: its file; the run that it is of is looked for beside it.
        baselines: their rows on the same cases; empty where these are not at hand,
            and then a result without its run is compared with nothing.

    Raises:
        DataError: the run's verdicts cannot be read.
    """
    wanted = _figures(result)
    judged = _stored(result, path.parent)
    if judged:
        return [
            _paired(result, path, name, figure, judged)
            for figure in wanted
            for name in BASELINE_JUDGES
        ]
    found = []
    for figure in wanted:
        own = result.estimate(figure)
        for row in baselines:
            other = row.figures[figure]
            if row.in_sample or own is None or not isinstance(other, Estimate):
                continue
            found.append(by_intervals(result, path, row.judge, own, other))
    return found


def _figures(result: Result) -> list[str]:
    known = [estimate.name for estimate in result.estimates if estimate.value is not None]
    found = [name for name in known if name in ("agreement", "averaged accuracy")]
    return found or [name for name in known if name == "accuracy"]


def _stored(result: Result, folder: Path) -> list[tuple[Case, Verdict]]:
    """The labelled pairs of a result's run with their verdicts; none where it is not there."""
    if not (folder / "run.json").is_file() or not (folder / "verdicts.jsonl").is_file():
        return []
    try:
        judged = [
            (case, verdict)
            for case, verdict in RunFolder(folder).judged()
            if case.label is not None and len(case.responses) == 2
        ]
    except ValueError as error:
        raise DataError(f"has a run that cannot be read ({error})", path=folder) from None
    own = set_digest(case for case, _ in judged)
    return judged if result.details.get("set") in (None, own) else []


def _paired(
    result: Result,
    path: Path,
    baseline: str,
    figure: str,
    judged: Sequence[tuple[Case, Verdict]],
) -> BaselineComparison:
    cases = [case for case, _ in judged]
    width = _tie_band(result)
    ours = [pair_row(case, verdict, width) for case, verdict in judged]
    theirs = [
        pair_row(case, verdict)
        for case, verdict in zip(cases, baseline_verdicts(baseline, cases), strict=True)
    ]
    found = difference(figure, ours, theirs, FIGURE_SCORES[figure], span=SHARES).estimate
    return BaselineComparison(
        judge=result.judge,
        source=str(path),
        baseline=baseline,
        figure=figure,
        difference=found,
        beats=is_above_zero(found),
    )


def is_above_zero(difference: Estimate) -> bool:
    """Compares by a paired difference: better where its interval lies above zero.

    Args:
        difference: on the same cases. Without an interval, as where it is the same on each of them,
            nobody knows how surely it is above zero, and it beats nothing.
    """
    return difference.low is not None and difference.low > 0


def _tie_band(result: Result) -> float:
    band = result.details.get("tie_band")
    width = band.get("width") if isinstance(band, Mapping) else None
    return float(width) if isinstance(width, int | float) else 0.0


def by_intervals(
    result: Result, path: Path, baseline: str, own: Estimate, other: Estimate
) -> BaselineComparison:
    """Compares by intervals: better where the figure's lies above the baseline's.

    Args:
        result: the judge's.
        path: its file.
        baseline: the baseline's name.
        own: the judge's figure.
        other: the baseline's.
    """
    # A judge that cannot err on such data (the interval has no width) is its own bound.
    highest = other.value if other.high is None else other.high
    lowest = own.low
    return BaselineComparison(
        judge=result.judge,
        source=str(path),
        baseline=baseline,
        figure=own.name,
        difference=None,
        beats=lowest is not None and highest is not None and lowest > highest,
    )
