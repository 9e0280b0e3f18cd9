"""The stored result of one judge's meta-evaluation: estimates overall and by part, as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autoj.errors import DataError
from autoj.jsonl import decode_as, write_records
from autoj.records import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a meta-evaluation of one judge."""

    bench: str
    """The meta-evaluation's name, such as "eval-p"."""
    judge: str
    source: str
    """The origin of the verdicts: a run's folder, or files of predictions."""
    n_cases: int
    estimates: tuple[Estimate, ...]
    """The figures over all cases."""
    parts: Mapping[str, Mapping[str, tuple[Estimate, ...]]] = field(default_factory=dict)
    """The same figures by breakdown ("group", "scenario", …) and part."""
    notes: tuple[str, ...] = ()
    """Caveats that a reader needs to interpret the figures."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Details specific to this meta-evaluation."""

    def estimate(self, name: str) -> Estimate | None:
        """The figure of that name over all cases; None where there is none."""
        return next((found for found in self.estimates if found.name == name), None)


def save_result(path: Path, result: Result) -> None:
    """Writes a result as one JSON object, atomically.

    Raises:
        StorageFull: the disk is full.
        DataError: the file cannot be written.
    """
    write_records(path, [result])


def keep_result(result: Result, folder: Path | None, place: Path | None = None) -> None:
    """Saves a result in a place, else in its run's folder, where a leaderboard finds it.

    Args:
        result: the result.
        folder: of the run behind it; one without a run is saved in a place only.
        place: the file; None takes one in the folder, named after the meta-evaluation.

    Raises:
        StorageFull: the disk is full.
        DataError: the file cannot be written.
    """
    chosen = place or (folder and folder / f"{result.bench}.json")
    if chosen is not None:
        save_result(chosen, result)


def read_result(path: Path) -> Result:
    """Reads a saved result.

    Raises:
        DataError: the file is missing or is not a result.
    """
    try:
        return decode_as(Result, path.read_bytes())
    except FileNotFoundError:
        raise DataError("there is no such file", path=path) from None
    except (OSError, ValueError) as error:
        raise DataError(f"is not a meta-evaluation's result ({error})", path=path) from None
