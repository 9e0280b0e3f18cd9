"""`autoj bench eval-r`: best-of-N selection by a judge's ratings."""

from pathlib import Path
from typing import Annotated

from autoj.bench.eval_r.choosing import grading_judge, listed_sizes, rating_sources
from autoj.bench.eval_r.measure import default_set, measure_selection
from autoj.bench.eval_r.selection import SIZES
from autoj.bench.sources import open_set
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
    sources = rating_sources(
        judge, run or (), published, out, protocol=protocol, on_overflow=on_overflow, limit=limit
    )
    if save is not None and len(sources) != 1:
        raise ConfigError("--save writes the result of one judge, but several are named")
    grading = grading_judge(grader, out, protocol=grader_protocol, on_overflow=on_overflow)
    with watching() as watch:
        found = measure_selection(
            open_set(data or default_set(), watch),
            sources,
            sizes=listed_sizes(n),
            grader=grading,
            limit=limit,
            budget=Budget(max_usd, max_requests),
            watch=watch,
        )
    _console.show_measured(
        found, save, lambda its: best_of_n_view(its.results, its.baselines), *published_hints(found)
    )
