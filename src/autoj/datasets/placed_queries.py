"""The queries of a file, of a folder of files, or of a named data set, and where each stands."""

from dataclasses import dataclass
from pathlib import Path

from autoj.datasets import catalog, data_files_in, is_dataset, open_cases
from autoj.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedQuery:
    """A query of a data set."""

    place: str
    """The file and the line, `pairs.jsonl:3`."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedQueries:
    """The queries of a data set; a row that holds several cases asks its query once."""

    queries: tuple[PlacedQuery, ...]
    n_bad: int
    """Rows that could not be read."""


def placed_queries(name: str) -> PlacedQueries:
    """The queries of a data set.

    Args:
        name: a file, a folder of files, `hf-dataset:NAME`, or a name of the catalog.

    Raises:
        DataError: there is no file of a kind that is read, or no row that can be read.
    """
    path = Path(name)
    if not path.exists() and name in catalog.data_names():
        path = catalog.find(name)
    paths = sorted(data_files_in(path)) if path.is_dir() and not is_dataset(path) else [path]
    if not paths:
        raise DataError("holds no file of a kind that is read", path=path)
    queries: list[PlacedQuery] = []
    n_bad = 0
    for file in paths:
        seen: set[tuple[int, str]] = set()
        for line, case in open_cases(file).read():
            if isinstance(case, DataError):
                n_bad += 1
            elif (line, case.query) not in seen:
                seen.add((line, case.query))
                queries.append(PlacedQuery(place=f"{file}:{line}", text=case.query))
    return PlacedQueries(queries=tuple(queries), n_bad=n_bad)
