"""`autoj bench critique-quality`: planted errors that critiques name, clean twins they accuse."""

from pathlib import Path
from typing import Annotated, Literal

from autoj.bench.critique_quality import measure
from autoj.cli import _completion, _console, _data_options, _options
from autoj.cli._progress import watching
from autoj.reports.bench_critique_quality import critique_quality_view
from autoj.runs.budget import Budget


def critique_quality(
    judge: Annotated[
        str | None,
        _options.measured(
            "--judge",
            autocompletion=_completion.judges,
            help="The judge that writes the critiques; an existing run of it is used.",
        ),
    ] = None,
    run: Annotated[
        Path | None,
        _options.measured("--run", help="The folder of a run that wrote critiques of these cases."),
    ] = None,
    cases: Annotated[
        Path | None,
        _options.judged(
            help='Rows with "id", "query", "clean", "planted", "span", "names". Default: '
            "data/own/planted_errors.jsonl."
        ),
    ] = None,
    protocol: _options.ProtocolName = None,
    by: Annotated[
        Literal["kind", "group"],
        _options.output(help="The breakdown to show; --json has both."),
    ] = "kind",
    out: _options.Out = None,
    save: Annotated[
        Path | None,
        _options.output(help="The file of the result, as JSON. Default: in the run's folder."),
    ] = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    limit: _data_options.Limit = None,
    as_json: _options.Json = False,
) -> None:
    """Measure a judge's critiques by planted errors: named, clean twins accused, quotations.

    Without a judge, it shows the baselines alone. After an interruption, repeat the command to
    resume.

    Example: autoj bench critique-quality --judge embedded --limit 20
    """
    source = measure.critique_source(judge, run, out, protocol=protocol, on_overflow=on_overflow)
    budget = Budget(max_usd, max_requests)
    with watching() as watch:
        found = measure.measure_critique_quality(
            source, cases=cases, limit=limit, budget=budget, watch=watch
        )
    _console.show_measured(found, save, lambda its: critique_quality_view(its, by))
