"""The record of what was found about one judge: estimates overall and by part, kept as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autoj.errors import DataError
from autoj.jsonl import decode_as, write_records
from autoj.records import Estimate

__all__ = ["Result", "read_result", "save_result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a meta-evaluation found about one judge."""

    bench: str
    """The meta-evaluation's name, such as "eval-p"."""
    judge: str
    source: str
    """Where the verdicts are from: a run's folder, or files of predictions."""
    n_cases: int
    estimates: tuple[Estimate, ...]
    """The figures over all cases."""
    parts: Mapping[str, Mapping[str, tuple[Estimate, ...]]] = field(default_factory=dict)
    """The same figures by breakdown ("group", "scenario", …) and part."""
    notes: tuple[str, ...] = ()
    """What a reader must know to take the figures for what they are."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What only this meta-evaluation has."""

    def estimate(self, name: str) -> Estimate | None:
        """The figure of that name over all cases; None where there is none."""
        return next((found for found in self.estimates if found.name == name), None)


def save_result(path: Path, result: Result) -> None:
    """Write a result as one JSON object, all at once.

    Raises:
        StorageFull: the disk took no more.
        DataError: nothing can be written there.
    """
    write_records(path, [result])


def read_result(path: Path) -> Result:
    """A result that was saved.

    Raises:
        DataError: the file is missing or holds none.
    """
    try:
        return decode_as(Result, path.read_bytes())
    except FileNotFoundError:
        raise DataError("there is no such file", path=path) from None
    except (OSError, ValueError) as error:
        raise DataError(f"holds no result of a meta-evaluation ({error})", path=path) from None
