"""The sets that classifiers are measured on: queries with human scenario labels.

One is the release's test file, the other is of the user's choice, without queries of training data.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.datasets import catalog, open_queries
from autoj.datasets.base import Cases, ReadRow
from autoj.errors import DataError, NoRows
from autoj.records import Case
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios.seeds import known_scenarios, query_digest, seed_files

BENCH = "scenario-classifier"
"""The name of these results."""
NO_SET = "none"
"""Names no second set."""
_TEST, _TRAINING, _SECOND = "scenario-classifier-test", "scenario-classifier-train", "eval-p"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SetChoice:
    """The choice of sets."""

    data: Path | None = None
    """Queries with their scenarios; None takes the release's test file."""
    second: str | None = None
    """A file, `eval-p` or `none`; None takes Eval-P where it is here and there is no `data`."""
    trained_on: Sequence[Path] = ()
    """Further training data whose queries are left out of the second set."""


def open_sets(choice: SetChoice, watch: Watch = SILENT) -> Iterator[QuerySet]:
    """The test set whole, and the second without the rows whose query is in training data.

    Args:
        choice: the sets.
        watch: told what is read, and what is not there.

    Raises:
        DataError: a file cannot be read, or no row of a set is left.
    """
    training = _training_queries(choice.trained_on)
    path = choice.data or catalog.find(_TEST)
    yield without_seen(_open(path, BENCH, watch), training, keep=True)
    name = choice.second or (_SECOND if choice.data is None else NO_SET)
    if name == NO_SET:
        return
    if choice.second is None and not catalog.is_here(_SECOND):
        watch.message(
            f"{_SECOND} is not on this machine and was left out; autoj data get {_SECOND} gets it"
        )
        return
    if _TRAINING not in training:
        watch.message(
            f"the release's training file is not on this machine: rows of {name} whose query "
            f"is in it are kept (autoj data get {_TRAINING} gets it)"
        )
    path = catalog.find(_SECOND) if name == _SECOND else Path(name)
    bench = _SECOND if name == _SECOND else path.name.partition(".")[0]
    yield without_seen(_open(path, f"{BENCH}-{bench}", watch), training)


def _open(path: Path, bench: str, watch: Watch) -> QuerySet:
    data = open_queries(path)
    watch.message(f"reading {path} as {data.format}")
    return read_set(data, path.name, bench)


def _training_queries(trained_on: Sequence[Path]) -> Mapping[str, Set[str]]:
    """The digests of the queries that classifiers may have learnt from, by the data's name."""
    found: dict[str, Set[str]] = {
        "the seeds": _digests(*seed_files()),
        "the labelled queries": known_scenarios().keys(),
    }
    if catalog.is_here(_TRAINING):
        found[_TRAINING] = _digests(catalog.find(_TRAINING))
    return found | {str(path): _digests(path) for path in trained_on}


def _digests(*paths: Path) -> set[str]:
    return {query_digest(case.query) for path in paths for _, case in open_queries(path).readable()}
