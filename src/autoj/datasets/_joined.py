"""Two files of one response per query, joined on the query: `--a one.jsonl --b other.jsonl`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from autoj.datasets.base import Row
from autoj.errors import DataError
from autoj.records import Case

__all__ = ["read_joined"]

Read = Callable[[], Iterator[Row]]


def read_joined(paths: tuple[Path, Path], reads: tuple[Read, Read]) -> Iterator[Row]:
    """Pairs of what both files answer, in the order of the first.

    A query that stands in a file several times meets its namesakes in order. A row whose query the
    other file lacks is a bad row.

    Args:
        paths: the files of response a and of response b.
        reads: what reads each.

    Raises:
        DataError: no query stands in both files.
    """
    others: dict[str, deque[tuple[int, Case]]] = {}
    for line, case in reads[1]():
        if (error := _fault(case, paths[1], line)) is not None:
            yield Row(line, error)
        elif isinstance(case, Case):
            others.setdefault(case.query, deque()).append((line, case))
    n_pairs = 0
    for line, case in reads[0]():
        if (error := _fault(case, paths[0], line)) is not None:
            yield Row(line, error)
        elif isinstance(case, Case):
            if not (waiting := others.get(case.query)):
                yield Row(line, _unmatched(paths[0], line, paths[1]))
                continue
            n_pairs += 1
            _, other = waiting.popleft()
            yield Row(line, replace(case, responses=case.responses + other.responses, label=None))
    if n_pairs == 0:
        raise DataError(
            f"no query of it is in {paths[1]}",
            path=paths[0],
            hint="The two files are joined on the exact text of the query.",
        )
    for line, _ in (row for rows in others.values() for row in rows):
        yield Row(line, _unmatched(paths[1], line, paths[0]))


def _unmatched(path: Path, line: int, other: Path) -> DataError:
    return DataError(f"the query is not in {other}", path=path, line=line, field="query")


def _fault(case: Case | DataError, path: Path, line: int) -> DataError | None:
    if isinstance(case, DataError):
        return case
    if len(case.responses) == 1:
        return None
    return DataError(
        f"holds {len(case.responses)} responses; expected one in each of two files to be joined",
        path=path,
        line=line,
        field="responses",
    )
