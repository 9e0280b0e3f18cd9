"""Decide above a confidence alone: a stored run's unsure verdicts become ties, or unresolved."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autoj.errors import ConfigError
from autoj.jsonl import write_records
from autoj.metrics.base import proportion_of
from autoj.metrics.rows import cluster_number
from autoj.records import Case, Estimate, Verdict
from autoj.runs import RunFolder, resolve_run
from autoj.verdicts.sureness import HandTo, confidence_of, hand_over


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The verdicts of a run, decided above a confidence alone."""

    run: str
    judge: str
    above: float
    """A verdict with a lower confidence was handed over."""
    to: HandTo
    n: int
    """Pairs with a verdict."""
    n_handed: int
    """Those that were handed over."""
    n_without: int
    """Pairs without a confidence, which stay as they are."""
    before: Mapping[str, int]
    """Pairs by winner; "unknown" where there is none."""
    after: Mapping[str, int]
    accuracy_before: Estimate | None
    """The share of winners that are the label; None where no pair has a label."""
    accuracy_after: Estimate | None
    out: str | None
    """The file of the verdicts."""


def decide(
    run: Path, *, to: HandTo, above: float | None = None, out: Path | None = None
) -> Decided:
    """Hand a run's unsure verdicts to ties or to nobody; the run and its ledger stay as they are.

    Args:
        run: the folder of a run on pairs.
        to: "tie" or "unresolved".
        above: the least confidence of a verdict that stands, 0 to 1; None takes the threshold of
            the judge's card.
        out: a file for the verdicts, one line a case, like the run's `verdicts.jsonl`; None writes
            none.

    Raises:
        ConfigError: there is no threshold, or no verdict has a confidence, or the file is one of
            the run's.
        DataError: the folder holds no run, or a file is damaged.
    """
    folder = RunFolder.existing(run)
    spec = folder.spec()
    below = _threshold(above, None if spec.sure_threshold is None else spec.sure_threshold.below)
    if out is not None and out.resolve().parent == run.resolve():
        raise ConfigError(f"--out {out} lies in the run's folder, whose files are the run's own")
    judged = list(resolve_run(folder, spec))
    decided = [hand_over(verdict, below, to) for _, verdict in judged]
    n_without = sum(confidence_of(verdict) is None for _, verdict in judged)
    if n_without == len(judged):
        raise ConfigError(
            f"{run} has no verdict with a confidence: they need a winner, and probabilities of "
            "both orders or of two ratings with a calibration"
        )
    if out is not None:
        write_records(out, decided)
    cases, verdicts = [case for case, _ in judged], [verdict for _, verdict in judged]
    return Decided(
        run=str(run),
        judge=spec.judge.name,
        above=below,
        to=to,
        n=len(judged),
        n_handed=sum(one is not other for one, other in zip(verdicts, decided, strict=True)),
        n_without=n_without,
        before=_winners(verdicts),
        after=_winners(decided),
        accuracy_before=_accuracy(cases, verdicts),
        accuracy_after=_accuracy(cases, decided),
        out=None if out is None else str(out),
    )


def _threshold(above: float | None, of_card: float | None) -> float:
    wanted = of_card if above is None else above
    if wanted is None:
        raise ConfigError(
            "the judge's card, as this run was made with it, has no confidence below which "
            "verdicts are unsure",
            hint="Name one with --above; or fit one (autoj calibrate RUN --right 0.85 --write "
            "CARD) and repeat the command that made the run: it asks nothing again.",
        )
    if not 0 <= wanted <= 1:
        raise ConfigError(f"--above is {wanted:g}; expected a confidence between 0 and 1")
    return wanted


def _winners(verdicts: list[Verdict]) -> Mapping[str, int]:
    return Counter(verdict.winner or "unknown" for verdict in verdicts)


def _accuracy(cases: list[Case], verdicts: list[Verdict]) -> Estimate | None:
    """The share of known winners that are the label; those without a winner are unscored."""
    labelled = [
        (case, verdict)
        for case, verdict in zip(cases, verdicts, strict=True)
        if isinstance(case.label, str)
    ]
    if not labelled:
        return None
    known = [(case, verdict) for case, verdict in labelled if verdict.winner is not None]
    right = np.array([verdict.winner == case.label for case, verdict in known], dtype=np.float64)
    clusters = np.array([cluster_number(case.cluster) for case, _ in known], dtype=np.int64)
    return proportion_of("accuracy", right, clusters, len(labelled) - len(known))
