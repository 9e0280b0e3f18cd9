"""`autoj bench eval-r`: best-of-N selection by a judge's ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from autoj.bench.eval_r.measure import (
    PublishedRatings,
    RatingSource,
    SelectionMeasurement,
    default_set,
    measure_selection,
    rating_judges,
)
from autoj.bench.eval_r.selection import SIZES
from autoj.bench.sources import StoredRun, open_set
from autoj.cli import _completion, _console, _data_options, _options
from autoj.cli._progress import watching
from autoj.errors import ConfigError
from autoj.reports.bench_eval_r import best_of_n_view, published_hints
from autoj.runs.budget import Budget

_SIZES = ",".join(map(str, SIZES))


def eval_r(
    judge: Annotated[
        str | None,
        _options.measured(
            "--judge",
            autocompletion=_completion.judges,
            help="The judges to measure, NAME or NAME,NAME; existing runs of them are used.",
        ),
    ] = None,
    run: Annotated[
        list[Path] | None,
        _options.measured("--run", help="The folder of a run that rated the set; may be repeated."),
    ] = None,
    published: Annotated[
        str | None,
        _options.measured(help="Judges whose ratings are in the data file, NAME or NAME,NAME."),
    ] = None,
    data: Annotated[
        Path | None,
        _options.judged(help="The set. Default: Eval-R (autoj data get eval-r), else best-of-n."),
    ] = None,
    n: Annotated[
        str,
        _options.judged("--n", help="The numbers of candidates to pick from."),
    ] = _SIZES,
    grader: Annotated[
        str | None,
        _options.asking(
            help="A judge that grades the picks: its ratings are the reference scores."
        ),
    ] = None,
    grader_protocol: Annotated[
        str,
        _options.asking(help="The grader's protocol (Table 14 of the paper)."),
    ] = "baseline-single",
    protocol: _options.ProtocolName = None,
    out: _options.Out = None,
    save: Annotated[
        Path | None,
        _options.output(
            help="The file of one judge's result, as JSON. Default: in its run's folder."
        ),
    ] = None,
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
    sources: list[RatingSource] = [
        *rating_judges(_names(judge), out, protocol=protocol, on_overflow=on_overflow, limit=limit),
        *map(StoredRun, run or ()),
        *map(PublishedRatings, _names(published)),
    ]
    if save is not None and len(sources) != 1:
        raise ConfigError("--save writes the result of one judge, but several are named")
    grades = out and out / "grades"
    grading = [grader] if grader else []
    graders = rating_judges(grading, grades, protocol=grader_protocol, on_overflow=on_overflow)
    budget = Budget(max_usd, max_requests)
    with watching() as watch:
        found = measure_selection(
            open_set(data or default_set(), watch),
            sources,
            sizes=_sizes(n),
            grader=graders[0] if graders else None,
            limit=limit,
            budget=budget,
            watch=watch,
        )
    found.keep(save)
    _console.show(
        found,
        SelectionMeasurement.as_json,
        lambda its: best_of_n_view(its.results, its.baselines),
        *published_hints(found),
    )
    _console.exit_if(found.n_failed)


def _names(listed: str | None) -> list[str]:
    return [name.strip() for name in (listed or "").split(",") if name.strip()]


def _sizes(listed: str) -> list[int]:
    try:
        return [int(size) for size in _names(listed)]
    except ValueError:
        raise ConfigError(f"--n takes whole numbers, such as 8,16,32; found {listed!r}") from None
