"""The figures of a scenario classifier on queries with human scenario labels.

`parts["rows"]` has all figures twice where the set has scenarios that a classifier cannot name: on
all rows, where those count as wrong, and without them. `parts["group"]` and `parts["scenario"]`
have the accuracy of each (of a scenario also its F1), on all rows. `details` holds the confusion of
groups, which scenarios were taken for which others, and the bins that the calibration error is
made of.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autoj.bench.base import group_name, set_digest
from autoj.bench.scenario_classifier.confusion import confused, group_confusion, in_order, missed
from autoj.bench.scenario_classifier.guesses import Classified, Guess
from autoj.bench.scenario_classifier.query_set import QuerySet
from autoj.errors import ConfigError
from autoj.metrics import SHARES, Floats, Ints, class_f1, f1
from autoj.metrics.base import mean_of, proportion_of
from autoj.metrics.calibration import calibration_error, reliability_bins
from autoj.metrics.result import Result
from autoj.metrics.rows import cluster_number
from autoj.records import Case, Estimate
from autoj.scenarios import groups, scenario_names

ALL = "all"
"""The name of all rows together."""
TOP = 3
"""The k of top-k accuracy."""
_ONE_CLASS = "no interval: the F1 of one scenario has none"
_EARLY = ("rejecting", "peer_review")
"""Scenarios of the release's data that the paper's final typology lacks (Table 7)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of a set with a classifier's guesses; those that failed are only counted."""

    labels: Sequence[str]
    guesses: Sequence[Guess]
    clusters: Ints
    """`[n]`, a number that rows of one query share."""
    n_failed: int

    @property
    def named(self) -> list[str | None]:
        """The scenario that each row is taken for; None where nothing could be read."""
        return [guess.scenario for guess in self.guesses]

    def __len__(self) -> int:
        return len(self.labels)


def rows_of(cases: Sequence[Case], guesses: Sequence[Guess]) -> Rows:
    """The rows that a classifier said something of, readable or not."""
    kept = [
        (str(case.scenario), guess, cluster_number(case.cluster))
        for case, guess in zip(cases, guesses, strict=True)
        if not guess.failed
    ]
    return Rows(
        labels=[label for label, _, _ in kept],
        guesses=[guess for _, guess, _ in kept],
        clusters=np.array([cluster for _, _, cluster in kept], dtype=np.int64),
        n_failed=len(cases) - len(kept),
    )


def check_labels(found: QuerySet, classified: Classified) -> None:
    """Refuse a classifier that knows none of a set's scenarios.

    Raises:
        ConfigError: it knows none of the set's scenarios.
    """
    names = {str(case.scenario) for case in found.cases}
    if names & classified.labels:
        return
    raise ConfigError(
        f"classifier {classified.classifier!r} knows none of the scenarios of {found.name}: it "
        f"names {_few(classified.labels)}; the rows have {_few(names)}",
        hint="Measure it on queries with the scenarios that it was trained on.",
    )


def _few(names: Iterable[str]) -> str:
    known = sorted(names)
    return ", ".join(known[:5]) + (", …" if len(known) > 5 else "")


def dropped_names(found: QuerySet, classifiers: Sequence[Classified]) -> tuple[str, ...]:
    """The set's scenarios that one of the classifiers cannot name, or that the paper dropped."""
    names = {str(case.scenario) for case in found.cases}
    unknown = {name for each in classifiers for name in names - each.labels}
    return tuple(sorted(unknown | (names & set(_EARLY))))


def views(
    found: QuerySet, guesses: Sequence[Guess], dropped: Sequence[str]
) -> dict[str, tuple[Sequence[Case], Sequence[Guess]]]:
    """The rows that figures are shown for: all, and all but those of dropped scenarios.

    Args:
        found: the set.
        guesses: a classifier's, one a row.
        dropped: scenarios; where there are none, or nothing is left, there is one view.
    """
    kept = [
        (case, guess)
        for case, guess in zip(found.cases, guesses, strict=True)
        if case.scenario not in dropped
    ]
    shown: dict[str, tuple[Sequence[Case], Sequence[Guess]]] = {ALL: (found.cases, guesses)}
    if 0 < len(kept) < len(found.cases):
        cases, its = zip(*kept, strict=True)
        shown[f"without {', '.join(dropped)}"] = (cases, its)
    return shown


def evaluate(found: QuerySet, classified: Classified, dropped: Sequence[str] = ()) -> Result:
    """The figures of a classifier on a set.

    Args:
        found: the set.
        classified: the classifier's guesses.
        dropped: scenarios whose rows count in the first of two views alone.
    """
    shown = views(found, classified.guesses, dropped)
    parts = {name: figures(rows_of(*view)) for name, view in shown.items()}
    rows = rows_of(found.cases, classified.guesses)
    return Result(
        bench=found.bench,
        judge=classified.classifier,
        source=classified.source,
        n_cases=len(found.cases),
        estimates=parts[ALL],
        parts={"rows": parts, "group": _by_group(rows), "scenario": _by_scenario(rows)},
        notes=tuple(_notes(found, classified)),
        details=_details(found, classified, rows, dropped),
    )


