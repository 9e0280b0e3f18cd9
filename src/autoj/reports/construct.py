"""A construction for a reader: its stages, and its cost before it is asked."""

from collections.abc import Collection, Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.construct.estimate import (
    CHARACTERS_PER_TOKEN,
    WRITTEN_TOKENS,
    ConstructEstimate,
    TeacherEstimate,
)
from autoj.construct.expectation import Expectation
from autoj.construct.expected_rows import ExpectedSource, ExpectedStage
from autoj.construct.folder import Construction
from autoj.construct.stage_work import TRAIN
from autoj.construct.stages import StageSummary
from autoj.reports import render
from autoj.reports.construct_review import reviewed_view
from autoj.reports.text import visible_text

_KEPT = {"classify": "names", "seeds": "queries", "translate": "rows"}
"""The results of teachers that write no judgments."""


def construction_view(construction: Construction) -> RenderableType:
    """The stages of a construction, with the reasons of drops, and the way on."""
    summaries, stale = construction.summaries, construction.stale
    parts: list[RenderableType] = [stages_listing(summaries, stale), *drops_listing(summaries)]
    if construction.reviewed is not None:
        parts += [Text(), reviewed_view(construction.reviewed)]
    n_done = sum(summary.name not in stale for summary in summaries)
    if stale:
        said = (
            f"Made before the last review: {', '.join(stale)}. The same command makes them again, "
            "and asks the teacher nothing twice."
        )
        parts += [Text(), Text(said, style="bold")]
    elif n_done < construction.n_stages:
        said = f"{n_done} of {construction.n_stages} stages are done; the same command goes on"
        parts.append(Text(said, style="bold"))
    elif (mixed := summaries[-1]).name == "mix":
        parts += [Text(), _mixed(mixed), Text()]
        parts.append(
            visible_text(f"autoj train RECIPE --data {construction.path / TRAIN}/train.jsonl")
        )
    return Group(*parts)


def construction_record(construction: Construction) -> dict[str, Any]:
    """The stages of a construction as plain values, with what a review left stale."""
    found = asdict(construction)
    kept = {name: found[name] for name in ("stale", "reviewed")}
    return {"construction": str(construction.path), "stages": found["summaries"], **kept}


def stages_listing(
    summaries: tuple[StageSummary, ...], stale: Collection[str] = ()
) -> render.Listing:
    """The counts and the cost of stages, one a line."""
    numbers = ("in", "kept", "dropped", "made", "requests", "tokens", "USD")
    listing = render.Listing(render.Column.text("stage"), *map(render.Column.number, numbers))
    for summary in summaries:
        tokens = summary.prompt_tokens + summary.completion_tokens
        listing.add(
            f"{summary.name} (stale)" if summary.name in stale else summary.name,
            summary.n_in,
            summary.n_kept,
            sum(summary.dropped.values()),
            summary.n_made,
            summary.n_requests or None,
            tokens or None,
            render.number(summary.usd, 4),
        )
    return listing


def drops_listing(summaries: tuple[StageSummary, ...]) -> list[RenderableType]:
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
        "n_release": "prompts with judgments, for other trainers",
        "n_preference": "decided pairs (prompt, chosen, rejected)",
    }
    return render.facts(
        [(label, render.count(summary.notes[name])) for name, label in labels.items()]
    )


def estimate_view(found: ConstructEstimate) -> RenderableType:
    """The cost of a construction, with the assumptions behind it."""
    parts: list[RenderableType] = [stages_listing(found.done), *drops_listing(found.done), Text()]
    if not found.teachers:
        return Group(*parts, Text("no stage asks a teacher: this costs nothing"))
    for teacher in found.teachers:
        parts += [teacher_facts(teacher), Text()]
    stages = {teacher.stage for teacher in found.teachers}
    said: list[str] = []
    if stages != {"translate"}:
        said += [
            "The least is what is asked if every judgment of a pair is kept, the most if none is.",
            f"Assumed: {WRITTEN_TOKENS} tokens a judgment.",
        ]
    said.append(f"Assumed: {CHARACTERS_PER_TOKEN} characters a token.")
    if found.guesses_scenarios:
        said.append(
            "The embedded classifier's guesses stand here for the names that the judge will give."
        )
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


