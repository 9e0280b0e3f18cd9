"""Files to cases: one external format a file, recognised from its fields."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from autoj import components
from autoj.datasets._joined import read_joined
from autoj.datasets.base import Cases
from autoj.datasets.published_verdicts import verdict_format_of
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.jsonl import read_rows

__all__ = ["format_names", "open_cases", "open_joined"]


_NO_FORMATS = {"catalog", "overlap", "published-verdicts"}
"""Modules of this room that read no cases."""


def format_names() -> tuple[str, ...]:
    """The names of all formats, sorted."""
    return tuple(name for name in components.names("datasets") if name not in _NO_FORMATS)


def open_cases(path: Path, format: str | None = None) -> Cases:
    """A file of cases.

    Args:
        path: a JSONL file, compressed where its name ends in `.gz`; a JSON list where it ends in
            `.json` (or `.json.gz`).
        format: a format's name; None recognises it from the fields of the first row.

    Raises:
        DataError: the file cannot be read, is empty, or is of no known format.
        ConfigError: several formats could be meant.
    """
    name = format or _recognise(path)
    if "." not in name and name.replace("_", "-") not in format_names():
        raise UnknownComponent("data format", name, format_names())
    module = components.load("datasets", name)
    return Cases(format=name, paths=(path,), read=lambda: module.read(path))


def open_joined(a: Path, b: Path) -> Cases:
    """Two files of one response per query, joined on the query.

    Raises:
        DataError: as `open_cases`.
    """
    first, second = open_cases(a), open_cases(b)
    return Cases(
        format=f"{first.format} joined with {second.format}",
        paths=(a, b),
        read=lambda: read_joined((a, b), (first.read, second.read)),
    )


def _recognise(path: Path) -> str:
    line, row = _first_row(path)
    modules: dict[str, ModuleType] = {
        name: components.load("datasets", name) for name in format_names()
    }
    candidates = [name for name, module in modules.items() if module.matches(row)]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise ConfigError(
            f"{path}: the fields {', '.join(map(repr, row))} fit several formats: "
            f"{', '.join(candidates)}; choose one with --format"
        )
    if (verdicts := verdict_format_of(row)) is not None:
        raise DataError(
            f"holds another judge's verdicts ({verdicts}), not cases",
            path=path,
            line=line,
            hint="autoj.datasets.published_verdicts.read_verdicts reads them.",
        )
    expected = "\n    ".join(f"{name}: {module.FIELDS}" for name, module in modules.items())
    raise DataError(
        f"the fields {', '.join(map(repr, row)) or '(none)'} fit no known format",
        path=path,
        line=line,
        hint=f"Expected one of:\n    {expected}",
    )


def _first_row(path: Path) -> tuple[int, dict[str, Any]]:
    """The first row that is a JSON object; if there is none, what is wrong with the first."""
    first_error: DataError | None = None
    for line, row in read_rows(path):
        if not isinstance(row, DataError):
            return line, row
        first_error = first_error or row
    raise first_error or DataError("is empty: it holds no rows", path=path)
