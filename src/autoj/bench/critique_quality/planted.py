"""Responses with one planted error each beside their clean twins, and their cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from autoj.bench.case_rows import field_of, rows_of
from autoj.bench.sources import part_of
from autoj.datasets.base import Cases, cases_of
from autoj.errors import DataError
from autoj.records import Case, Response, normalise_query

SHIPPED = Path("data/own/planted_errors.jsonl")
"""The project's own file, in its repository."""
SIDES = ("planted", "clean")
_TEXTS = ("id", "query", "clean", "planted", "span")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedError:
    """A response with one known error, and the same response without it."""

    id: str
    query: str
    clean: str
    planted: str
    """The response with the error."""
    span: str
    """The words of `planted` that are wrong; in an omission, those around the gap."""
    correct: str
    """The words that stood there; empty where there were none."""
    names: tuple[str, ...]
    """Strings of which a critique that names the error holds at least one, in any letter case."""
    kind: str | None = None
    group: str | None = None


def read_planted(path: Path, limit: int | None = None) -> list[PlantedError]:
    """Reads a file of planted errors.

    Args:
        path: rows with `id`, `query`, `clean`, `planted`, `span`, `names` and, where known,
            `correct`, `kind` and `group`.
        limit: the first rows that are taken; None takes all.

    Raises:
        DataError: a row lacks a field or has one of another type; its span does not stand in
            `planted`, its two responses are the same, or its id is used twice; or there are no
            rows.
    """
    found: dict[str, PlantedError] = {}
    for line, row in islice(rows_of(path), limit):
        each = _planted(path, line, row)
        if each.id in found:
            raise DataError(f"the id {each.id!r} is used twice", path=path, line=line, field="id")
        found[each.id] = each
    if not found:
        raise DataError("is empty: it has no rows", path=path)
    return list(found.values())


def _planted(path: Path, line: int, row: dict[str, Any]) -> PlantedError:
    def fault(field: str, message: str) -> DataError:
        return DataError(message, path=path, line=line, field=field)

    texts: dict[str, str] = {}
    for field in _TEXTS:
        value = field_of(path, line, row, field)
        if not isinstance(value, str) or not value.strip():
            raise fault(field, f"expected a text, found {value!r}")
        texts[field] = value
    for field in ("correct", "kind", "group"):
        if not isinstance(row.get(field), str | None):
            raise fault(field, f"expected a text, found {row[field]!r}")
    names = field_of(path, line, row, "names")
    if (
        not isinstance(names, list)
        or not names
        or not all(isinstance(name, str) and name.strip() for name in names)
    ):
        raise fault("names", f"expected a list of texts, found {names!r}")
    if texts["span"] not in texts["planted"]:
        raise fault("span", f'{texts["span"]!r} does not stand in "planted"')
    if texts["clean"] == texts["planted"]:
        raise fault("planted", 'is the same text as "clean"')
    return PlantedError(
        **texts,
        correct=row.get("correct") or "",
        names=tuple(names),
        kind=row.get("kind"),
        group=row.get("group"),
    )


def planted_cases(path: Path, rows: Sequence[PlantedError]) -> Cases:
    """The cases that a judge rates: each row's planted response, then its clean twin.

    Nothing in a case tells which of the two it is, apart from its id, which no prompt shows.
    """
    cases = [_case(each, side) for each in rows for side in SIDES]
    data = cases_of(cases, f"critique-quality-{path.name.partition('.')[0]}")
    derivation = f"planted errors and their clean twins: {data.derivation}"
    return part_of(data, cases, derivation)


def _case(row: PlantedError, side: str) -> Case:
    return Case(
        id=f"{row.id}/{side}",
        query=row.query,
        cluster=normalise_query(row.query),
        responses=(Response(text=row.planted if side == "planted" else row.clean),),
    )
