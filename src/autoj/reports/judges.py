"""The cards of judges, as tables; 80 columns are enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.table import Table
from rich.text import Text

from autoj import components
from autoj.records import JudgeCard
from autoj.reports.text import visible_text


def judges_table(cards: Iterable[JudgeCard]) -> Table:
    """Judges by name, and what each needs to run."""
    table = Table(box=None, header_style="bold", padding=(0, 1))
    for name in ("name", "what", "needs"):
        table.add_column(name, overflow="fold", no_wrap=name == "name")
    for card in cards:
        table.add_row(*map(visible_text, (card.name, card.title, _needs(card))))
    return table


def _needs(card: JudgeCard) -> str:
    if card.backend in components.names("backends"):
        return "nothing more" if card.backend == "scripted" else f"autoj[{card.backend}]"
    return f"autoj[{card.backend}], in a later version"


def _weights(surface: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {weight:+.3g}" for name, weight in surface.items())


def _calibrations(card: JudgeCard) -> str | None:
    fitted = [
        f"{protocol}: temperature {found.temperature:.3g}, half tie band {found.tie:.3g}"
        + (f", surface {_weights(found.surface)}" if found.surface else "")
        + (f" (fitted on {found.fitted_on})" if found.fitted_on else "")
        for protocol, found in card.calibration.items()
    ]
    return "; ".join(fitted) or None


def card_table(card: JudgeCard) -> Table:
    """All that a card says of its judge."""
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    decoding = card.decoding
    rows: list[tuple[str, str | None]] = [
        ("name", card.name),
        ("what", card.title),
        ("backend", card.backend),
        ("needs", _needs(card)),
        ("model", card.model),
        ("revision", card.revision),
        ("adapter", card.adapter),
        ("wrapper", card.wrapper),
        ("protocols", ", ".join(card.protocols)),
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
    for label, value in rows:
        if value is not None:
            table.add_row(label, visible_text(value))
    for figure in card.published:
        unit = "" if figure.unit in {"r", "rho"} else f" {figure.unit}"
        text = Text(f"{figure.name}: {figure.value:g}{unit} ({figure.source})")
        table.add_row("published", text)
    return table
