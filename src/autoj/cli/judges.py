"""`autoj judges`: the cards of the judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from autoj import components
from autoj.cli import _console, _options
from autoj.errors import ConfigError
from autoj.judges import card_text, judge_names, load_card
from autoj.records import JudgeCard
from autoj.reports.text import visible_text

__all__ = ["judges_app"]

judges_app = typer.Typer(invoke_without_command=True)


@judges_app.callback()
def judges(context: typer.Context, as_json: _options.Json = False) -> None:
    """List the judges that have a card; `autoj judges show NAME` shows one.

    Example: autoj judges
    """
    _console.set_json(as_json)
    if context.invoked_subcommand is not None:
        return
    cards = [load_card(name) for name in judge_names()]
    if as_json:
        _console.print_json([asdict(card) for card in cards])
        return
    table = Table(box=None, header_style="bold", padding=(0, 1))
    for name in ("name", "what", "needs"):
        table.add_column(name, overflow="fold", no_wrap=name == "name")
    for card in cards:
        table.add_row(*map(visible_text, (card.name, card.title, _needs(card))))
    _console.print_result(table)


@judges_app.command("show")
def show_judge(
    name: Annotated[str, typer.Argument(help="A judge's name, a card's path, or backend:model.")],
    as_yaml: Annotated[
        bool, typer.Option("--yaml", help="The card's own file, to be copied and changed.")
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Show a judge's card: model, wrapper, protocols, decoding, licence, published figures.

    Example: autoj judges show autoj-13b
    """
    _console.set_json(as_json)
    if as_yaml and as_json:
        raise ConfigError("--yaml and --json exclude each other")
    if as_yaml:
        # What is a card is YAML, which holds no control characters.
        typer.echo(card_text(name), nl=False)
        return
    card = load_card(name)
    if as_json:
        _console.print_json(asdict(card))
    else:
        _console.print_result(_card_table(card))


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


def _card_table(card: JudgeCard) -> Table:
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
