"""`autoj leaderboard`: published figures, measured judges and baselines, side by side."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from autoj.bench.leaderboard.boards import BREAKDOWNS, Bench, board, find_results, folder_of_runs
from autoj.cli import _console, _options
from autoj.reports.leaderboard import board_view
from autoj.reports.leaderboard_csv import write_csv


def leaderboard(
    bench: Annotated[Bench, typer.Argument(help="The meta-evaluation.")],
    result: Annotated[
        list[Path] | None,
        _options.shown(
            "--result", help="A result that autoj bench saved; may be repeated. Replaces --runs."
        ),
    ] = None,
    runs: Annotated[
        Path | None,
        _options.shown(help="The folder of runs to take results from. Default: runs"),
    ] = None,
    sort: Annotated[
        str | None,
        _options.shown(help="The figure to sort rows by, or to show with --by."),
    ] = None,
    by: Annotated[
        Literal["group", "seen"] | None,
        _options.shown(
            help="Show one figure by scenario group (Table 1), or by seen and unseen scenarios."
        ),
    ] = None,
    csv_file: Annotated[
        Path | None,
        _options.output("--csv", help="Write all rows to this CSV file, too."),
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Show published figures, your measured judges and the baselines, side by side.

    Published rows have their sources and no intervals. A note says if a measured judge does not
    beat the baselines.

    Example: autoj leaderboard eval-p --by group
    """
    folder = folder_of_runs(runs, result or ())
    measured = find_results(bench, result or (), folder)
    if not measured:
        _console.print_message(
            f"no measured judge: no {bench}.json in {folder or 'the given files'}; "
            f"make one with autoj bench {bench}"
        )
    found = board(bench, measured, breakdown=by and BREAKDOWNS[by], sort=sort)
    if csv_file is not None:
        write_csv(csv_file, found)
    _console.show(found, asdict, board_view)