def figures(rows: Rows) -> tuple[Estimate, ...]:
    """All figures of some rows.

    Top-3 accuracy, the calibration error and the mean confidence are of classifiers that say how
    sure they are. The calibration error looks at the probability of the scenario that is named, in
    ten bins of equal width.
    """
    labels, named, clusters = rows.labels, rows.named, rows.clusters
    right = hits(rows)
    return (
        proportion_of("accuracy", right, clusters, rows.n_failed),
        f1("macro F1", labels, named, clusters, "macro", rows.n_failed),
        f1("weighted F1", labels, named, clusters, "weighted", rows.n_failed),
        _top_accuracy(rows),
        *_sureness(rows, right),
    )


def hits(rows: Rows, k: int = 1) -> Floats:
    """`[n]`: 1 where the label is among the first `k` scenarios that were named, else 0."""
    return np.array(
        [
            float(label in guess.ranked[:k])
            for label, guess in zip(rows.labels, rows.guesses, strict=True)
        ],
        dtype=np.float64,
    )


def top_hits(rows: Rows) -> Floats | None:
    """`[n]`: 1 where the label is among the likeliest three; None of one that names only one."""
    if all(len(guess.ranked) < 2 for guess in rows.guesses):
        return None
    return hits(rows, TOP)


def _top_accuracy(rows: Rows) -> Estimate:
    name = f"top-{TOP} accuracy"
    if top_hits(rows) is not None or not len(rows):
        return proportion_of(name, hits(rows, TOP), rows.clusters, rows.n_failed)
    return _without(name, "it names only one scenario")


def _sureness(rows: Rows, right: Floats) -> tuple[Estimate, Estimate]:
    known = np.array([guess.probability is not None for guess in rows.guesses], dtype=bool)
    if len(rows) and not known.any():
        reason = "it gives no probabilities"
        return _without("expected calibration error", reason), _without("mean confidence", reason)
    confidence = np.array(
        [guess.probability for guess in rows.guesses if guess.probability is not None],
        dtype=np.float64,
    )
    n_unscored = rows.n_failed + len(rows) - len(confidence)
    clusters = rows.clusters[known]
    return (
        calibration_error(confidence, right[known], clusters, n_unscored),
        mean_of("mean confidence", confidence, clusters, n_unscored, span=SHARES),
    )


def _without(name: str, reason: str) -> Estimate:
    return Estimate(name=name, value=None, n=0, n_clusters=0, reason=f"not applicable: {reason}")


def _by_group(rows: Rows) -> dict[str, tuple[Estimate, ...]]:
    names = [str(group_name(label)) for label in rows.labels]
    order = in_order(set(names), tuple(groups()))
    return {group: (_accuracy_where(rows, names, group),) for group in order}


def _by_scenario(rows: Rows) -> dict[str, tuple[Estimate, ...]]:
    each = class_f1(rows.labels, rows.named)
    found: dict[str, tuple[Estimate, ...]] = {}
    for scenario in in_order(set(rows.labels), scenario_names()):
        right = _accuracy_where(rows, rows.labels, scenario)
        harmonic = replace(
            right, name="F1", value=each[scenario], low=None, high=None, reason=_ONE_CLASS
        )
        found[scenario] = (right, harmonic)
    return found


def _accuracy_where(rows: Rows, names: Sequence[str], wanted: str) -> Estimate:
    chosen = np.array([name == wanted for name in names], dtype=bool)
    return proportion_of("accuracy", hits(rows)[chosen], rows.clusters[chosen])


def _notes(found: QuerySet, classified: Classified) -> Iterable[str]:
    counts = Counter(str(case.scenario) for case in found.cases)
    unknown = {name: n for name, n in counts.items() if name not in classified.labels}
    if unknown:
        listed = ", ".join(f"{name} {n:,}" for name, n in unknown.items())
        yield (
            f"{sum(unknown.values()):,} rows have a scenario that it does not know ({listed}): on "
            "all rows they count as wrong."
        )


def _details(
    found: QuerySet, classified: Classified, rows: Rows, dropped: Sequence[str]
) -> Mapping[str, Any]:
    n_unreadable = sum(guess.scenario is None for guess in rows.guesses)
    known = [
        (guess.probability, float(guess.scenario == label))
        for label, guess in zip(rows.labels, rows.guesses, strict=True)
        if guess.probability is not None
    ]
    confidence, right = np.array(known, dtype=np.float64).reshape(-1, 2).T
    return {
        "set": set_digest(found.cases),
        "set_name": found.name,
        "n_rows": found.n_rows,
        "n_left_out": found.n_left_out,
        "seen": list(found.seen),
        "dropped": list(dropped),
        "digest": classified.digest,
        "n_labels": len(classified.labels),
        "n_unreadable": n_unreadable,
        "n_failed": rows.n_failed,
        "confusion": group_confusion(rows.labels, rows.named),
        "missed": missed(rows.labels, rows.named, rows.clusters, classified.labels),
        "confused": confused(rows.labels, rows.named),
        "reliability": list(reliability_bins(confidence, right)),
    }
