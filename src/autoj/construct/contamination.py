"""Drops pairs whose query is in a test set, and reports what was found."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autoj.construct.recipe import Decontaminate
from autoj.construct.stages import Dropped, Outcome
from autoj.datasets import catalog, open_cases
from autoj.datasets.overlap import find_overlap
from autoj.errors import DataError
from autoj.records import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedWith:
    """The queries that the rows of a construction share with one test set."""

    path: str
    n_rows: int
    """Rows of the test set."""
    n_shared_test: int
    """Rows of the test set whose query is among ours."""
    n_shared_ours: int
    """Rows of ours whose query is in the test set; they are dropped."""
    n_same_text: int
    """Those of them with the same letters and digits; the others share n-grams."""


def find_test_set(name: str) -> Path:
    """Finds a test set by the name that a recipe gives it.

    Args:
        name: a file, or a set that `autoj data` lists, such as "eval-p".

    Raises:
        DataError: the listed set is not on this machine; the hint says how to get it.
    """
    if name in catalog.data_names() and not Path(name).exists():
        return catalog.find(name)
    return Path(name)


def check_test_sets(stage: Decontaminate) -> None:
    """Checks that every test set can be read.

    Raises:
        DataError: one is missing or is no data set.
    """
    for name in stage.against:
        open_cases(find_test_set(name))


def decontaminate(
    cases: Sequence[Case],
    stage: Decontaminate,
    notes: dict[str, Any],
    *,
    reason: str = "in a test set",
) -> Iterator[Outcome]:
    """Drops the cases whose query is in a test set.

    Args:
        cases: the rows.
        stage: states the test sets and what counts as shared.
        notes: receives `contamination`, a `SharedWith` per test set.
        reason: the reason for which they are dropped.

    Raises:
        DataError: a test set cannot be read.
    """
    queries = [case.query for case in cases]
    shared: dict[int, tuple[str, str]] = {}
    reports: list[SharedWith] = []
    for name in stage.against:
        tested = list(_queries(find_test_set(name)))
        found = find_overlap(queries, tested, n=stage.ngrams, threshold=stage.threshold)
        for item in found.shared:
            shared.setdefault(item.a, (name, f"row {item.b + 1} by {item.by}, {item.share:.2f}"))
        reports.append(
            SharedWith(
                path=name,
                n_rows=len(tested),
                n_shared_test=found.n_shared_b,
                n_shared_ours=found.n_shared_a,
                n_same_text=found.n_same_text,
            )
        )
    notes["contamination"] = [asdict(report) for report in reports]
    for index, case in enumerate(cases):
        if index not in shared:
            yield case
            continue
        where, how = shared[index]
        yield Dropped(id=case.id, reason=reason, detail=f"{where}: {how}", case=case)


def _queries(path: Path) -> Iterable[str]:
    for _, item in open_cases(path).read():
        if isinstance(item, DataError):
            raise item
        yield item.query
