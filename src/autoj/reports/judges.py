"""The cards of judges, as tables."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from autoj import components
from autoj.judges.readiness import Readiness
from autoj.protocols import protocols_of
from autoj.records import JudgeCard
from autoj.reports import render
from autoj.reports.text import visible_text

_NAME_COLUMNS = 32


def judges_table(cards: Iterable[JudgeCard]) -> render.Listing:
    """Judges by name, with what each lacks on this machine."""
    columns = map(render.Column.prose, ("what", "runs here"))
    listing = render.Listing(render.Column.word("name"), *columns)
    for card in cards:
        name = visible_text(card.name)
        # A name is there to be typed, so texts are wrapped before it is cut.
        name.truncate(_NAME_COLUMNS, overflow="ellipsis")
        listing.add(name, card.title, _runs_here(card))
    return listing


def _runs_here(card: JudgeCard) -> Text:
    found = Readiness.of(card)
    if found.lacks:
        return visible_text(f"needs {' and '.join(found.lacks)}", style="yellow")
    conditions = []
    if found.fetch_bytes is not None:
        conditions.append(f"fetches {found.fetch_bytes / 1e6:,.0f} MB first")
    elif found.fetches:
        conditions.append("fetches its weights first")
    if found.server is not None:
        conditions.append(f"if {found.server} answers")
    return visible_text(", ".join(["yes", *conditions]))


def _needs(card: JudgeCard) -> str:
    if card.backend in components.names("backends"):
        return "nothing more" if card.backend == "scripted" else f"autoj[{card.backend}]"
    return f"autoj[{card.backend}], in a later version"


def _weights(surface: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {weight:+.3g}" for name, weight in surface.items())


def _calibrations(card: JudgeCard) -> str | None:
    fitted = [
        f"{protocol}: temperature {found.temperature:.3g}, half tie band {found.tie:.3g}"
        + (f", style features {_weights(found.surface)}" if found.surface else "")
        + (f" (fitted on {found.fitted_on})" if found.fitted_on else "")
        for protocol, found in card.calibration.items()
    ]
    return "; ".join(fitted) or None


def card_record(card: JudgeCard) -> dict[str, Any]:
    """A card as plain values, with what it lacks on this machine."""
    found = Readiness.of(card)
    return asdict(card) | {"runs_here": {"ready": found.ready} | asdict(found)}


def card_table(card: JudgeCard) -> Table:
    """The contents of a card."""
    decoding = card.decoding
    rows: list[tuple[str, Text | str | None]] = [
        ("name", card.name),
        ("what", card.title),
        ("backend", card.backend),
        ("needs", _needs(card)),
        ("runs here", _runs_here(card)),
        ("model", card.model),
        ("revision", card.revision),
        ("adapter", card.adapter),
        ("wrapper", card.wrapper),
        ("prompts", ", ".join(its.name for its in protocols_of(card)[: len(card.prompts)]) or None),
        ("protocols", ", ".join(card.protocols) or None),
        ("context", f"{card.context_tokens:,} tokens"),
        ("languages", ", ".join(card.languages)),
        (
            "decoding",
            f"temperature {decoding.temperature:g}, top_p {decoding.top_p:g}, "
            f"at most {decoding.max_tokens:,} tokens",
        ),
        ("calibrated", _calibrations(card)),
        ("trained on", "; ".join(card.training_data) or None),
        ("licence", card.licence),
        ("notes", card.notes),
    ]
    for figure in card.published:
        unit = "" if figure.unit in {"r", "rho"} else f" {figure.unit}"
        rows.append(("published", f"{figure.name}: {figure.value:g}{unit} ({figure.source})"))
    return render.facts((label, value) for label, value in rows if value is not None)
