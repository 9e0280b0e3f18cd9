"""`autoj construct`: training data from labelled pairs, by a recipe."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options, _progress
from autoj.cli._help import App
from autoj.cli._lazy import Listed
from autoj.construct.estimate import estimate
from autoj.construct.expectation import expect, lacks_declared_data
from autoj.construct.folder import Construction
from autoj.construct.pipeline import construct as run_construction
from autoj.construct.recipe import ConstructRecipe, read_construct_recipe
from autoj.reports.construct import (
    construction_record,
    construction_view,
    estimate_view,
    expectation_view,
)
from autoj.reports.construct_stage import stage_record, stage_view
from autoj.runs.budget import Budget

COMMANDS = {
    "review": Listed(
        "autoj.cli.construct_review:review",
        "Check guessed scenarios by hand: right, another name, or drop; up to 50 of each.",
    ),
    "classifier-data": Listed(
        "autoj.cli.construct_classifier_data:classifier_data",
        "Make a scenario classifier's data: seeds by a teacher, your queries, your review; train "
        "it.",
    ),
}
"""The commands below that have files of their own."""

construct_app = App(
    COMMANDS,
    no_args_is_help=True,
    default="run",
    help="Make training data of labelled pairs: a teacher's judgments, negatives, and their mix.",
)


@construct_app.command("run")
def run(
    recipe: Annotated[Path, typer.Argument(help="A recipe, such as examples/construct.yaml.")],
    out: Annotated[
        Path,
        typer.Option("--out", help="The construction's folder.", rich_help_panel=_options.OUTPUT),
    ],
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Run what asks nobody, and say what the teacher would cost.",
            rich_help_panel=_options.SPENDING,
        ),
    ] = False,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="STAGE",
            help="Stop behind this stage: classify, to review its names before a teacher is asked.",
            rich_help_panel=_options.SPENDING,
        ),
    ] = None,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    as_json: _options.Json = False,
) -> None:
    """Run a recipe's stages: collect, filter, classify, judge, add negatives, mix.

    Killed at any moment, the same command goes on. The word run may be left out.

    A dry run counts the rows of files that are here; of data sets that are not, it takes what the
    recipe declares, and says so.

    Example: autoj construct examples/construct.yaml --out data/mine --dry-run
    """
    wanted = read_construct_recipe(recipe)
    if dry_run:
        _show_cost(wanted, out)
        return
    last = None if until is None else wanted.number_of(until)
    with _progress.watching() as watch:
        budget = Budget(max_usd, max_requests)
        done = run_construction(wanted, out, budget=budget, watch=watch, until=last)
    _console.show(done, construction_record, construction_view)


def _show_cost(recipe: ConstructRecipe, out: Path) -> None:
    """Shows what a construction would ask; what is not on this machine enters as declared."""
    if lacks_declared_data(recipe):
        with _progress.watching() as watch:
            expected = expect(recipe, watch)
        _console.show(expected, asdict, expectation_view)
    else:
        with _progress.watching() as watch:
            estimated = estimate(recipe, out, watch)
        _console.show(estimated, asdict, estimate_view)


@construct_app.command("show")
def show(
    folder: Annotated[Path, typer.Argument(help="A construction's folder.")],
    stage: Annotated[
        str | None,
        typer.Argument(help="One stage, such as judge-pairs: its drops and what they were."),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(min=0, help="Dropped rows to list.", rich_help_panel=_options.SHOWN),
    ] = 20,
    as_json: _options.Json = False,
) -> None:
    """Show what came in, was kept, was dropped and why, and what it cost.

    Example: autoj construct show data/mine judge-pairs
    """
    found = Construction.open(folder)
    if stage is None:
        _console.show(found, construction_record, construction_view)
    else:
        _console.show(found.stage(stage), stage_record, lambda its: stage_view(its, limit))
