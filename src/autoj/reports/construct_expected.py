"""The expected size and cost of a construction whose data are not all at hand, for a reader."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.construct.expectation import Expectation
from autoj.construct.expected_rows import ExpectedSource, ExpectedStage
from autoj.reports import render
from autoj.reports.text import visible_text


def expectation_view(found: Expectation) -> RenderableType:
    """Sources, stages and cost, beside what was published, with what is assumed."""
    title = "An estimate from declared counts: nothing was fetched, and nobody was asked."
    parts: list[RenderableType] = [Text(title, style="bold"), Text()]
    parts += [_sources(found.sources), Text(), _stages(found.stages), Text(), _results(found)]
    return Group(*parts, Text(), *_notes(found))


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
