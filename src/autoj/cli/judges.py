"""`autoj judges`: the cards of the judges."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from autoj.cli import _completion, _console, _options
from autoj.cli._help import App
from autoj.errors import ConfigError
from autoj.judges import card_text, judge_names, load_card
from autoj.judges.readiness import Readiness
from autoj.records import JudgeCard
from autoj.reports.judges import card_table, judges_table

judges_app = App(invoke_without_command=True)


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
        _console.print_json([_record(card) for card in cards])
    else:
        _console.print_result(judges_table(cards))


@judges_app.command("show")
def show_judge(
    name: Annotated[
        str,
        typer.Argument(
            help="A judge's name, a card's path, or backend:model.",
            autocompletion=_completion.judges,
        ),
    ],
    as_yaml: Annotated[
        bool,
        typer.Option(
            "--yaml",
            help="Print the card's YAML file, to copy and change.",
            rich_help_panel=_options.OUTPUT,
        ),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Show a judge's card: model, wrapper, protocols, decoding, licence, published figures.

    Example: autoj judges show autoj-13b
    """
    _console.set_json(as_json)
    if as_yaml and as_json:
        raise ConfigError("--yaml and --json cannot be used together")
    if as_yaml:
        # A card is YAML, which has no control characters.
        typer.echo(card_text(name), nl=False)
        return
    card = load_card(name)
    if as_json:
        _console.print_json(_record(card))
    else:
        _console.print_result(card_table(card))


def _record(card: JudgeCard) -> dict[str, Any]:
    found = Readiness.of(card)
    return asdict(card) | {"runs_here": {"ready": found.ready} | asdict(found)}
