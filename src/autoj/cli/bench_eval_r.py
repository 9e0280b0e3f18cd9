"""`autoj bench eval-r`: best-of-N selection by a judge's ratings."""

from __future__ import annotations

from pathlib import Path

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
from autoj.cli import _console, _data_options, _options, _selection_options
from autoj.cli._progress import watching
from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.metrics.result import save_result
from autoj.reports.bench_eval_r import selection_view
from autoj.runs import make_spec
from autoj.runs.budget import Budget
from autoj.runs.fit import OnOverflow
from autoj.tasks.default_paths import slug

_SIZES = ",".join(map(str, SIZES))


def eval_r(
    judge: _selection_options.Judges = None,
    run: _selection_options.Runs = None,
    published: _selection_options.Published = None,
    data: _selection_options.Data = None,
    n: _selection_options.Sizes = _SIZES,
    grader: _selection_options.Grader = None,
    grader_protocol: _selection_options.GraderProtocol = "baseline-single",
    protocol: _options.ProtocolName = None,
    out: _options.Out = None,
    save: _selection_options.Save = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    limit: _data_options.Limit = None,
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
    with watching() as watch:
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
