"""Two runs on the same cases: the verdicts that differ, and figures of their agreement."""

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autoj.errors import ConfigError, DataError
from autoj.jsonl import encode
from autoj.metrics import Difference as PairedDifference
from autoj.metrics import Row, correlation, difference, kappa, mean_rating
from autoj.metrics.base import proportion
from autoj.metrics.rows import cluster_number, pair_row, rating_rows
from autoj.records import Case, Estimate, Verdict, Winner
from autoj.runs.authors import Authors, AuthorTally
from autoj.runs.settings import differences, read_settings, read_spec, stable_part
from autoj.runs.spec import RunSpec
from autoj.tasks.run import Run
from autoj.tasks.stored import Matched, Stored, judged, open_stored

RATINGS_DIFFER = 1.0
"""Two ratings that are at least this far apart, on the scale 1 to 10, are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingCase:
    """A case, or one of its rated responses, with the verdicts of two runs on it."""

    case_id: str
    query: str
    response: int | None = None
    """Of ratings: the response's position, from 0."""
    label: Winner | float | None
    one: Winner | float | None
    """The first run's winner or rating; None where it has none."""
    other: Winner | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """Two runs' figures against human labels, on the cases that both decided."""

    one: Estimate
    """The share of the first run's verdicts that equal the label."""
    other: Estimate
    difference: PairedDifference
    """The first run's share less the other's, case by case."""
    both: int
    """Cases in which both runs equal the label."""
    one_alone: int
    other_alone: int
    neither: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """Two folders on the same data, and the cases (of a selection, the queries) that both have."""

    paths: tuple[str, str]
    judges: tuple[str, str]
    n_both: int
    """Cases of both: the same id, query and responses."""
    n_alone: tuple[int, int]
    """Cases that only one of them has."""
    n_changed: int
    """Cases with one id and different texts; they are not compared."""
    settings: tuple[tuple[str, Any, Any], ...]
    """Settings that differ, by their names in `run.json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDiff(Diff):
    """Two runs compared on the cases that both judged."""

    estimates: tuple[Estimate, ...]
    """Of pairs: the share with the same winner, and Cohen's kappa. Of ratings: correlations, and
    the mean rating of either run."""
    winners: tuple[dict[str, int], dict[str, int]]
    """Of pairs: each run's wins; "unknown" counts cases without a winner."""
    labelled: Against | None
    mean_difference: PairedDifference | None
    """Of ratings: the first run's less the other's, response by response."""
    authors: Authors
    n_differing: int
    differing: tuple[DifferingCase, ...]
    """Cases with different winners, in the order of the first run; of ratings, those furthest apart
    first."""


def diff_runs(one: Path, other: Path) -> RunDiff:
    """Compares two runs, or juries, on the cases that both judged.

    Args:
        one: the folder of a run, finished or not.
        other: another one's, on the same data.

    Raises:
        ConfigError: one compares and the other rates.
        DataError: a folder is no run, or they have no case in common.
    """
    runs = open_stored(one), open_stored(other)
    paired = _is_paired(runs[0])
    if paired != _is_paired(runs[1]):
        raise ConfigError(
            f"{one} and {other} cannot be compared: one has winners of pairs, the other ratings"
        )
    matched = Matched((judged(runs[0]), judged(runs[1])), (one, other))
    both = list(matched.both())
    if not both:
        changed = f"{matched.n_changed:,} have the same id and other texts"
        raise DataError(
            f"has no case in common with {one}" + (f": {changed}" if matched.n_changed else ""),
            path=other,
            hint="Compare runs on the same data.",
        )
    tally = AuthorTally()
    for case, _, _ in both:
        tally.add(case)
    common: dict[str, Any] = {
        "paths": (str(one), str(other)),
        "judges": (_judge(runs[0]), _judge(runs[1])),
        "n_both": len(both),
        "n_alone": matched.n_alone,
        "n_changed": matched.n_changed,
        "settings": differing_settings(runs, (one, other)),
        "authors": tally.found(),
    }
    return _of_pairs(both, common) if paired else _of_ratings(both, common)


_Both = list[tuple[Case, Verdict, Verdict]]


def _is_paired(stored: Stored) -> bool:
    if isinstance(stored, Run):
        if stored.spec.task in ("select", "classify"):
            raise ConfigError(f"{stored.path} is a run of autoj {stored.spec.task}")
        return stored.spec.paired
    return stored.jury.paired


def _judge(stored: Stored) -> str:
    if isinstance(stored, Run):
        return stored.spec.judge.name
    return f"jury of {len(stored.jury.jurors)}"


def differing_settings(
    runs: tuple[Stored, Stored], paths: tuple[Path, Path]
) -> tuple[tuple[str, Any, Any], ...]:
    """The settings that differ between two runs of one judge each."""
    if not all(isinstance(run, Run) for run in runs):
        return ()
    one, other = (stable_part(read_settings(path)) for path in paths)
    found = differences(one["spec"], other["spec"])
    mine, its = (_reading_settings(read_spec(path)) for path in paths)
    return tuple(tuple(each) for each in [*found, *differences(mine, its)])


