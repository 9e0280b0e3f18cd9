"""Name the scenarios of a file's queries by an embedded classifier, and write them to a file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from autoj.datasets import open_queries, parse_map
from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError
from autoj.jsonl import read_records, write_records
from autoj.records import Case, normalise_query
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios.classifier import ScenarioClassifier
from autoj.tasks.cases import tell_format, tell_stream
from autoj.tasks.classify import ClassifiedQuery, classify_cases
from autoj.tasks.default_paths import scenarios_file


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedRow(ClassifiedQuery):
    """A line of a classifier's file: a query's scenario, with the query."""

    query: str | None = None
    """None in older files, which held no queries."""


_FIELDS = tuple(field.name for field in fields(ClassifiedQuery))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedFile:
    """A file of classified queries that a classifier wrote."""

    path: Path
    bad_rows: tuple[DataError, ...]
    """The rows that were left out."""


def open_named_queries(
    data: Path, format: str | None, columns: Sequence[str] | None, watch: Watch = SILENT
) -> Cases:
    """The data set of queries that is named.

    Args:
        data: a file, as `open_queries` takes it.
        format: a format's name, if the fields fit several.
        columns: the columns, as `--map` takes them, in place of a format.
        watch: told how the file was recognised.

    Raises:
        ConfigError: several formats fit, or both a format and columns are given.
        DataError: the file cannot be read.
    """
    mapped = parse_map(columns, queries_alone=True) if columns else None
    tell_stream(data, watch)
    cases = open_queries(data, format, mapped)
    tell_format((data,), cases, watch)
    return cases


def check_named_by(
    classifier: str | None, judge: str | None, of_judges: Mapping[str, object]
) -> None:
    """Refuses a classifier beside a judge, and a judge's settings without one.

    Args:
        classifier: the embedded classifier that is named, if any.
        judge: the judge that is named, if any.
        of_judges: the settings that only a judge has, by their flags; None where not given.

    Raises:
        ConfigError: they exclude each other.
    """
    if judge is not None and classifier is not None:
        raise ConfigError("--judge and --classifier cannot be used together: give one")
    if judge is None and any(value is not None for value in of_judges.values()):
        *flags, last = of_judges
        raise ConfigError(
            f"{', '.join(flags)} and {last} need --judge; the embedded classifier has no such "
            "settings"
        )


def classify_to_file(
    cases: Cases,
    classifier: ScenarioClassifier,
    out: Path | None = None,
    *,
    top: int = 3,
    limit: int | None = None,
    skip_bad_rows: bool = False,
    on_row: Callable[[Case, ClassifiedQuery], object] | None = None,
    watch: Watch = SILENT,
) -> ClassifiedFile:
    """Write the scenarios of a data set's queries, one `ClassifiedRow` a line.

    Args:
        cases: the data set.
        classifier: names the scenarios.
        out: the file; None takes one under `runs/`, the same for the same data and classifier.
        top: how many of the likeliest scenarios a row names, the first of them included.
        limit: the most queries; None takes all.
        skip_bad_rows: whether rows that cannot be read are left out.
        on_row: given each query as it is written, so that figures need not read the file again.
        watch: told of rows that are left out.

    Raises:
        ConfigError: `out` is a folder, or the data's own file.
        DataError: a row cannot be read, or there is none that can.
    """
    path = _file_of_rows(out, cases, classifier)
    bad_rows: list[DataError] | None = [] if skip_bad_rows else None

    def rows() -> Iterator[ClassifiedQuery]:
        found = classify_cases(cases, classifier, top=top, limit=limit, bad_rows=bad_rows)
        for case, row in found:
            if on_row is not None:
                on_row(case, row)
            its = {name: getattr(row, name) for name in _FIELDS}
            yield ClassifiedRow(query=case.query, **its)

    write_records(path, rows())
    if bad_rows:
        watch.message(f"{len(bad_rows):,} bad rows are left out; the first: {bad_rows[0]}")
    return ClassifiedFile(path=path, bad_rows=tuple(bad_rows or ()))


def read_classified(path: Path) -> Iterator[tuple[Case, ClassifiedRow]]:
    """Reads a file of classified queries, lazily.

    Args:
        path: written by `classify_to_file`.

    Raises:
        DataError: a line is damaged, or there is none.
    """
    is_empty = True
    for row in read_records(path, ClassifiedRow):
        is_empty = False
        query = row.query or ""
        yield (
            Case(
                id=row.id,
                query=query,
                responses=(),
                cluster=normalise_query(query) or row.id,
                scenario=row.row_scenario,
            ),
            row,
        )
    if is_empty:
        raise DataError("is empty: it holds no rows", path=path)


def _file_of_rows(out: Path | None, cases: Cases, classifier: ScenarioClassifier) -> Path:
    path = out or scenarios_file(classifier.name, cases)
    if path.is_dir():
        raise ConfigError(f"--out {path} is a folder; it must be the file of rows to write")
    if path.resolve() in {given.resolve() for given in cases.paths}:
        raise ConfigError(f"--out {path} is the file that is read", hint="Choose another --out.")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
