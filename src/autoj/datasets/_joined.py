"""Joins two files with one response per query, on the query: `--a one.jsonl --b other.jsonl`."""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from autoj.datasets._matching import Join, Side, check_match
from autoj.datasets.base import ReadRow
from autoj.errors import DataError
from autoj.records import Case

Read = Callable[[], Iterator[ReadRow]]


def check_joined(paths: tuple[Path, Path], reads: tuple[Read, Read], join: Join) -> str | None:
    """Reads two files once, to check that they answer the same queries.

    Args:
        paths: the files of response a and of response b.
        reads: a reader for each.
        join: "strict" raises for a query that one file lacks, "inner" leaves it out.

    Returns:
        A description of what is left out; None where nothing is.

    Raises:
        DataError: the files share no query, or with `strict` not all of them.
    """
    first, second = (_side(path, read) for path, read in zip(paths, reads, strict=True))
    return check_match(first, second, join, "queries")


def read_joined(paths: tuple[Path, Path], reads: tuple[Read, Read]) -> Iterator[ReadRow]:
    """Pairs of the responses in both files, in the order of the first; the second is in memory.

    Repeated queries are matched in order: the first of one file with the first of the other. A
    query that only one file has, or has more often, is left out.

    Args:
        paths: the files of response a and of response b.
        reads: a reader for each.
    """
    others: dict[str, deque[Case]] = {}
    for line, case in reads[1]():
        if (error := _fault(case, paths[1], line)) is not None:
            yield ReadRow(line, error)
        elif isinstance(case, Case):
            others.setdefault(case.query, deque()).append(case)
    for line, case in reads[0]():
        if (error := _fault(case, paths[0], line)) is not None:
            yield ReadRow(line, error)
        elif isinstance(case, Case) and (waiting := others.get(case.query)):
            other = waiting.popleft()
            yield ReadRow(
                line, replace(case, responses=case.responses + other.responses, label=None)
            )


def _side(path: Path, read: Read) -> Side:
    keys: Counter[str] = Counter()
    faults: list[DataError] = []
    for line, case in read():
        if (error := _fault(case, path, line)) is not None:
            faults.append(error)
        elif isinstance(case, Case):
            keys[case.query] += 1
    return Side(
        path=path, keys=keys, first_fault=faults[0] if faults else None, n_faults=len(faults)
    )


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
