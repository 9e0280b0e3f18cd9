"""The page of a construction: each stage's rows in, kept and dropped, its cost, and samples."""

import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from autoj.construct.binding import recorded
from autoj.construct.folder import Construction
from autoj.construct.stages import StageFolder
from autoj.jsonl import encode
from autoj.records import Case
from autoj.reports import render
from autoj.reports.html.construction_sections import construction_sections
from autoj.reports.html.listing import (
    EntryText,
    LeftRows,
    ListFilter,
    Listing,
    PageEntry,
    id_digest,
    named_apart,
    shown,
)
from autoj.reports.html.page import Page, RunPart
from autoj.reports.text import page_text
from autoj.runs.watch import Watch

_MOST_SAMPLED = 50
"""The most rows of a stage that were kept, or that were dropped for one reason."""
_LONG = 100
"""Characters from which a field of a row is shown as a text."""


def constructed_page(path: Path, most: int, left: LeftRows, watch: Watch) -> Page:
    """The page of a construction.

    Args:
        path: its folder, finished or not.
        most: the most rows that the page holds, about; they are drawn by their ids, as many of each
            stage and reason as of any other.
        left: takes nothing: all rows are in the stages' folders.
        watch: hears of the progress.

    Raises:
        DataError: the folder is no construction, or a file of it is damaged.
        MissingExtra: the extra `report` is not installed.
    """
    found = Construction.open(path)
    title = recorded(path)["recipe"].get("title")
    stages = [
        (f"{number}. {name}", found.stage(str(number)))
        for number, name in enumerate(found.names[: len(found.summaries)], start=1)
    ]
    n_piles = sum(1 + len(summary.dropped) for summary in found.summaries)
    wanted = min(_MOST_SAMPLED, -(-most // max(1, n_piles)))
    entries = []
    for at, (name, stage) in enumerate(stages, start=1):
        watch.progress(f"reading {stage.path.name}", at, len(stages))
        entries += _sampled(name, stage, wanted)
    return Page(
        title=shown(title) if isinstance(title, str) and title else shown(path.name),
        banners=list(_banners(found, entries)),
        runs=[
            RunPart(
                name=shown(path.name),
                headline=_headline(found),
                facts=[*_facts(found)],
                sections=list(construction_sections(found)),
                about="The construction",
            )
        ],
        rows=Listing(
            noun="rows",
            filters=(
                ListFilter(name="stage", label="Stage", words={name: name for name, _ in stages}),
                ListFilter(name="outcome", label="Outcome"),
                ListFilter(name="reason", label="Dropped because"),
                ListFilter(name="source", label="Source"),
                ListFilter(name="scenario", label="Scenario"),
            ),
            orders={},
            entries=named_apart(entries),
        ),
    )


def _sampled(name: str, stage: StageFolder, n_wanted: int) -> list[PageEntry]:
    """Rows of a stage, as many that were kept as were dropped for any one reason."""
    kept = _Pile(n_wanted)
    dropped: dict[str, _Pile] = {}
    for case in stage.kept():
        kept.add(case.id, case)
    for item in stage.dropped():
        dropped.setdefault(item.reason, _Pile(n_wanted)).add(item.id, item)
    entries = [_entry(name, case, case.id, None, None) for case in kept.drawn()]
    for reason, pile in dropped.items():
        entries += [_entry(name, item.case, item.id, reason, item.detail) for item in pile.drawn()]
    return entries


class _Pile:
    """Draws rows by their ids, the same ones each time, and holds no others."""

    def __init__(self, n_wanted: int) -> None:
        self._n_wanted, self._n = n_wanted, 0
        self._heap: list[tuple[int, int, Any]] = []

    def add(self, row_id: str, row: Any) -> None:
        self._n += 1
        # The largest digest lies on top; the number keeps rows of equal ids apart.
        item = (-id_digest(row_id), -self._n, row)
        if len(self._heap) < self._n_wanted:
            heapq.heappush(self._heap, item)
        elif self._heap and item > self._heap[0]:
            heapq.heapreplace(self._heap, item)

    def drawn(self) -> list[Any]:
        """The rows, in the order in which they came."""
        return [row for _, _, row in sorted(self._heap, key=lambda item: -item[1])]


def _entry(
    stage: str, case: Case | None, row_id: str, reason: str | None, detail: str | None
) -> PageEntry:
    outcome = "kept" if reason is None else "dropped"
    because = () if reason is None else (shown(reason),)
    facts = [("stage", stage), ("outcome", " because: ".join([outcome, *because]))]
    if detail is not None:
        facts.append(("found", shown(detail)))
    texts: list[EntryText] = []
    if case is not None:
        for label, value in (
            ("label", case.label),
            ("scenario", case.scenario),
            ("source", case.source),
        ):
            if value is not None:
                facts.append((label, shown(str(value))))
        paired = len(case.responses) == 2
        for at, response in enumerate(case.responses):
            name = "ab"[at] if paired else str(at + 1)
            model = "" if response.model is None else f" ({shown(response.model)})"
            heading = f"Response {name}{model}"
            if case.label == name:
                heading += ", better by its label"
            chosen = case.label == name
            texts.append(EntryText(heading=heading, text=page_text(response.text), chosen=chosen))
        for field, value in case.meta.items():
            text = value if isinstance(value, str) else encode(value).decode().strip()
            if len(text) < _LONG and "\n" not in text:
                facts.append((shown(field), shown(text)))
            else:
                texts.append(EntryText(heading=shown(field), text=page_text(text)))
    return PageEntry(
        id=f"{stage}: {shown(row_id)}",
        query=None if case is None else page_text(case.query),
        summary=" · ".join([outcome, *because]),
        values={
            "stage": (stage,),
            "outcome": (outcome,),
            "reason": because,
            "source": () if case is None or case.source is None else (shown(case.source),),
            "scenario": () if case is None or case.scenario is None else (shown(case.scenario),),
        },
        tags=tuple((reason, True) for reason in because),
        facts=tuple(facts),
        texts=tuple(texts),
    )


def _headline(found: Construction) -> str:
    summaries = found.summaries
    text = f"{len(summaries)} of {found.n_stages} stages are done"
    if summaries:
        first, last = summaries[0], summaries[-1]
        text += f": {first.n_in:,} rows in, {last.n_kept:,} kept by {last.name}"
    return text


def _facts(found: Construction) -> Iterator[tuple[str, str]]:
    asked = [summary for summary in found.summaries if summary.n_requests]
    yield "stages", ", ".join(found.names)
    if asked:
        read = sum(summary.prompt_tokens for summary in asked)
        written = sum(summary.completion_tokens for summary in asked)
        yield "asked", f"{sum(summary.n_requests for summary in asked):,} answers of teachers"
        yield "tokens", f"{read:,} read, {written:,} written"
        known = [summary.usd for summary in asked if summary.usd is not None]
        if known:
            more = "" if len(known) == len(asked) else "; some cards state no prices"
            yield "cost", render.usd(sum(known)) + more
    yield "seed", str(found.seed)
    yield "folder", shown(str(found.path))


def _banners(found: Construction, entries: Sequence[PageEntry]) -> Iterator[str]:
    if found.stale:
        yield (
            f"Made before the last review: {', '.join(found.stale)}. The same command makes them "
            "again, and asks the teacher nothing twice."
        )
    if len(found.summaries) < found.n_stages:
        left = ", ".join(found.names[len(found.summaries) :])
        yield f"Stages that are not done: {left}. The same command goes on."
    n = sum(summary.n_kept + sum(summary.dropped.values()) for summary in found.summaries)
    if len(entries) < n:
        yield (
            f"The counts are of all rows. The page holds {len(entries):,} of the {n:,} rows of the "
            "stages, drawn at random by their ids, at most so many of each stage and reason as of "
            "any other; all are in kept.jsonl and dropped.jsonl in the stages' folders."
        )
