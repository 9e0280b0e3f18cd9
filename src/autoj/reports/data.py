"""The public data sets, and the queries that two of them share; 80 columns are enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.datasets import catalog
from autoj.datasets.catalog import Entry
from autoj.datasets.overlap import Overlap
from autoj.datasets.placed_queries import PlacedQuery
from autoj.reports.text import excerpt, visible_text


def catalog_table(entries: Sequence[Entry]) -> Table:
    """The data sets with a name: size, licence, and whether each is on this machine."""
    table = Table(box=None, header_style="bold", padding=(0, 1))
    table.add_column("name", no_wrap=True)
    table.add_column("here", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("what", overflow="fold")
    for entry in entries:
        here = "yes" if catalog.is_here(entry.name) else _ways_to_get(entry)
        what = visible_text(f"{entry.what}. Licence: {entry.licence}")
        table.add_row(entry.name, here, _size(entry.size_bytes), what)
    return table


def entry_record(entry: Entry) -> dict[str, Any]:
    """A data set of the catalog as plain values, with where it lies."""
    here = catalog.is_here(entry.name)
    return {
        **asdict(entry),
        "size_bytes": entry.size_bytes,
        "verified": bool(entry.files) and entry.is_verified,
        "here": str(catalog.find(entry.name)) if here else None,
    }


def _ways_to_get(entry: Entry) -> str:
    if not entry.files:
        return "by hand"
    return "no" if entry.is_verified else "unverified"


def _size(n_bytes: int | None) -> str:
    if n_bytes is None:
        return ""
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:,.0f} kB"


def overlap_view(
    found: Overlap,
    names: tuple[str, str],
    first: Sequence[PlacedQuery],
    second: Sequence[PlacedQuery],
    n_shown: int,
) -> RenderableType:
    """The shares of two sets' queries that stand in the other, and some of them.

    Args:
        found: the overlap.
        names: of the two sets.
        first: the first set's queries.
        second: the second set's.
        n_shown: how many of the shared queries are shown.
    """
    table = Table(box=None, header_style="bold", padding=(0, 1))
    for heading in ("set", "queries", "shared", "share"):
        table.add_column(heading, justify="left" if heading == "set" else "right", overflow="fold")
    for name, n_rows, n_shared in (
        (names[0], found.n_a, found.n_shared_a),
        (names[1], found.n_b, found.n_shared_b),
    ):
        table.add_row(
            visible_text(name), f"{n_rows:,}", f"{n_shared:,}", f"{100 * n_shared / n_rows:.1f} %"
        )
    how = f"{found.n_same_text:,} of {found.n_shared_a:,} have the same text (letters and digits)"
    if found.ngrams is not None:
        how += f"; the others share {100 * found.threshold:g} % of {found.ngrams}-grams or more"
    parts: list[RenderableType] = [table, Text(how)]
    for shared in found.shared[:n_shown]:
        parts.append(Text(f"\n{100 * shared.share:.0f} % by {shared.by}", style="bold"))
        for query in (first[shared.a], second[shared.b]):
            line = visible_text(f"  {Path(query.place).name}: ", style="dim")
            parts.append(line.append_text(excerpt(query.text, 100)))
    return Group(*parts)


def overlap_record(
    found: Overlap, first: Sequence[PlacedQuery], second: Sequence[PlacedQuery]
) -> dict[str, Any]:
    """The overlap as plain values, with where each shared query stands."""
    return {
        "n_a": found.n_a,
        "n_b": found.n_b,
        "n_shared_a": found.n_shared_a,
        "n_shared_b": found.n_shared_b,
        "n_same_text": found.n_same_text,
        "ngrams": found.ngrams,
        "threshold": found.threshold,
        "shared": [
            {
                "a": first[item.a].place,
                "b": second[item.b].place,
                "share": item.share,
                "by": item.by,
            }
            for item in found.shared
        ],
    }