def teacher_facts(teacher: TeacherEstimate) -> RenderableType:
    """The questions of a stage to its teacher, and their cost."""
    usd = "unknown: the card states no prices"
    if teacher.usd is not None:
        usd = " to ".join(dict.fromkeys(f"{price:,.2f}" for price in teacher.usd))
    kept = _KEPT.get(teacher.stage, "judgments")
    return render.facts(
        [
            ("stage", teacher.stage),
            ("teacher", teacher.teacher),
            ("it may be asked about", render.count(teacher.n_in)),
            (f"{kept} kept, at most", render.count(teacher.n_kept_most)),
            ("requests", _range(teacher.n_requests)),
            ("prompt tokens", _range(teacher.prompt_tokens)),
            ("completion tokens", _range(teacher.completion_tokens)),
            ("USD", usd),
        ]
    )


def expectation_view(found: Expectation) -> RenderableType:
    """Sources, stages and cost, beside what was published, with what is assumed."""
    title = "An estimate from declared counts: nothing was fetched, and nobody was asked."
    parts: list[RenderableType] = [Text(title, style="bold"), Text()]
    parts += [_sources(found.sources), Text(), _stages(found.stages), Text(), _results(found)]
    return Group(*parts, Text(), *_notes(found))


def _range(ends: tuple[int, int]) -> str:
    least, most = ends
    return render.count(least) if least == most else f"{least:,} to {most:,}"


def _sources(sources: tuple[ExpectedSource, ...]) -> render.Listing:
    listing = render.Listing(
        render.Column.text("source"),
        render.Column.number("rows"),
        render.Column.number("kept by collect"),
        render.Column.text("by"),
    )
    for source in sources:
        by = "counting" if source.is_counted else "its declared rows"
        listing.add(source.name, source.n_rows, round(source.n_kept), by)
    return listing


def _stages(stages: tuple[ExpectedStage, ...]) -> render.Listing:
    numbers = ("in", "kept", "made", "requests", "tokens", "USD")
    listing = render.Listing(render.Column.text("stage"), *map(render.Column.number, numbers))
    for stage in stages:
        listing.add(
            stage.stage,
            stage.n_in,
            stage.n_kept,
            stage.n_made or None,
            stage.n_requests or None,
            stage.prompt_tokens + stage.completion_tokens or None,
            render.number(stage.usd, 2),
        )
    return listing


def _results(found: Expectation) -> render.Listing:
    """The judgments, beside those of whoever published theirs."""
    who, n_pairs, n_singles = found.published
    has_published = n_pairs is not None or n_singles is not None
    columns = [render.Column.text("judgments"), render.Column.number("expected")]
    if has_published:
        columns.append(render.Column.number(f"{who} (published)"))
    listing = render.Listing(*columns)
    rows = (
        ("pairs", sum(found.pairs.values()), n_pairs),
        ("single responses", found.n_singles, n_singles),
    )
    for name, expected, published in rows:
        listing.add(name, expected, *([published] if has_published else []))
    return listing


def _notes(found: Expectation) -> Iterator[Text]:
    if found.pairs:
        most = max(found.pairs.values())
        full = [name for name, n in found.pairs.items() if n == most]
        fewest = ", ".join(f"{name} {n}" for name, n in list(found.pairs.items())[-5:])
        yield Text(
            f"{len(full)} of {len(found.pairs)} scenarios have {most} pairs; the fewest: {fewest}."
        )
    costs = [stage.usd for stage in found.stages if stage.usd is not None]
    if costs:
        yield Text(f"All teachers together: {sum(costs):,.2f} USD.")
    yield Text()
    yield Text("Assumed, not measured on these data:", style="bold")
    for line in found.assumptions:
        yield visible_text(f"- {line}")
    if found.not_estimated:
        yield Text(f"- Not estimated: {', '.join(found.not_estimated)}.")
    if found.absent:
        yield Text()
        yield Text("Not on this machine, and needed by the construction itself:", style="bold")
        yield from (visible_text(f"- {name}") for name in found.absent)
