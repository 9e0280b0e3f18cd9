"""A construction for a reader: its stages, one stage's drops, and its cost before it is asked."""

from __future__ import annotations

from itertools import islice

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.construct.estimate import (
    CHARACTERS_PER_TOKEN,
    WRITTEN_TOKENS,
    ConstructEstimate,
    TeacherEstimate,
)
from autoj.construct.pipeline import TRAIN, Construction
from autoj.construct.stages import StageFolder, StageSummary
from autoj.reports import render
from autoj.reports.text import excerpt, visible_text

_QUERY_CHARACTERS = 60


def construction_view(construction: Construction) -> RenderableType:
    """The stages of a construction, with the reasons of drops, and the way on."""
    parts: list[RenderableType] = [_stages(construction.summaries), *_drops(construction.summaries)]
    n_done, n_stages = len(construction.summaries), construction.n_stages
    if n_done < n_stages:
        said = f"{n_done} of {n_stages} stages are done; the same command goes on"
        parts.append(Text(said, style="bold"))
    elif (mixed := construction.summaries[-1]).name == "mix":
        parts += [Text(), _mixed(mixed), Text()]
        parts.append(
            visible_text(f"autoj train RECIPE --data {construction.path / TRAIN}/train.jsonl")
        )
    return Group(*parts)


def _stages(summaries: tuple[StageSummary, ...]) -> render.Listing:
    numbers = ("in", "kept", "dropped", "made", "requests", "tokens", "USD")
    listing = render.Listing(render.Column.text("stage"), *map(render.Column.number, numbers))
    for summary in summaries:
        tokens = summary.prompt_tokens + summary.completion_tokens
        listing.add(
            summary.name,
            summary.n_in,
            summary.n_kept,
            sum(summary.dropped.values()),
            summary.n_made,
            summary.n_requests or None,
            tokens or None,
            render.number(summary.usd, 4),
        )
    return listing


def _drops(summaries: tuple[StageSummary, ...]) -> list[RenderableType]:
    """The reasons of all stages, and what each test set shared."""
    dropped = [
        (summary.name, reason, count)
        for summary in summaries
        for reason, count in summary.dropped.items()
    ]
    if not dropped:
        return []
    columns = (render.Column.text("dropped by"), render.Column.text("because"))
    listing = render.Listing(*columns, render.Column.number("rows"))
    for name, reason, count in dropped:
        listing.add(name, reason, count)
    return [Text(), listing]


def _mixed(summary: StageSummary) -> RenderableType:
    labels = {
        "n_train": "rows to train on",
        "n_validation": "for validation",
        "n_held_out": "of held-out scenarios",
        "n_release": "prompts with judgments, in both orders",
        "n_preference": "decided pairs (prompt, chosen, rejected)",
    }
    return render.facts(
        [(label, render.count(summary.notes[name])) for name, label in labels.items()]
    )


def stage_view(stage: StageFolder, n_shown: int) -> RenderableType:
    """One stage: its figures, and the first rows that it dropped.

    Args:
        stage: a finished stage.
        n_shown: the number of dropped rows to list.
    """
    summary = stage.summary()
    assert summary is not None
    listing = render.Listing(
        render.Column.text("dropped"),
        render.Column.text("because"),
        render.Column.prose("found"),
        render.Column.text("query"),
    )
    for item in islice(stage.dropped(), n_shown):
        query = "" if item.case is None else excerpt(item.case.query, _QUERY_CHARACTERS)
        listing.add(item.id, item.reason, excerpt(item.detail or "", _QUERY_CHARACTERS), query)
    parts: list[RenderableType] = [_stages((summary,)), *_drops((summary,))]
    parts += [_contaminated(summary)] if "contamination" in summary.notes else []
    n_dropped = sum(summary.dropped.values())
    if n_dropped:
        parts += [Text(), listing]
    if n_dropped > n_shown:
        parts.append(
            visible_text(f"{n_dropped - n_shown:,} more are in {stage.path / 'dropped.jsonl'}")
        )
    return Group(*parts)


def _contaminated(summary: StageSummary) -> render.Listing:
    numbers = ("its rows", "shared", "our rows", "same text")
    listing = render.Listing(render.Column.prose("test set"), *map(render.Column.number, numbers))
    for report in summary.notes["contamination"]:
        listing.add(
            report["path"],
            report["n_rows"],
            report["n_shared_test"],
            report["n_shared_ours"],
            report["n_same_text"],
        )
    return listing


def estimate_view(found: ConstructEstimate) -> RenderableType:
    """The cost of a construction, with the assumptions behind it."""
    parts: list[RenderableType] = [_stages(found.done), *_drops(found.done), Text()]
    if not found.teachers:
        return Group(*parts, Text("no stage asks a teacher: this costs nothing"))
    for teacher in found.teachers:
        parts += [_teacher(teacher), Text()]
    stages = {teacher.stage for teacher in found.teachers}
    said: list[str] = []
    if stages != {"translate"}:
        said += [
            "The least is what is asked if every judgment of a pair is kept, the most if none is.",
            f"Assumed: {WRITTEN_TOKENS} tokens a judgment.",
        ]
    said.append(f"Assumed: {CHARACTERS_PER_TOKEN} characters a token.")
    if "translate" in stages:
        said.append(
            "Of a translation the least is what is asked if no query's is kept, the most if all "
            "are; Chinese is taken for a third as many characters as English, and each for a token."
        )
    if found.not_estimated:
        said.append(
            f"Not estimated, as it depends on the answers: {', '.join(found.not_estimated)}."
        )
    return Group(*parts, *map(Text, said))


def _teacher(teacher: TeacherEstimate) -> RenderableType:
    usd = "unknown: the card states no prices"
    if teacher.usd is not None:
        usd = " to ".join(dict.fromkeys(f"{price:,.2f}" for price in teacher.usd))
    return render.facts(
        [
            ("stage", teacher.stage),
            ("teacher", teacher.teacher),
            ("it may be asked about", render.count(teacher.n_in)),
            ("kept, at most", render.count(teacher.n_kept_most)),
            ("requests", _range(teacher.n_requests)),
            ("prompt tokens", _range(teacher.prompt_tokens)),
            ("completion tokens", _range(teacher.completion_tokens)),
            ("USD", usd),
        ]
    )


def _range(ends: tuple[int, int]) -> str:
    least, most = ends
    return render.count(least) if least == most else f"{least:,} to {most:,}"
