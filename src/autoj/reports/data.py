"""The public data sets, and the queries that two of them share."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.datasets import catalog
from autoj.datasets.catalog import Entry
from autoj.datasets.overlap import Overlap, PlacedQuery
from autoj.reports import render
from autoj.reports.text import excerpt, visible_text


def catalog_table(entries: Sequence[Entry]) -> render.Listing:
    """The data sets with a name: size, licence and presence on this machine."""
    listing = render.Listing(
        render.Column.text("name"),
        render.Column.word("here"),
        render.Column.number("size"),
        render.Column.prose("what"),
    )
    for entry in entries:
        here = "yes" if catalog.is_here(entry.name) else _ways_to_get(entry)
        what = f"{entry.what}. Licence: {entry.licence}"
        listing.add(entry.name, here, _size(entry.size_bytes), what)
    return listing


def entry_record(entry: Entry) -> dict[str, Any]:
    """A data set of the catalog as plain values, with its place on this machine."""
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
    """The shares of two sets' queries that are in the other set, and some of these queries.

    Args:
        found: the overlap.
        names: of the two sets.
        first: the first set's queries.
        second: the second set's.
        n_shown: the number of shared queries to show.
    """
    columns = map(render.Column.number, ("queries", "shared", "share"))
    listing = render.Listing(render.Column.prose("set"), *columns)
    for name, n_rows, n_shared in (
        (names[0], found.n_a, found.n_shared_a),
        (names[1], found.n_b, found.n_shared_b),
    ):
        listing.add(name, n_rows, n_shared, render.percent(n_shared / n_rows))
    how = f"{found.n_same_text:,} of {found.n_shared_a:,} have the same text (letters and digits)"
    if found.ngrams is not None:
        how += f"; the others share {100 * found.threshold:g} % of {found.ngrams}-grams or more"
    parts: list[RenderableType] = [listing, Text(how)]
    for shared in found.shared[:n_shown]:
        parts.append(Text(f"\n{render.percent(shared.share)} by {shared.by}", style="bold"))
        for query in (first[shared.a], second[shared.b]):
            line = visible_text(f"  {Path(query.place).name}: ", style="dim")
            parts.append(line.append_text(excerpt(query.text, 100)))
    return Group(*parts)


def overlap_record(
    found: Overlap, first: Sequence[PlacedQuery], second: Sequence[PlacedQuery]
) -> dict[str, Any]:
    """The overlap as plain values, with the places of each shared query."""
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
