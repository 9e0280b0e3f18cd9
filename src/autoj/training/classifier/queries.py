"""Queries with their scenarios, for training a classifier.

A row without a scenario takes the shipped scenario of its query (`scenarios.seeds`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import autoj.scenarios.taxonomy as taxonomy
from autoj.errors import DataError, UnknownComponent
from autoj.inputs import read_rows
from autoj.scenarios.seeds import known_scenarios, query_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioQueries:
    """The training data of a classifier."""

    queries: tuple[str, ...]
    scenarios: tuple[str, ...]
    """One per query."""
    seconds: tuple[str | None, ...]
    """A second scenario that would be nearly as good, where the annotators named one."""
    paths: tuple[Path, ...]
    """The files that they were read from."""


def read_scenario_queries(paths: Sequence[Path]) -> ScenarioQueries:
    """Reads queries with their scenarios from files.

    A row has `query` and `scenario`, or, as in the release's classifier data, `instruction`,
    `input` and `category`. Scenario names are mapped to those of the taxonomy whatever their
    spelling; unknown names are kept. In a file without scenarios each query takes the shipped
    scenario, once; queries without a shipped scenario are left out.

    Raises:
        DataError: a row has no query, only some rows of a file have a scenario, or no query of a
            file has a known scenario.
    """
    found: list[tuple[str, str, str | None]] = []
    shipped = known_scenarios()
    for path in paths:
        rows = list(_read(path))
        names = any(scenario is not None for _, _, scenario in rows)
        n_before = len(found)
        for line, query, scenario in rows:
            if scenario is not None:
                found.append((query, scenario, None))
            elif names:
                raise DataError("this row has no scenario", path=path, line=line)
            # Removed from the shipped ones, so that a repeated query counts once.
            elif (known := shipped.pop(query_digest(query), None)) is not None:
                found.append((query, known.scenario, known.second))
        if len(found) == n_before:
            raise DataError(
                "no query has a known scenario",
                path=path,
                hint='Rows need "query" with "scenario", or "instruction" with "category".',
            )
    return ScenarioQueries(
        queries=tuple(query for query, _, _ in found),
        scenarios=tuple(scenario for _, scenario, _ in found),
        seconds=tuple(second for _, _, second in found),
        paths=tuple(paths),
    )


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
