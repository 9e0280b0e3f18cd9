"""Checks that two files to be joined answer the same queries or questions."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

from autoj.errors import DataError

Join: TypeAlias = Literal["strict", "inner"]
"""Treatment of a query that one of two files lacks: "strict" raises, "inner" leaves it out."""

_N_NAMED = 3
_LONGEST_NAME = 60


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


def _some(keys: Counter[str]) -> str:
    names = (_short(repr(key)) for key in islice(keys, _N_NAMED))
    return ", ".join([*names, *(["…"] if len(keys) > _N_NAMED else [])])


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