def _reading_settings(spec: RunSpec) -> dict[str, str | None]:
    """Digests of what the verdicts follow from, and the questions do not: a run may change it."""
    kept = {"prompt.text": spec.prompt, "judge.calibration": spec.calibration}
    return {
        name: None if value is None else hashlib.sha256(encode(value)).hexdigest()[:12]
        for name, value in kept.items()
    }


def _of_pairs(both: _Both, common: dict[str, Any]) -> RunDiff:
    clusters = [cluster_number(case.cluster) for case, _, _ in both]
    # One run's winner stands in the place of the label.
    rows = [
        Row(cluster, its.winner, mine.winner, (), None, None)
        for cluster, (_, mine, its) in zip(clusters, both, strict=True)
    ]
    decided = [row for row in rows if row.label is not None and row.winner is not None]
    differing = tuple(
        DifferingCase(
            case_id=case.id, query=case.query, label=case.label, one=mine.winner, other=its.winner
        )
        for case, mine, its in both
        if mine.winner != its.winner
    )
    return RunDiff(
        **common,
        estimates=(
            proportion("same winner", rows, _is_same),
            kappa.compute(decided, lambda row: row.winner),
        ),
        winners=(
            dict(Counter(mine.winner or "unknown" for _, mine, _ in both)),
            dict(Counter(its.winner or "unknown" for _, _, its in both)),
        ),
        labelled=_against_labels(both),
        mean_difference=None,
        n_differing=len(differing),
        differing=differing,
    )


def _is_same(row: Row) -> float | None:
    return None if row.label is None or row.winner is None else float(row.label == row.winner)


def _decided(case: Case, verdict: Verdict) -> Row:
    """The row of a pair, with the verdict's own winner by whatever rule."""
    return pair_row(case, verdict)._replace(winner=verdict.winner)


def _against_labels(both: _Both) -> Against | None:
    """Figures on the labelled cases; None where there are none."""
    labelled = [item for item in both if isinstance(item[0].label, str)]
    if not labelled:
        return None
    one = [_decided(case, mine) for case, mine, _ in labelled]
    other = [_decided(case, its) for case, _, its in labelled]
    counts = Counter(
        (bool(mine), bool(its))
        for row, its_row in zip(one, other, strict=True)
        if (mine := _is_same(row)) is not None and (its := _is_same(its_row)) is not None
    )
    return Against(
        one=proportion("verdict accuracy", one, _is_same),
        other=proportion("verdict accuracy", other, _is_same),
        difference=difference("verdict accuracy", one, other, _is_same, span=(0.0, 1.0)),
        both=counts[True, True],
        one_alone=counts[True, False],
        other_alone=counts[False, True],
        neither=counts[False, False],
    )


def _of_ratings(both: _Both, common: dict[str, Any]) -> RunDiff:
    one = [row for case, mine, _ in both for row in rating_rows(case, mine)]
    other = [row for case, _, its in both for row in rating_rows(case, its)]
    places = [(case, index) for case, _, _ in both for index in range(len(case.responses))]
    known = [
        (row.cluster, row.rating, its.rating)
        for row, its in zip(one, other, strict=True)
        if row.rating is not None and its.rating is not None
    ]
    x, y = (np.array([item[at] for item in known], dtype=np.float64) for at in (1, 2))
    clusters = np.array([cluster for cluster, _, _ in known], dtype=np.int64)
    n_unscored = len(one) - len(known)
    coefficients: tuple[correlation.Coefficient, ...] = ("pearson", "spearman")
    gaps = sorted(
        (
            (abs(row.rating - its.rating), at)
            for at, (row, its) in enumerate(zip(one, other, strict=True))
            if row.rating is not None and its.rating is not None
        ),
        key=lambda gap: (-gap[0], gap[1]),
    )
    differing = tuple(
        DifferingCase(
            case_id=places[at][0].id,
            query=places[at][0].query,
            response=places[at][1],
            label=one[at].label,
            one=one[at].rating,
            other=other[at].rating,
        )
        for gap, at in gaps
        if gap >= RATINGS_DIFFER
    )
    return RunDiff(
        **common,
        estimates=(
            *(
                correlation.correlate(
                    name, x, y, name, clusters=clusters, n_unscored=n_unscored
                ).estimate
                for name in coefficients
            ),
            mean_rating.compute(one),
            mean_rating.compute(other),
        ),
        winners=({}, {}),
        labelled=None,
        mean_difference=difference(
            "mean rating", one, other, lambda row: row.rating, span=mean_rating.SPAN
        ),
        n_differing=len(differing),
        differing=differing,
    )
