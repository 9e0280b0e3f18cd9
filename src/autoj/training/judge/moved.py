"""Verdicts that a change of a judge's weights moved: the judge against its export, pair by pair."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from autoj.datasets import open_cases
from autoj.datasets.base import Cases, ReadRow
from autoj.datasets.sampling import sample_cases
from autoj.errors import ConfigError
from autoj.metrics.base import proportion_of
from autoj.metrics.rows import cluster_number
from autoj.records import Case, Estimate, JudgeCard, Verdict
from autoj.runs import RunSpec, make_spec, resolve_run
from autoj.runs.watch import Watch
from autoj.tasks.judge import judge

_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Verdicts of a judge and of its export on the same pairs, in both orders."""

    data: str
    """The name of the pairs' file."""
    protocol: str
    moved: Estimate
    """The share of pairs with another winner; pairs that neither decided are not scored."""
    shift: Estimate
    """The mean distance, from 0 to 1, of the probabilities that response a wins; not scored where a
    verdict has none."""
    largest: float | None
    """The largest of these distances."""
    rating_shift: float | None
    """The mean distance of two ratings of a response, from 1 to 10; None where none are rated."""

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)

    def sentence(self) -> str:
        """The figures in one sentence."""
        its = self.moved
        told = f"{round((its.value or 0.0) * its.n):,} of {its.n:,} verdicts moved"
        if its.value is not None:
            told += f" ({its.value:.1%}"
            if its.low is not None and its.high is not None:
                told += f" [{100 * its.low:.1f}, {100 * its.high:.1f}]"
            told += ")"
        if its.n_unscored:
            told += f", {its.n_unscored:,} were decided by neither"
        if self.shift.value is not None and self.largest is not None:
            told += (
                f"; P(a) is off by {self.shift.value:.4f} on average, by {self.largest:.3f} at most"
            )
        if self.rating_shift is not None:
            told += f"; ratings are off by {self.rating_shift:.3f} on average"
        return f"{told} ({self.data}, {self.protocol})"


def open_pairs(path: Path, limit: int) -> tuple[Cases, list[Case]]:
    """A file's pairs to compare verdicts on; of more than `limit`, a sample drawn by their ids.

    Args:
        path: rows of any format; labels are not needed.
        limit: the most pairs.

    Raises:
        DataError: a row cannot be read.
        ConfigError: the file has no pairs.
    """
    whole = open_cases(path)
    pairs = [case for _, case in whole.readable() if len(case.responses) == 2]
    if not pairs:
        raise ConfigError(f"{path} has no pairs, on which verdicts could be compared")
    drawn = sample_cases(pairs, limit, _SEED)
    made = replace(
        whole,
        read=lambda: (ReadRow(line, case) for line, case in enumerate(drawn, start=1)),
        derivation=f"{len(drawn):,} of {len(pairs):,} pairs, seed {_SEED}",
    )
    return made, drawn


def comparison_spec(card: JudgeCard) -> RunSpec:
    """The settings by which a judge and its export are asked: the judge's own, without critiques.

    Raises:
        ConfigError: the judge does not compare pairs.
    """
    return make_spec("judge", card, critique=False, on_overflow="truncate")


def compare_verdicts(
    before: JudgeCard,
    after: JudgeCard,
    pairs: tuple[Cases, Sequence[Case]],
    folder: Path,
    watch: Watch,
) -> Moved:
    """Judges pairs with a judge and with its export, one after the other.

    Args:
        before: the judge.
        after: the export.
        pairs: the result of `open_pairs`.
        folder: an empty folder for both runs.
        watch: told of the progress.

    Raises:
        Unfinished: a pair has no verdict, as where every request failed.
        BackendError: an engine broke down.
    """
    cases, drawn = pairs
    found: list[list[tuple[Case, Verdict]]] = []
    for name, card in (("before", before), ("after", after)):
        watch.message(f"judging {len(drawn):,} pairs with the judge {name} its export")
        spec = comparison_spec(card)
        run = judge(cases, spec, folder / name, watch=watch)
        run.check_whole()
        found.append(list(resolve_run(run.folder, spec)))
    return count_moved(*found, data=cases.place.name, protocol=spec.protocol)


def count_moved(
    before: Sequence[tuple[Case, Verdict]],
    after: Sequence[tuple[Case, Verdict]],
    *,
    data: str,
    protocol: str,
) -> Moved:
    """The figures of two judges' verdicts on the same cases, in the same order.

    A verdict that only one of them reached has moved: an export whose answers cannot be read any
    more is no better than one that decides otherwise.

    Args:
        before: the cases with the judge's verdicts.
        after: the same cases with the export's.
        data: the name of the cases' file.
        protocol: the name of the protocol.
    """
    changed: list[float] = []
    distances: list[float] = []
    decided: list[int] = []
    known: list[int] = []
    gaps: list[float] = []
    for (case, one), (_, other) in zip(before, after, strict=True):
        cluster = cluster_number(case.cluster)
        if one.winner is not None or other.winner is not None:
            changed.append(float(one.winner != other.winner))
            decided.append(cluster)
        if one.probabilities is not None and other.probabilities is not None:
            distances.append(abs(one.probabilities[0] - other.probabilities[0]))
            known.append(cluster)
        gaps += [
            abs(mine - its)
            for mine, its in zip(one.ratings, other.ratings, strict=False)
            if mine is not None and its is not None
        ]

    def share(name: str, values: list[float], clusters: list[int]) -> Estimate:
        numbers = np.array(clusters, dtype=np.int64)
        return proportion_of(name, np.array(values), numbers, len(before) - len(values))

    return Moved(
        data=data,
        protocol=protocol,
        moved=share("verdicts moved", changed, decided),
        shift=share("shift of probability", distances, known),
        largest=max(distances, default=None),
        rating_shift=fmean(gaps) if gaps else None,
    )
