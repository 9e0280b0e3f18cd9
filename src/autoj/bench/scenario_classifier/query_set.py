"""Queries with human scenario labels, without those in training data."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from autoj.datasets.base import Cases, ReadRow
from autoj.errors import DataError, NoRows
from autoj.records import Case
from autoj.scenarios.seeds import query_digest

BENCH = "scenario-classifier"
"""The name of these results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenQueries:
    """The number of a set's rows whose query is in training data."""

    name: str
    """The training data's."""
    n_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySet:
    """Queries with the scenarios that people gave them."""

    name: str
    bench: str
    """The name of results on it."""
    data: Cases
    """The same for a run."""
    cases: Sequence[Case]
    """Each has a scenario."""
    n_rows: int
    """Rows of the file, those that are left out included."""
    seen: tuple[SeenQueries, ...] = ()
    """Rows of the file whose query is in training data; a row may be in several files."""
    keeps_seen: bool = True
    """True where such rows are measured nevertheless."""

    @property
    def n_left_out(self) -> int:
        """Rows of the file that are not measured."""
        return self.n_rows - len(self.cases)


def read_set(data: Cases, name: str, bench: str = BENCH) -> QuerySet:
    """A file of queries and their scenarios.

    Args:
        data: the file.
        name: its name.
        bench: the name of results on it.

    Raises:
        DataError: a row cannot be read or names no scenario, or there is none.
    """
    cases: list[Case] = []
    for line, case in data.readable():
        if case.scenario is None:
            raise DataError(
                "names no scenario, which a classifier is measured by",
                path=data.paths[0],
                line=line,
                field="scenario",
                hint='Expected {"query": "…", "scenario": "planning"} on each line, or the '
                'release\'s "category", "instruction" and "input". autoj classify names scenarios.',
            )
        cases.append(case)
    if not cases:
        raise NoRows("is empty: it has no rows", path=data.paths[0])
    return QuerySet(name=name, bench=bench, data=data, cases=cases, n_rows=len(cases))


def without_seen(
    found: QuerySet, training: Mapping[str, Set[str]], *, keep: bool = False
) -> QuerySet:
    """A set without the rows whose query is in training data, by its normalised text.

    Args:
        found: the set.
        training: the `query_digest` of each query of each set of training data, by its name.
        keep: whether such rows are only counted.

    Raises:
        NoRows: none is left.
    """
    digests = [query_digest(case.query) for case in found.cases]
    rows = {
        name: {index for index, digest in enumerate(digests) if digest in its}
        for name, its in training.items()
    }
    seen = tuple(SeenQueries(name=name, n_rows=len(its)) for name, its in rows.items())
    gone = set[int]().union(*rows.values())
    if keep or not gone:
        return replace(found, seen=seen, keeps_seen=keep)
    kept = [case for index, case in enumerate(found.cases) if index not in gone]
    if not kept:
        raise NoRows(
            f"has no row left to measure on: the queries of all {len(digests):,} are in "
            f"{' and '.join(training)}",
            path=found.data.paths[0],
        )
    part = replace(
        found.data,
        read=lambda: (ReadRow(line, case) for line, case in enumerate(kept, start=1)),
        derivation=f"without the {len(gone):,} rows whose query stands in training data",
    )
    return replace(found, data=part, cases=kept, seen=seen, keeps_seen=False)
