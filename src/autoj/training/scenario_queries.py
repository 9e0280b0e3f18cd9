"""Queries with their scenarios, for training a classifier: the shipped seeds, or files.

Queries of public data sets are not ours to ship. What ships is what we called them: a scenario by
the digest of the normalised query, which a row without a scenario takes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import autoj.scenarios.taxonomy as taxonomy
from autoj.errors import DataError, UnknownComponent
from autoj.jsonl import read_rows
from autoj.records import normalise_query

__all__ = ["ScenarioQueries", "query_digest", "read_scenario_queries", "seed_files"]

_DATA = Path(taxonomy.__file__).parent / "data"

_Label: TypeAlias = tuple[str, str | None]
"""A scenario, and the second where it is not sure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioQueries:
    """What a classifier is trained on."""

    queries: tuple[str, ...]
    scenarios: tuple[str, ...]
    """One a query."""
    seconds: tuple[str | None, ...]
    """Another scenario that would be nearly as good, where those who labelled it said so."""
    paths: tuple[Path, ...]
    """The files that they are from."""


def seed_files() -> tuple[Path, ...]:
    """The files of seed queries that ship with the package, sorted."""
    return tuple(sorted((_DATA / "seeds").glob("*.jsonl")))


def query_digest(query: str) -> str:
    """What a query is known by where its text does not stand.

    >>> query_digest("Why?") == query_digest("why")
    True
    """
    return hashlib.sha256(normalise_query(query).encode()).hexdigest()[:16]


def read_scenario_queries(paths: Sequence[Path]) -> ScenarioQueries:
    """The queries of some files.

    A row has `query` and `scenario`, or, as in the release's classifier data, `instruction`,
    `input` and `category`. Names of the taxonomy in any spelling become its own; others stay. In a
    file that names no scenarios a query takes the one that ships for it, once; queries that none
    ships for are left out.

    Raises:
        DataError: a row has no query, some rows of a file name a scenario and others do not, or a
            file has no query whose scenario is known.
    """
    found: list[tuple[str, _Label]] = []
    shipped: dict[str, _Label] = {}
    for path in paths:
        rows = list(_read(path))
        names = any(scenario is not None for _, _, scenario in rows)
        if not names:
            shipped = shipped or _shipped_labels()
        n_before = len(found)
        for line, query, scenario in rows:
            if scenario is not None:
                found.append((query, (scenario, None)))
            elif names:
                raise DataError("expected a scenario, found none", path=path, line=line)
            # Taken out, because a query that stands in several rows counts once.
            elif (label := shipped.pop(query_digest(query), None)) is not None:
                found.append((query, label))
        if len(found) == n_before:
            raise DataError(
                "holds no query whose scenario is known",
                path=path,
                hint='Rows need "query" with "scenario", or "instruction" with "category".',
            )
    return ScenarioQueries(
        queries=tuple(query for query, _ in found),
        scenarios=tuple(scenario for _, (scenario, _) in found),
        seconds=tuple(second for _, (_, second) in found),
        paths=tuple(paths),
    )


def _shipped_labels() -> dict[str, _Label]:
    """Scenarios of queries of public data sets, by the query's digest."""
    return {
        row["query_sha256"]: (row["scenario"], row.get("second"))
        for path in sorted((_DATA / "labels").glob("*.jsonl"))
        for _, row in read_rows(path)
        if not isinstance(row, DataError)
    }


def _read(path: Path) -> Iterator[tuple[int, str, str | None]]:
    for line, row in read_rows(path):
        if isinstance(row, DataError):
            raise row
        yield line, *_fields(row, path, line)


def _fields(row: dict[str, Any], path: Path, line: int) -> tuple[str, str | None]:
    released = "category" in row and "instruction" in row
    query_field, scenario_field = ("instruction", "category") if released else ("query", "scenario")
    query, scenario = row.get(query_field), row.get(scenario_field)
    if not isinstance(query, str) or not query.strip():
        raise DataError(f"expected text, found {query!r}", path=path, line=line, field=query_field)
    if released and isinstance(row.get("input"), str) and row["input"]:
        query = f"{query} {row['input']}"
    if scenario is None:
        return query, None
    if not isinstance(scenario, str) or not scenario.strip():
        raise DataError(
            f"expected text, found {scenario!r}", path=path, line=line, field=scenario_field
        )
    try:
        return query, taxonomy.resolve_scenario(scenario)
    except UnknownComponent:
        return query, scenario
