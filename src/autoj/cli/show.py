"""`autoj show`: a run, or one of its cases with its judgments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from autoj.cli import _console, _options
from autoj.cli._judging import show_jury
from autoj.cli.classify import show_classified
from autoj.cli.select import show_selection
from autoj.datasets.published_verdicts import PublishedVerdict, read_verdicts
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.metrics import Row, win_rate
from autoj.metrics.rows import cluster_number, pair_row
from autoj.records import Case, Estimate, Verdict, Winner
from autoj.reports import Breakdown, summarise
from autoj.reports.case import case_view
from autoj.reports.judge import convention_table, summary_table, verdict_table
from autoj.reports.text import visible_text
from autoj.runs import RunFolder, RunSpec, read_case, resolve_run
from autoj.runs.kind import kind_of
from autoj.tasks.jury import JuryRun
from autoj.tasks.run import Run

__all__ = ["show"]

_N_LINES = 12


def show(
    run: Annotated[
        Path, typer.Argument(help="A run's folder; with --convention also a file of verdicts.")
    ],
    case: Annotated[str | None, typer.Argument(help="A case's id; without one, the run.")] = None,
    by: _options.By = None,
    first: Annotated[int, typer.Option(min=0, help="How many verdicts of the run to list.")] = 20,
    full: Annotated[
        bool, typer.Option("--full", help="Show all lines of the query and of each response.")
    ] = False,
    convention: Annotated[
        Literal["auto-j", "mt-bench", "pandalm", "alpaca-eval", "arena-hard", "all"] | None,
        typer.Option(
            help="Show the win rate as another tool would report it, or as all of them would."
        ),
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Show a run, or one case of it with its judgments; works while the run goes on, or after.

    Example: autoj show runs/pairs-embedded-1a2b3c4d line-7
    """
    _console.set_json(as_json)
    if convention is not None and run.is_file():
        _show_published(run, convention, as_json)
        return
    kind = kind_of(run)
    if kind == "jury":
        if case is not None or convention is not None:
            raise ConfigError(
                f"{run} is a jury's folder", hint=f"autoj show {run}/judges/NAME shows one judge's."
            )
        show_jury(JuryRun.open(run), by, first, as_json)
        return
    found = Run.open(run)
    if case is not None:
        _show_case(found.folder, case, None if full else _N_LINES, as_json)
    elif convention is not None:
        _show_conventions(found.folder, found.spec, convention, as_json)
    elif kind == "classify":
        show_classified(found, as_json)
    elif kind == "select":
        show_selection(found, first, as_json)
    else:
        _show_run(found, by, first, as_json)


def _show_run(run: Run, by: Breakdown | None, n_shown: int, as_json: bool) -> None:
    listed: list[tuple[Case, Verdict]] = []

    def judged() -> Iterator[tuple[Case, Verdict]]:
        for pair in resolve_run(run.folder, run.spec):
            if len(listed) < n_shown:
                listed.append(pair)
            yield pair

    summary = summarise(judged(), run.spec, run.n_cases, by)
    if as_json:
        _console.print_json({"run": str(run.path), "summary": asdict(summary)})
        return
    table = verdict_table(listed, run.spec)
    _console.print_result(Group(table, Text(), summary_table(summary, run.spec)))


def _show_conventions(folder: RunFolder, spec: RunSpec, convention: str, as_json: bool) -> None:
    if not spec.paired:
        raise ConfigError(f"{folder.path} rates single responses: there is no win rate")
    rows = [pair_row(case, verdict) for case, verdict in resolve_run(folder, spec)]
    rates = _win_rates(rows, convention)
    if as_json:
        found = [asdict(rate) for rate in rates.values()]
        _console.print_json({"run": str(folder.path), "win_rates": found})
    else:
        _console.print_result(convention_table(rates))


def _win_rates(rows: Sequence[Row], convention: str) -> dict[str, Estimate]:
    names = list(win_rate.CONVENTIONS) if convention == "all" else [convention]
    return {name: win_rate.by_convention(rows, name) for name in names}


def _show_published(path: Path, convention: str, as_json: bool) -> None:
    """The win rates of a file of another tool's verdicts, for each pair of models."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for _, item in read_verdicts(path):
        if isinstance(item, DataError):
            raise item
        if item.verdict.winners:
            rows.setdefault(_models(item), []).append(_published_row(item))
    if not rows:
        raise DataError("holds no verdicts on pairs", path=path)
    found = {models: _win_rates(its, convention) for models, its in rows.items()}
    if as_json:
        listed = [
            {"a": a, "b": b, "win_rates": [asdict(rate) for rate in rates.values()]}
            for (a, b), rates in found.items()
        ]
        _console.print_json({"verdicts": str(path), "pairs": listed})
        return
    parts: list[RenderableType] = []
    for (a, b), rates in found.items():
        parts += [
            visible_text(f"a is {a}, b is {b}", style="bold"),
            convention_table(rates),
            Text(),
        ]
    _console.print_result(Group(*parts))


def _models(item: PublishedVerdict) -> tuple[str, str]:
    a, b = item.models
    names = a or "the first response", b or "the second response"
    return names if item.subject == "a" else names[::-1]


_SWAPPED: dict[Winner | None, Winner | None] = {"a": "b", "b": "a", "tie": "tie", None: None}


def _published_row(item: PublishedVerdict) -> Row:
    """Its row, with the model that the tool reports on as a."""
    swap = item.subject == "b"
    return Row(
        cluster=cluster_number(item.cluster),
        label=None,
        winner=_SWAPPED[item.verdict.winner] if swap else item.verdict.winner,
        winners=tuple(map(_SWAPPED.get, item.verdict.winners)) if swap else item.verdict.winners,
        consistent=item.verdict.consistent,
        scenario=None,
        strengths=item.strengths,
    )


def _show_case(folder: RunFolder, case_id: str, n_lines: int | None, as_json: bool) -> None:
    record = read_case(folder, folder.spec(), case_id)
    if record is None:
        raise UnknownComponent("case", case_id, (case.id for case in folder.cases()))
    if as_json:
        _console.print_json(record)
    else:
        _console.print_result(case_view(record, n_lines))
