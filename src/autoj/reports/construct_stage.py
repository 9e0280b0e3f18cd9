"""One stage of a construction for a reader: its drops, and what only its kind has to say."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.construct.stages import StageFolder
from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.collect import sources_listing
from autoj.reports.construct import drops_listing, stages_listing
from autoj.reports.text import excerpt, visible_text

_QUERY_CHARACTERS = 60
_ACROSS = 2
"""The number of names with their counts in a line of a long table."""
_LABELS = {"a": "win (the first is better)", "b": "lose", "tie": "tie"}


def stage_view(stage: StageFolder, n_shown: int) -> RenderableType:
    """One stage: its figures, its findings, and the first rows that it dropped.

    Args:
        stage: a finished stage.
        n_shown: the number of dropped rows to list.
    """
    summary = stage.summary()
    assert summary is not None
    parts: list[RenderableType] = [stages_listing((summary,)), *drops_listing((summary,))]
    for note, view in _FINDINGS.items():
        if summary.notes.get(note):
            parts += [Text(), *view(summary.notes[note])]
    n_dropped = sum(summary.dropped.values())
    if n_dropped and n_shown:
        parts += [Text(), _dropped(stage, n_shown)]
    if n_dropped > n_shown:
        more = f"{n_dropped - n_shown:,} more are" if n_shown else f"{n_dropped:,} rows are"
        parts.append(visible_text(f"{more} in {stage.path / 'dropped.jsonl'}"))
    return Group(*parts)


def stage_record(stage: StageFolder) -> dict[str, Any]:
    """The summary of a finished stage as plain values."""
    summary = stage.summary()
    assert summary is not None
    return asdict(summary)


def _dropped(stage: StageFolder, n_shown: int) -> render.Listing:
    listing = render.Listing(
        render.Column.text("dropped"),
        render.Column.text("because"),
        render.Column.prose("found"),
        render.Column.text("query"),
    )
    for item in islice(stage.dropped(), n_shown):
        query = "" if item.case is None else excerpt(item.case.query, _QUERY_CHARACTERS)
        listing.add(item.id, item.reason, excerpt(item.detail or "", _QUERY_CHARACTERS), query)
    return listing


def _contaminated(reports: list[dict[str, Any]]) -> Iterator[RenderableType]:
    numbers = ("its rows", "shared", "our rows", "same text")
    listing = render.Listing(render.Column.prose("test set"), *map(render.Column.number, numbers))
    for report in reports:
        listing.add(
            report["path"],
            report["n_rows"],
            report["n_shared_test"],
            report["n_shared_ours"],
            report["n_same_text"],
        )
    yield listing


def _made(kinds: Mapping[str, Mapping[str, int]]) -> Iterator[RenderableType]:
    """The made pairs of each kind."""
    numbers = ("wanted", "made", "kept")
    listing = render.Listing(render.Column.text("made pairs"), *map(render.Column.number, numbers))
    for name, kind in kinds.items():
        listing.add(name, kind["n_wanted"], kind["n_made"], kind["n_kept"])
    yield listing


def _rules(found: Mapping[str, list[dict[str, Any]]]) -> Iterator[RenderableType]:
    """The accuracy of rules among the made pairs, before and after thinning."""
    rows = [
        (f"{estimate.name}, {when}", render.estimate_line(estimate))
        for when, listed in (("made", found["before"]), ("kept", found["after"]))
        for estimate in (Estimate(**{**one, "bounds": None}) for one in listed)
    ]
    yield Text("rules that decide made pairs without judging (50 % is best)")
    yield render.facts(rows)


def _pairs(tables: Mapping[str, Mapping[str, int]]) -> Iterator[RenderableType]:
    """Table 20 of the rows to train on."""
    labels = {_LABELS.get(label, label): n for label, n in tables["label"].items()}
    yield Text(f"{sum(labels.values()):,} pairs to train on, each once (Table 20)", style="bold")
    yield _counted("label", labels)
    for column in ("judgment", "source", "scenario"):
        yield Text()
        yield _counted(column, tables[column])


def _singles(tables: Mapping[str, Mapping[str, int]]) -> Iterator[RenderableType]:
    """Table 21 of the rows to train on."""
    ratings = dict(sorted(tables["rating"].items(), key=lambda item: float(item[0])))
    n_rows = sum(ratings.values())
    yield Text(f"{n_rows:,} single responses to train on, each once (Table 21)", style="bold")
    yield _counted("rating", ratings)
    yield Text()
    yield _counted("scenario", tables["scenario"])


def _counted(heading: str, counts: Mapping[str, int]) -> render.Listing:
    """Names with their numbers, down the first column and then the next one."""
    names = list(counts)
    n_columns = min(_ACROSS, len(names))
    n_rows = -(-len(names) // n_columns)
    columns = [
        column
        for at in range(n_columns)
        for column in (render.Column.text("" if at else heading), render.Column.number("rows"))
    ]
    listing = render.Listing(*columns)
    for row in range(n_rows):
        chosen = names[row::n_rows]
        cells = [cell for name in chosen for cell in (name, counts[name])]
        listing.add(*cells, *[""] * (2 * (n_columns - len(chosen))))
    return listing


def _sources(sources: list[dict[str, Any]]) -> Iterator[RenderableType]:
    yield sources_listing(sources)


_FINDINGS: Mapping[str, Callable[[Any], Iterator[RenderableType]]] = {
    "sources": _sources,
    "contamination": _contaminated,
    "made": _made,
    "rules": _rules,
    "pairs": _pairs,
    "singles": _singles,
}
