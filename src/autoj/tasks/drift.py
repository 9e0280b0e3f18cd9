"""Drift: a judge asked the same canary cases again after its model, its prompt or its price moved.

A verdict that flipped is one whose winner is another than before. Two runs with equal settings have
no reason to differ but the judge itself, so their share of equal verdicts is its repeatability.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from autoj.errors import ConfigError
from autoj.records import Estimate
from autoj.tasks.diff import RunDiff, diff_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The drift that a user accepts; None sets no limit."""

    most_flipped: float | None = None
    """Share of flipped verdicts, 0 to 1."""
    most_lost: float | None = None
    """Fall of the agreement with labels, 0 to 1."""
    certain: bool = False
    """True where a limit counts as passed only if the whole interval lies beyond it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A run beside its baseline."""

    diff: RunDiff
    """The baseline is `one`, the new run `other`."""
    flipped: Estimate
    """The share of verdicts that flipped, of the cases that both decided."""
    repeatability: Estimate | None
    """The share of equal verdicts where all settings are equal; None where some differ."""
    lost: Estimate | None
    """The baseline's agreement with labels less the new run's; None without labels."""
    limits: Limits
    beyond: tuple[str, ...]
    """The limits that the drift passes, in words; empty where it keeps to all."""


NO_LIMITS = Limits()


def find_drift(baseline: Path, run: Path, limits: Limits = NO_LIMITS) -> Drift:
    """Compares a run with its baseline on the cases that both judged.

    Args:
        baseline: the folder of a run on pairs.
        run: another one's, on the same cases.
        limits: the drift that is accepted.

    Raises:
        ConfigError: the runs rate responses, or a limit needs labels that no case has.
        DataError: a folder is no run, or they have no case in common.
    """
    diff = diff_runs(baseline, run)
    if diff.mean_difference is not None:
        raise ConfigError(
            f"{run} rates responses, and drift is of winners",
            hint=f"autoj diff {baseline} {run} compares ratings.",
        )
    same = diff.estimates[0]
    lost = None if diff.labelled is None else diff.labelled.difference.estimate
    if limits.most_lost is not None and lost is None:
        raise ConfigError("a limit on the agreement with labels needs cases with labels")
    found = Drift(
        diff=diff,
        flipped=_flipped(same),
        repeatability=None if diff.settings else replace(same, name="repeatability"),
        lost=lost,
        limits=limits,
        beyond=(),
    )
    return replace(found, beyond=_beyond(found))


def _flipped(same: Estimate) -> Estimate:
    """The complement of the share with the same winner."""
    return replace(
        same,
        name="flipped",
        value=_complement(same.value),
        low=_complement(same.high),
        high=_complement(same.low),
        bounds=None if same.bounds is None else (1 - same.bounds[1], 1 - same.bounds[0]),
    )


def _complement(share: float | None) -> float | None:
    return None if share is None else 1 - share


def _beyond(drift: Drift) -> tuple[str, ...]:
    limits = drift.limits
    wanted = (
        (drift.flipped, limits.most_flipped, "of the verdicts flipped"),
        (drift.lost, limits.most_lost, "less agreement with labels"),
    )
    found = []
    for estimate, limit, what in wanted:
        if estimate is None or limit is None:
            continue
        reached = estimate.low if limits.certain else estimate.value
        if reached is not None and reached > limit:
            at_least = "at least " if limits.certain else ""
            share = f"{at_least}{100 * reached:.1f} %"
            found.append(f"{share} {what}, and the limit is {100 * limit:g} %")
    return tuple(found)
