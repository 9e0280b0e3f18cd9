"""What `autoj judge` and `autoj rate` do where `--judge` names several: they judge in turn."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from autoj.cli import _console
from autoj.cli._run import judged_whole, run
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.records import Case, CaseOutline
from autoj.reports import Breakdown
from autoj.reports.jury import jury_summary_view, jury_table
from autoj.reports.jury_summary import JurySummary, summarise_jury
from autoj.runs import RunCounts, make_spec, open_run, spec_digest
from autoj.runs.budget import Budget
from autoj.runs.kind import is_jury
from autoj.runs.spec import Task
from autoj.tasks.jury_folder import (
    Jury,
    Seat,
    choose_method,
    make_seats,
    pairs_alone,
    read_jury,
    read_jury_verdicts,
    write_jury,
    write_jury_verdicts,
)
from autoj.verdicts.jury import Method

__all__ = [
    "JudgeNames",
    "JuryRule",
    "find_seats",
    "run_seats",
    "show_jury",
    "total_of",
]

JudgeNames: TypeAlias = Annotated[
    str,
    typer.Option(
        "--judge",
        help="A judge's name (autoj judges), the path of a card, or backend:model; several, as "
        "NAME,NAME, are a jury.",
    ),
]
JuryRule: TypeAlias = Annotated[
    Literal["majority", "mean"] | None,
    typer.Option(
        "--jury",
        help="What decides among several judges: the majority of their votes, or the mean of their "
        "probabilities. Default: mean where each judge gives probabilities, else majority.",
    ),
]
_N_SHOWN = 20
"""Cases whose verdicts are listed above the summary."""


def find_seats(task: Task, judge: str, **settings: Any) -> list[Seat]:
    """The judges that `--judge NAME` or `--judge NAME,NAME` names, each with its run's spec.

    Args:
        task: "judge" or "rate".
        judge: what the flag says; a path with a comma in it is one judge.
        settings: what `make_spec` takes.
    """
    names = [name.strip() for name in judge.split(",") if name.strip()]
    # Many names are too long for one path, which is an error to pathlib.
    if os.path.exists(judge) or len(names) < 2:
        names = [judge.strip().strip(",") or judge]
    cards = [(name, load_card(name)) for name in names]
    if len(cards) > 1:
        return make_seats(task, cards, **settings)
    return [Seat(name=names[0], folder=".", spec=make_spec(task, cards[0][1], **settings))]


def run_seats(
    task: Task,
    seats: Sequence[Seat],
    cases: Cases,
    out: Path | None,
    breakdown: Breakdown | None,
    as_json: bool,
    budget: Budget,
    method: Method | None = None,
) -> None:
    """Judge by one judge, or by a jury; exit with 1 where something failed.

    Args:
        task: "judge" or "rate".
        seats: from `find_seats`.
        cases: the data.
        out: the folder of the run, or of the jury; None takes the default one.
        breakdown: what the figures are broken down by.
        as_json: whether stdout is for a machine.
        budget: what all judges together may spend.
        method: what decides where several judge pairs; None takes the jury's default.

    Raises:
        ConfigError: the folder is of the other kind, or `method` has no jury.
    """
    if len(seats) > 1:
        decides = choose_method(seats, method) if task == "judge" else None
        jury = Jury(seats=tuple(seats), method=decides)
        _run_jury(jury, cases, out or _default_folder(seats, cases), breakdown, as_json, budget)
        return
    if method is not None:
        raise ConfigError("--jury says what decides among several judges; --judge names one")
    if out is not None and is_jury(out):
        raise ConfigError(
            f"{out} is the folder of a jury, and not of one judge's run",
            hint="Choose another --out for one judge.",
        )
    run(seats[0].spec, cases, out, breakdown, as_json, budget)


def _run_jury(
    jury: Jury,
    cases: Cases,
    path: Path,
    breakdown: Breakdown | None,
    as_json: bool,
    budget: Budget,
) -> None:
    data = pairs_alone(cases) if jury.paired else cases
    _check_runs(path, jury, data)
    write_jury(path, jury)
    sessions: list[RunCounts] = []
    for number, seat in enumerate(jury.seats, start=1):
        place = f"judge {number} of {len(jury.seats)}"
        _console.print_message(f"{place}: {seat.name} ({seat.spec.protocol})")
        # Each engine is closed before the next is loaded, so the largest alone must fit.
        with judged_whole(seat.spec, data, path / seat.folder, budget) as (_, counts):
            sessions.append(counts)
    write_jury_verdicts(path, jury)
    summary = summarise_jury(path, jury, breakdown)
    if as_json:
        _console.print_json(_as_json(path, jury, summary) | {"session": asdict(total_of(sessions))})
    else:
        _console.print_result(_view(path, jury, summary, _N_SHOWN))
        _console.print_message(
            f"autoj show {path / jury.seats[0].folder} CASE shows a case with a judge's judgments"
        )
    if summary.jury.n_failed:
        raise typer.Exit(1)


def _check_runs(path: Path, jury: Jury, cases: Cases) -> None:
    """Make sure that the runs that are there can be gone on with, before a jury is made anew.

    Raises:
        SpecMismatch: a run was made with other settings or other data.
        RunBusy: another process is writing to one.
    """
    for seat in jury.seats:
        folder = path / seat.folder
        if (folder / "run.json").is_file():
            with open_run(folder, seat.spec, cases):
                pass


def _default_folder(seats: Sequence[Seat], cases: Cases) -> Path:
    """A folder that the same command finds again: named for the data, the judges and settings."""
    digests = " ".join(sorted(spec_digest(seat.spec, cases) for seat in seats))
    data = cases.name or cases.paths[0].name.partition(".")[0]
    return Path("runs") / f"{data}-jury-{hashlib.sha256(digests.encode()).hexdigest()[:8]}"


def total_of(sessions: Iterable[RunCounts]) -> RunCounts:
    """What several sessions did together."""
    total = RunCounts()
    for counts in sessions:
        for name, value in asdict(counts).items():
            setattr(total, name, getattr(total, name) + value)
    return total


def _view(path: Path, jury: Jury, summary: JurySummary, n_shown: int) -> RenderableType:
    listed = list(islice(read_jury_verdicts(path, jury, Case), n_shown))
    parts: list[RenderableType] = [jury_table(listed, jury)]
    if summary.n_cases > len(listed):
        more = summary.n_cases - len(listed)
        parts.append(Text(f" … {more:,} more in {path / 'verdicts.jsonl'}", style="dim"))
    return Group(*parts, Text(), jury_summary_view(summary, jury))


def _as_json(path: Path, jury: Jury, summary: JurySummary) -> dict[str, Any]:
    return {
        "run": str(path),
        "jury": jury.method or "mean rating",
        "judges": [
            {"name": seat.name, "protocol": seat.spec.protocol, "run": str(path / seat.folder)}
            for seat in jury.seats
        ],
        "summary": asdict(summary),
        "verdicts": [verdict for _, verdict in read_jury_verdicts(path, jury, CaseOutline)],
    }


def show_jury(path: Path, breakdown: Breakdown | None, n_shown: int, as_json: bool) -> None:
    """Show a jury's folder as its run did, from the verdicts in it.

    Args:
        path: the folder.
        breakdown: what the jury's figures are broken down by.
        n_shown: how many cases are listed.
        as_json: whether stdout is for a machine.
    """
    jury = read_jury(path)
    summary = summarise_jury(path, jury, breakdown)
    if as_json:
        _console.print_json(_as_json(path, jury, summary))
    else:
        _console.print_result(_view(path, jury, summary, n_shown))
