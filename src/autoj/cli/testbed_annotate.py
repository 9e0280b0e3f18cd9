"""`autoj testbed annotate`: people label pairs, in the terminal or in Label Studio."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.construct.testbed import label_studio
from autoj.construct.testbed.annotating import Annotation, Choice
from autoj.construct.testbed.folder import Testbed
from autoj.construct.testbed.labels import undecided_pairs
from autoj.errors import ConfigError
from autoj.reports.testbed import imported_text, page_view

_KEYS: dict[str, Choice] = {"1": "1", "2": "2", "t": "tie", "s": "skip"}
_MENU = "1 or 2: this response is better   t: tie   s: skip   b: back   q: quit"


def annotate(
    testbed: Annotated[Path, typer.Argument(help="A testbed's folder.")],
    annotator: Annotated[
        str | None,
        typer.Option(
            "--annotator",
            help="Your name; answers are kept under it, so that you can go on later.",
            rich_help_panel=_options.ASKING,
        ),
    ] = None,
    undecided: Annotated[
        bool,
        typer.Option(
            "--undecided",
            help="Only pairs on which others disagree without a majority.",
            rich_help_panel=_options.ASKING,
        ),
    ] = False,
    to_label_studio: Annotated[
        Path | None,
        typer.Option(
            help="Write the pairs as tasks of Label Studio (JSON), and beside them the labeling "
            "configuration (.xml).",
            rich_help_panel=_options.OUTPUT,
        ),
    ] = None,
    from_label_studio: Annotated[
        Path | None,
        typer.Option(
            help="Add the answers of Label Studio's export, format JSON.",
            rich_help_panel=_options.ASKING,
        ),
    ] = None,
) -> None:
    """Label pairs, blind to models and order: in the terminal, or in Label Studio.

    Each answer is kept at once; the last one to a pair counts. Where no terminal is at hand, keys
    are read from stdin, one a line.

    Example: autoj testbed annotate data/testbed --annotator anna
    """
    ways = (annotator, to_label_studio, from_label_studio)
    if sum(way is not None for way in ways) != 1:
        raise ConfigError("give one of --annotator, --to-label-studio and --from-label-studio")
    opened = Testbed.open(testbed)
    chosen = undecided_pairs(opened) if undecided else None
    if to_label_studio is not None:
        n_tasks = label_studio.write_tasks(opened, to_label_studio, chosen)
        config = label_studio.config_path(to_label_studio)
        _console.print_message(f"{n_tasks:,} tasks are in {to_label_studio}, and {config}")
    elif from_label_studio is not None:
        found = label_studio.read_export(opened, from_label_studio)
        _console.print_message(imported_text(found))
    else:
        assert annotator is not None
        _at_work(Annotation(opened, annotator, chosen))


def _at_work(annotation: Annotation) -> None:
    """Show pair after pair, and keep what is answered."""
    with annotation.opened():
        while (page := annotation.page()) is not None:
            _console.print_result(
                page_view(page, annotation.number, annotation.n_pages, annotation.earlier())
            )
            while (key := _key()) not in (*_KEYS, "b", "q"):
                _console.print_message(f"{key!r} is no key: {_MENU}")
            if key == "q":
                break
            if key in _KEYS:
                annotation.answer(_KEYS[key])
            elif not annotation.back():
                _console.print_message("this is the first pair")
    _console.print_message(
        f"{annotation.n_answered:,} of {annotation.n_pages:,} pairs are answered"
        + ("" if annotation.page() is None else "; the same command goes on")
    )


def _key() -> str:
    """The next key, in lower case; q at the end of stdin."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip().lower() if line else "q"
    _console.print_message(_MENU)
    try:
        return typer.getchar().lower()
    except EOFError:
        return "q"
