"""Joins two files with one response per query, on the query, and checks that their queries match.

The flags are `--a one.jsonl --b other.jsonl`.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

from autoj.datasets.base import ReadRow
from autoj.errors import DataError
from autoj.records import Case

Read = Callable[[], Iterator[ReadRow]]
Join: TypeAlias = Literal["strict", "inner"]
"""Treatment of a query that one of two files lacks: "strict" raises, "inner" leaves it out."""
_N_NAMED = 3
_LONGEST_NAME = 60


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the files, and the queries or questions that it answers."""

    path: Path
    keys: Counter[str]
    """Each query, or its number, with its count in the file."""
    first_fault: DataError | None = None
    """The error of its first unreadable row."""
    n_faults: int = 0


def check_match(first: Side, second: Side, join: Join, what: str) -> str | None:
    """Compares the keys of two files.

    Args:
        first: one file.
        second: the other.
        join: the treatment of keys that only one file has.
        what: the kind of key, in the plural.

    Returns:
        With `inner`, a description of what is left out; None where nothing is.

    Raises:
        DataError: they have nothing in common, or with `strict` not the same keys.
    """
    fault = first.first_fault or second.first_fault
    n_common = (first.keys & second.keys).total()
    if n_common == 0:
        if fault is not None:
            raise fault
        raise DataError(
            f"has no {what} in common with {second.path}",
            path=first.path,
            hint=f"The files are joined on the exact text of their {what}.",
        )
    told = [
        f"{missing.total():,} of {side.keys.total():,} {what} of {side.path} are not in "
        f"{other.path} ({_some(missing)})"
        for side, other in ((first, second), (second, first))
        if (missing := side.keys - other.keys)
    ]
    if not told:
        return None
    if join == "inner":
        return f"left out: {'; '.join(told)}"
    if fault is not None:
        n_faults = first.n_faults + second.n_faults
        told.append(f"{n_faults:,} rows cannot be read; the first error is: {fault.message}")
    raise DataError(
        f"does not match {second.path}: {'; '.join(told)}",
        path=first.path,
        hint=f"--join inner uses the {n_common:,} that both files have.",
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


def _some(keys: Counter[str]) -> str:
    names = (_short(repr(key)) for key in islice(keys, _N_NAMED))
    return ", ".join([*names, *(["…"] if len(keys) > _N_NAMED else [])])


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
