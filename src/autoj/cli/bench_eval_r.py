"""`autoj bench eval-r`: best-of-N selection by a judge's ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autoj.bench.eval_r.measure import (
    PublishedRatings,
    RatingJudge,
    RatingSource,
    SelectionMeasurement,
    default_set,
    measure_selection,
)
from autoj.bench.eval_r.selection import SIZES
from autoj.bench.sources import StoredRun, open_set
from autoj.cli import _console, _options
from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.metrics.result import save_result
from autoj.reports.bench_eval_r import selection_view
from autoj.runs import make_spec
from autoj.runs.budget import Budget
from autoj.runs.fit import OnOverflow
from autoj.tasks.default_paths import slug


def eval_r(
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            help="The judges to measure, NAME or NAME,NAME; existing runs of them are used.",
            rich_help_panel=_options.MEASURED,
        ),
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option(
            "--run",
            help="The folder of a run that rated the set; may be repeated.",
            rich_help_panel=_options.MEASURED,
        ),
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(
            help="Judges whose ratings are in the data file, NAME or NAME,NAME.",
            rich_help_panel=_options.MEASURED,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="The set. Default: Eval-R (autoj data get eval-r), else best-of-n.",
            rich_help_panel=_options.JUDGED,
        ),
    ] = None,
    n: Annotated[
        str,
        typer.Option(
            "--n",
            help="The numbers of candidates to pick from.",
            rich_help_panel=_options.JUDGED,
        ),
    ] = ",".join(map(str, SIZES)),
    grader: Annotated[
        str | None,
        typer.Option(
            help="A judge that grades the picks: its ratings are the reference scores.",
            rich_help_panel=_options.ASKING,
        ),
    ] = None,
    grader_protocol: Annotated[
        str,
        typer.Option(
            help="The grader's protocol (Table 14 of the paper).", rich_help_panel=_options.ASKING
        ),
    ] = "baseline-single",
    protocol: _options.ProtocolName = None,
    out: _options.Out = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="The file of one judge's result, as JSON. Default: in its run's folder.",
            rich_help_panel=_options.OUTPUT,
        ),
    ] = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    limit: _options.Limit = None,
    as_json: _options.Json = False,
) -> None:
    """Measure a judge on Eval-R: best of the first N by its ratings, with oracle and baselines.

    Without a judge, it shows the oracle and the baselines alone. After an interruption, repeat the
    command to resume.

    Example: autoj bench eval-r --judge embedded --data candidates.jsonl --n 8,16
    """
    _console.set_json(as_json)
    names = _names(judge)
    sources: list[RatingSource] = [
        # Several judges each get a folder of their own.
        _judge(name, protocol, on_overflow, limit, out and (out / slug(name) if names[1:] else out))
        for name in names
    ]
    sources += [StoredRun(folder) for folder in run or ()]
    sources += [PublishedRatings(name) for name in _names(published)]
    if save is not None and len(sources) != 1:
        raise ConfigError("--save writes the result of one judge, but several are named")
    grading = grader and _judge(grader, grader_protocol, on_overflow, None, out and out / "grades")
    budget = Budget(max_usd, max_requests)
    with _console.watching() as watch:
        found = measure_selection(
            open_set(data or default_set(), watch),
            sources,
            sizes=_sizes(n),
            grader=grading or None,
            limit=limit,
            budget=budget,
            watch=watch,
        )
    _finish(found, save, as_json)


def _names(listed: str | None) -> list[str]:
    return [name.strip() for name in (listed or "").split(",") if name.strip()]


def _sizes(listed: str) -> list[int]:
    try:
        return [int(size) for size in _names(listed)]
    except ValueError:
        raise ConfigError(f"--n takes whole numbers, such as 8,16,32; found {listed!r}") from None


def _judge(
    name: str, protocol: str | None, on_overflow: OnOverflow, limit: int | None, out: Path | None
) -> RatingJudge:
    spec = make_spec(
        "rate",
        load_card(name),
        protocol=protocol,
        critique=False,
        on_overflow=on_overflow,
        limit=limit,
    )
    return RatingJudge(spec=spec, out=out)


def _finish(found: SelectionMeasurement, save: Path | None, as_json: bool) -> None:
    """Keep the results and show them; exit with 1 where a judgment failed."""
    for result, folder in zip(found.results, found.folders, strict=True):
        place = save or (folder and folder / f"{result.bench}.json")
        if place is not None:
            save_result(place, result)
    if as_json:
        _console.print_json(found.as_json())
    else:
        _console.print_result(selection_view(found.results, found.baselines))
        if not found.results and found.published:
            listed = ", ".join(found.published)
            _console.print_message(
                f"the file has ratings by {listed}; --published NAME measures them"
            )
    if found.n_failed:
        raise typer.Exit(1)
