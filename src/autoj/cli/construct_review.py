"""`autoj construct review`: a person checks the scenarios that a construction guessed."""

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.construct.review.answers import count_reviews
from autoj.construct.review.opening import ReviewedStage, open_review
from autoj.construct.review.session import Reply, ReviewSession
from autoj.construct.review.sheet import read_sheet
from autoj.errors import ConfigError
from autoj.reports.construct_review import reviewed_view, session_view, write_review_sheet
from autoj.runs.place import locked


def review(
    folder: Annotated[Path, typer.Argument(help="A construction's folder.")],
    stage: Annotated[
        str,
        typer.Option(help="The stage whose names are checked.", rich_help_panel=_options.ASKING),
    ] = "classify",
    per_scenario: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Rows of each guessed scenario at most, drawn by the recipe's seed. Default: 50, "
            "or what a recipe of classifier data states.",
            rich_help_panel=_options.ASKING,
        ),
    ] = None,
    to_csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the rows for a spreadsheet, and ask nothing here. Column review: empty, "
            "ok, drop, or the right scenario.",
            rich_help_panel=_options.OUTPUT,
        ),
    ] = None,
    from_csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Take the answers of a filled sheet.",
            rich_help_panel=_options.ASKING,
        ),
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Check guessed scenarios by hand: right, another name, or drop; up to 50 of each.

    Each answer is kept at once; the same command goes on where you quit. The next `autoj construct`
    goes on with the corrected names. With --json nothing is asked: it shows the shares so far.

    Example: autoj construct review data/mine --stage classify --per-scenario 20
    """
    _console.set_json(as_json)
    if to_csv is not None and from_csv is not None:
        raise ConfigError("--to-csv and --from-csv cannot be used together: give one")
    found = open_review(folder, stage, per_scenario)
    if to_csv is not None:
        write_review_sheet(found, to_csv)
        _console.print_message(
            f"{to_csv} has {len(found.rows):,} rows: fill the column review, and read it with "
            "--from-csv"
        )
        return
    with locked(folder):
        if from_csv is not None:
            read = read_sheet(from_csv, found.stage, found.library)
            _console.print_message(
                f"{read.n_rows:,} rows: {read.n_new:,} new answers, {read.n_empty:,} without one"
            )
        elif not as_json:
            _ask(found)
    counts = count_reviews(found.stage.path)
    if as_json:
        _console.print_json(None if counts is None else asdict(counts))
    elif counts is not None:
        _console.print_result(reviewed_view(counts))


def _ask(found: ReviewedStage) -> None:
    """Show one row after the other, until all are answered or the person quits."""
    with found.session() as session:
        reply = Reply(shows="row")
        while session.current is not None and not reply.quits:
            size = shutil.get_terminal_size()
            _console.print_result(
                session_view(session, reply, found.library, (size.columns, size.lines))
            )
            reply = _typed(session)
            if reply.said is not None:
                _console.print_message(reply.said)
        if n_open := session.n_open:
            _console.print_message(f"{n_open:,} rows are open; the same command goes on")


def _typed(session: ReviewSession) -> Reply:
    try:
        return session.answer(input("> "))
    except (EOFError, KeyboardInterrupt):
        _console.print_message("")
        return Reply(quits=True)
