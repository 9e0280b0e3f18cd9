"""Two classifiers on the same queries: paired differences of their figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from autoj.bench.scenario_classifier.evaluate import TOP, hits, rows_of, top_hits, views
from autoj.bench.scenario_classifier.guesses import Classified, Guess
from autoj.bench.scenario_classifier.query_set import QuerySet
from autoj.metrics import Difference, difference_of, f1_difference
from autoj.records import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierDifference:
    """One classifier's figures less another's on the same rows."""

    classifier: str
    other: str
    rows: str
    """The rows it is computed on: a view of `figures.views`."""
    differences: tuple[Difference, ...]
    """Of accuracy, macro F1, weighted F1 and, where both rank scenarios, top-3 accuracy."""


def compare_all(
    found: QuerySet, classifiers: Sequence[Classified], dropped: Sequence[str] = ()
) -> list[ClassifierDifference]:
    """Paired differences of all pairs of classifiers, by query; a row counts where both are scored.

    Args:
        found: the set.
        classifiers: their guesses at it.
        dropped: scenarios whose rows count in the first of two views alone.
    """
    return [
        comparison
        for one, other in combinations(classifiers, 2)
        for comparison in _compare(found, one, other, dropped)
    ]


def _compare(
    found: QuerySet, one: Classified, other: Classified, dropped: Sequence[str]
) -> list[ClassifierDifference]:
    ours = views(found, one.guesses, dropped)
    theirs = views(found, other.guesses, dropped)
    return [
        ClassifierDifference(
            classifier=one.classifier,
            other=other.classifier,
            rows=name,
            differences=tuple(_differences(cases, guesses, theirs[name][1])),
        )
        for name, (cases, guesses) in ours.items()
    ]


def _differences(
    cases: Sequence[Case], one: Sequence[Guess], other: Sequence[Guess]
) -> list[Difference]:
    both = [
        (case, mine, its)
        for case, mine, its in zip(cases, one, other, strict=True)
        if not mine.failed and not its.failed
    ]
    kept = [case for case, _, _ in both]
    first = rows_of(kept, [mine for _, mine, _ in both])
    second = rows_of(kept, [its for _, _, its in both])
    n_unscored = len(cases) - len(both)
    found = [
        difference_of(
            "accuracy", hits(first) - hits(second), first.clusters, n_unscored, widest=1.0
        ),
        *(
            f1_difference(
                f"{average} F1",
                first.labels,
                first.named,
                second.named,
                first.clusters,
                average,
                n_unscored,
            )
            for average in ("macro", "weighted")
        ),
    ]
    top = top_hits(first), top_hits(second)
    if top[0] is not None and top[1] is not None:
        name = f"top-{TOP} accuracy"
        found.append(difference_of(name, top[0] - top[1], first.clusters, n_unscored, widest=1.0))
    return found
