"""Confusions: between groups of scenarios, and of the scenarios with the lowest recall."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from autoj.bench.base import group_name
from autoj.metrics import Ints
from autoj.metrics.base import proportion_of
from autoj.records import Estimate
from autoj.scenarios import groups

UNREADABLE = "(unreadable)"
"""The column of rows whose guess could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConfusion:
    """Counts of rows by true group and predicted group."""

    labels: tuple[str, ...]
    """The groups of the rows, in the paper's order."""
    guesses: tuple[str, ...]
    """The groups that were named or that rows are of; `UNREADABLE` where there is such a row."""
    counts: tuple[tuple[int, ...], ...]
    """Per group of the rows, the rows taken for each of `guesses`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confused:
    """A scenario that was confused with another."""

    label: str
    guess: str | None
    """None where it could not be read."""
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A scenario whose rows were not all recognised."""

    scenario: str
    right: Estimate
    """The share of its rows that were."""
    can_be_named: bool
    """True where the classifier knows the scenario at all."""
    taken_for: tuple[Confused, ...]
    """The predictions for the others, most frequent first."""


def group_confusion(labels: Sequence[str], guesses: Sequence[str | None]) -> GroupConfusion:
    """Rows by the group of their scenario and by the predicted group.

    Args:
        labels: each row's scenario.
        guesses: the predicted scenario; None where it could not be read.
    """
    pairs = Counter(
        (_group(label), UNREADABLE if guess is None else _group(guess))
        for label, guess in zip(labels, guesses, strict=True)
    )
    order = tuple(groups())
    rows = in_order({label for label, _ in pairs}, order)
    columns = in_order({guess for _, guess in pairs} | (set(rows) & set(order)), order)
    return GroupConfusion(
        labels=rows,
        guesses=columns,
        counts=tuple(tuple(pairs[row, column] for column in columns) for row in rows),
    )


def _group(scenario: str) -> str:
    return str(group_name(scenario))


def in_order(names: Set[str], order: Sequence[str]) -> tuple[str, ...]:
    """Names as the taxonomy orders them, then other names, then the unreadable."""
    known = [name for name in order if name in names]
    return (*known, *sorted(names - set(order) - {UNREADABLE}), *sorted(names & {UNREADABLE}))


def confused(labels: Sequence[str], guesses: Sequence[str | None]) -> list[Confused]:
    """Each pair of a scenario and its wrong prediction, most frequent first."""
    pairs = Counter(
        (label, guess) for label, guess in zip(labels, guesses, strict=True) if label != guess
    )
    found = [Confused(label=label, guess=guess, n=n) for (label, guess), n in pairs.items()]
    return sorted(found, key=lambda one: (-one.n, one.label, one.guess or ""))


def missed(
    labels: Sequence[str], guesses: Sequence[str | None], clusters: Ints, known: Set[str]
) -> list[Missed]:
    """The scenarios that were not always recognised, the worst first.

    The worst is that of which the most can be excluded: the one with the lowest upper end of its
    accuracy's interval. Two rows that are both missed say less than fifty of eighty.

    Args:
        labels: each row's scenario.
        guesses: the predicted scenario; None where it could not be read.
        clusters: `[n]`, a number that rows of one query share.
        known: the scenarios that the classifier can name.
    """
    by_label: dict[str, list[Confused]] = {}
    for one in confused(labels, guesses):
        by_label.setdefault(one.label, []).append(one)
    right = np.array([a == b for a, b in zip(labels, guesses, strict=True)], dtype=np.float64)
    found: list[Missed] = []
    for scenario, others in by_label.items():
        chosen = np.array([label == scenario for label in labels], dtype=bool)
        found.append(
            Missed(
                scenario=scenario,
                right=proportion_of("accuracy", right[chosen], clusters[chosen]),
                can_be_named=scenario in known,
                taken_for=tuple(others),
            )
        )
    return sorted(found, key=lambda one: (one.right.high or 0.0, one.scenario))
