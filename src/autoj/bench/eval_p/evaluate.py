"""Eval-P: agreement of a judge's verdicts on pairs with human labels (paper, sections 5.1 and 6.1).

Four figures that must not be mixed: **accuracy** (one order equals the label), **agreement** (both
orders agree and equal it: the paper's figure), **consistency** (both orders agree), **averaged
accuracy** (the verdict of both orders' averaged probabilities, or of two ratings, equals it: stands
beside reward models' figures). Kappa and the decided pairs' accuracy stand beside them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from autoj.bench.base import (
    broken_down,
    group_name,
    in_paper_order,
    lost_counts,
    set_digest,
)
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.inputs import open_file
from autoj.metrics import Row, accuracy, agreement, averaged_accuracy, by, consistency, kappa
from autoj.metrics.base import Rows, select
from autoj.metrics.result import Result
from autoj.metrics.rows import pair_row
from autoj.records import Calibration, Case, Estimate, Verdict
from autoj.scenarios import groups, resolve_scenario
from autoj.verdicts.baselines import BASELINE_JUDGES, baseline_verdicts

_GRID = tuple(step / 100 for step in range(201))
"""The paper's leaderboard searches the tie threshold of reward models from 0 to 2.0 by 0.01."""
_MOST_BYTES = 1_000_000
"""The longest list of scenarios."""

