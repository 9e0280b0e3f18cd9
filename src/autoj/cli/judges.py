"""`autoj judges`: the cards of the judges."""

import sys
from typing import Annotated

import typer

from autoj.cli import _completion, _console, _options
from autoj.cli._help import App
from autoj.errors import ConfigError
from autoj.judges import card_text, judge_names, load_card
from autoj.reports.judges import card_record, card_table, judges_table
from autoj.reports.text import visible

judges_app = App(invoke_without_command=True)


@judges_app.callback()
def judges(context: typer.Context, as_json: _options.Json = False) -> None:
    """List the judges that have a card; `autoj judges show NAME` shows one.

    Example: autoj judges
    """
    if context.invoked_subcommand is not None:
        return
    cards = [load_card(name) for name in judge_names()]
    _console.show(cards, lambda its: [*map(card_record, its)], judges_table)


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
        _options.output("--yaml", help="Print the card's YAML file, to copy and change."),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Show a judge's card: model, wrapper, protocols, decoding, licence, published figures.

    Example: autoj judges show autoj-13b
    """
    if as_yaml and as_json:
        raise ConfigError("--yaml and --json cannot be used together")
    if as_yaml:
        # A file is copied as it is; on a terminal it may not move the cursor.
        text = card_text(name)
        typer.echo(visible(text) if sys.stdout.isatty() else text, nl=False)
        return
    _console.show(load_card(name), card_record, card_table)
