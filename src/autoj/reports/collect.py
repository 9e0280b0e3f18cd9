"""A collection for a reader: its sources, the labels it kept, and why rows were dropped."""

from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.construct.collect_file import CollectedFile
from autoj.construct.collecting import LABELS
from autoj.reports import render
from autoj.reports.text import visible_text


def collected_record(collected: CollectedFile) -> dict[str, Any]:
    """The files and the summary, for `--json`."""
    return {
        "rows": str(collected.path),
        "dropped": str(collected.dropped),
        "summary": asdict(collected.summary),
    }


def collected_view(collected: CollectedFile) -> RenderableType:
    """The rows by source, the reasons of drops, and the files."""
    parts: list[RenderableType] = [sources_listing(collected.summary.notes["sources"])]
    if collected.summary.dropped:
        listing = render.Listing(
            render.Column.text("dropped because"), render.Column.number("rows")
        )
        for reason, n_rows in collected.summary.dropped.items():
            listing.add(reason, n_rows)
        parts += [Text(), listing]
    parts += [Text(), visible_text(f"{collected.path} has the rows")]
    if collected.summary.dropped:
        parts.append(visible_text(f"{collected.dropped} has the dropped ones, with their reasons"))
    return Group(*parts)


def sources_listing(sources: list[dict[str, Any]]) -> render.Listing:
    """The rows of each source, and its labels as "a", "b" and tie in the order that was drawn."""
    kinds = [kind for kind in LABELS if any(source["labels"].get(kind) for source in sources)]
    if kinds == ["none"]:
        kinds = []
    named = [f"label {kind}" for kind in kinds]
    numbers = map(render.Column.number, ("in", "kept", "dropped", *named))
    listing = render.Listing(render.Column.text("source"), *numbers)
    for source in sources:
        listing.add(
            source["name"],
            source["n_in"],
            source["n_kept"],
            source["n_in"] - source["n_kept"],
            *(source["labels"].get(kind, 0) for kind in kinds),
        )
    return listing