BREAKDOWNS: Mapping[str, Callable[[Row], str | None]] = {
    "group": lambda row: group_name(row.scenario),
    "scenario": lambda row: row.scenario,
    "subset": lambda row: row.subset,
    "style": lambda row: row.style,
}
"""The breakdowns, each with the function that names a row's part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TieBand:
    """The largest difference of two ratings that is a tie, and the data it was chosen on."""

    width: float
    """Two ratings that differ by no more are a tie."""
    chosen_on: str


def fit_tie_band(cases: Sequence[Case], verdicts: Sequence[Verdict], chosen_on: str) -> TieBand:
    """The tie band from 0 to 2.0 by 0.01 with the highest accuracy; the narrowest of equals.

    Chosen on the set that is then scored, it is in-sample and flatters: the release's leaderboard
    does so. Choose it on a validation set.

    Args:
        cases: pairs with labels.
        verdicts: their ratings.
        chosen_on: a name of the set.

    Raises:
        ConfigError: no pair has two ratings and a label.
    """
    known = [
        (verdict.ratings[0] - verdict.ratings[1], case.label)
        for case, verdict in zip(cases, verdicts, strict=True)
        if len(verdict.ratings) == 2
        and verdict.ratings[0] is not None
        and verdict.ratings[1] is not None
        and case.label is not None
    ]
    if not known:
        raise ConfigError(
            f"no pair of {chosen_on} has two ratings and a label, so no tie band can be chosen"
        )
    gaps = np.round([gap for gap, _ in known], 9)
    wanted = np.array([{"a": 1, "b": -1}.get(str(label), 0) for _, label in known])

    def n_right(width: float) -> int:
        return int((np.where(np.abs(gaps) <= width, 0, np.sign(gaps)) == wanted).sum())

    return TieBand(width=max(_GRID, key=n_right), chosen_on=chosen_on)


def figures(rows: Rows) -> tuple[Estimate, ...]:
    """All figures of some pairs; one that is not applicable to these verdicts says why."""
    decided = select(rows, lambda row: row.label in ("a", "b"))
    return (
        _with_orders(accuracy.compute, rows, 1),
        _with_orders(agreement.compute, rows, 2),
        _with_orders(consistency.compute, rows, 2),
        _averaged(rows),
        kappa.compute(rows, lambda row: row.winners[0] if row.winners else row.averaged),
        replace(_with_orders(accuracy.compute, decided, 1), name="accuracy, decided"),
        replace(_averaged(decided), name="averaged accuracy, decided"),
    )


def _with_orders(compute: Callable[[Rows], Estimate], rows: Rows, n_orders: int) -> Estimate:
    found = compute(rows)
    if rows and all(len(row.winners) < n_orders for row in rows):
        alone = all(not row.winners for row in rows)
        reason = "each response is rated alone" if alone else "only one order was judged"
        return replace(found, reason=f"not applicable: {reason}", n_unscored=0, bounds=None)
    return found


def _averaged(rows: Rows) -> Estimate:
    found = averaged_accuracy.compute(rows)
    if (
        rows
        and all(row.averaged is None for row in rows)
        and not any(_is_rated(row) for row in rows)
    ):
        reason = "not applicable: there are no probabilities to average"
        return replace(found, reason=reason, n_unscored=0, bounds=None)
    return found


def _is_rated(row: Row) -> bool:
    return not row.winners


def evaluate(
    cases: Sequence[Case],
    verdicts: Sequence[Verdict],
    *,
    judge: str,
    source: str,
    tie_band: TieBand | None = None,
    calibration: Calibration | None = None,
    unseen: frozenset[str] | None = None,
    bench: str = "eval-p",
) -> Result:
    """The figures of a judge over all cases, by group, scenario and subset.

    Args:
        cases: pairs with labels.
        verdicts: the judge's, in the same order.
        judge: its name.
        source: the origin of the verdicts.
        tie_band: for judges that rate each response alone; None makes equal ratings alone a tie.
        calibration: the calibration that the verdicts were resolved with, if any; it is noted.
        unseen: scenarios that the judge was not trained on; adds seen, unseen and complete.
        bench: the meta-evaluation's name.
    """
    width = tie_band.width if tie_band else 0.0
    rows = [pair_row(case, verdict, width) for case, verdict in zip(cases, verdicts, strict=True)]
    parts = broken_down(in_paper_order(rows), figures, BREAKDOWNS)
    if unseen is not None:
        split = by(rows, lambda row: "unseen" if row.scenario in unseen else "seen")
        parts["seen and unseen"] = {
            **{name: figures(split.get(name, [])) for name in ("seen", "unseen")},
            "complete": figures(rows),
        }
    return Result(
        bench=bench,
        judge=judge,
        source=source,
        n_cases=len(cases),
        estimates=figures(rows),
        parts=parts,
        notes=_notes(verdicts, tie_band, calibration),
        details={
            "set": set_digest(cases),
            **lost_counts(verdicts),
            **({"tie_band": tie_band} if tie_band else {}),
            **({"calibration": calibration} if calibration else {}),
            **({"unseen": sorted(unseen)} if unseen is not None else {}),
        },
    )


def _notes(
    verdicts: Sequence[Verdict], tie_band: TieBand | None, calibration: Calibration | None
) -> tuple[str, ...]:
    rated = any(verdict.ratings for verdict in verdicts)
    if calibration is not None:
        return (_calibrated(calibration, rated=rated),)
    if not rated:
        return ()
    if tie_band is None:
        return ("Each response is rated alone; equal ratings are a tie.",)
    note = (
        f"Each response is rated alone; ratings that differ by at most {tie_band.width:.2f} are a "
        f"tie, a width chosen on {tie_band.chosen_on}."
    )
    if tie_band.width == _GRID[-1]:
        note += " It is the widest in the search; a wider one may be better."
    return (note,)


def _calibrated(calibration: Calibration, *, rated: bool) -> str:
    what, by = "ties", f"temperature {calibration.temperature:g}, tie {calibration.tie:g}"
    if calibration.surface:
        what, by = "winners and ties", f"{by}, style features of the responses"
    data = calibration.fitted_on or "unnamed data"
    fitted = f"{what} by the card's calibration ({by}), fitted on {data}."
    if rated:
        return f"Each response is rated alone; {fitted}"
    return f"The averaged verdict has {fitted} The other figures are of each order's raw verdict."


def baseline_results(cases: Sequence[Case], bench: str = "eval-p") -> list[Result]:
    """The same figures of the baselines, which read nothing or only lengths."""
    return [
        Result(
            bench=bench,
            judge=name,
            source=does,
            n_cases=len(cases),
            estimates=figures(
                [
                    pair_row(case, verdict)
                    for case, verdict in zip(cases, baseline_verdicts(name, cases), strict=True)
                ]
            ),
        )
        for name, (does, _) in BASELINE_JUDGES.items()
    ]


def read_unseen(path: Path) -> frozenset[str]:
    """The scenarios of a file: one name a line (or a JSON list); a group's name stands for all its.

    Raises:
        DataError: the file is missing, empty, or names no scenario and no group.
    """
    with open_file(path) as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DataError(f"is longer than {_MOST_BYTES:,} bytes", path=path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("is not UTF-8", path=path) from None
    found: set[str] = set()
    for line, name in _names(text, path):
        try:
            found.update(groups().get(name) or [resolve_scenario(name)])
        except UnknownComponent as error:
            raise DataError(error.message, path=path, line=line, hint=error.hint) from None
    if not found:
        raise DataError("has no scenario", path=path)
    return frozenset(found)


def _names(text: str, path: Path) -> list[tuple[int, str]]:
    if not text.lstrip().startswith("["):
        return [
            (line, name.strip())
            for line, name in enumerate(text.splitlines(), start=1)
            if name.strip()
        ]
    try:
        return [(index, str(name)) for index, name in enumerate(json.loads(text), start=1)]
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON ({error})", path=path) from None
