"""`autoj classify`: the scenario, one of 58, of each query of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autoj.cli import _classify_options, _console, _data_options, _options
from autoj.cli._cases import tell_format, tell_stream
from autoj.cli._plan import show_plan
from autoj.cli._progress import watching
from autoj.datasets import open_queries, parse_map
from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.reports.classify import (
    CONFIDENCE,
    ClassifiedCount,
    ClassifiedSummary,
    classified_record,
    classified_view,
    summarise_classified_run,
)
from autoj.reports.cost import cost_text, session_record
from autoj.runs.budget import Budget
from autoj.scenarios.classifier import load_classifier
from autoj.tasks import classify as task
from autoj.tasks.classify_file import classify_to_file

_DEFAULT = "fast"


def classify(
    data: _classify_options.Queries,
    classifier: _classify_options.WhichClassifier = None,
    judge: _classify_options.AskedJudge = None,
    protocol: _classify_options.ScenarioProtocol = None,
    out: _classify_options.RowsOut = None,
    top: _classify_options.Top = 3,
    confidence: _classify_options.Confidence = CONFIDENCE,
    max_tokens: _options.MaxTokens = None,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    cache: _options.Cache = None,
    plan: _options.Plan = False,
    limit: _classify_options.FirstQueries = None,
    format: _data_options.Format = None,
    columns: _classify_options.QueryMap = None,
    skip_bad_rows: _classify_options.SkipBadQueries = False,
    as_json: _options.Json = False,
) -> None:
    """Name the scenario of each query: one of 58 kinds of request, with its probability.

    Writes a row per query: id, scenario, group, probability, alternatives, and the classifier. If
    rows name scenarios themselves, the share of equal names is shown.

    Example: autoj classify queries.jsonl --out scenarios.jsonl
    """
    mapped = parse_map(columns, queries_alone=True) if columns else None
    _check_flags(
        classifier, judge, protocol, max_tokens, max_usd, max_requests, cache, plan or None
    )
    tell_stream(data)
    cases = open_queries(data, format, mapped)
    tell_format((data,), cases.format)
    if judge is None:
        names = load_classifier(classifier or _DEFAULT)
        count = ClassifiedCount(confidence)
        with watching() as watch:
            found = classify_to_file(
                cases,
                names,
                out,
                top=top,
                limit=limit,
                skip_bad_rows=skip_bad_rows,
                on_row=count.add,
                watch=watch,
            )
        _show(count.result(), found.path, {"n_bad_rows": len(found.bad_rows)})
        return
    if out is not None and out.is_file():
        raise ConfigError(f"--out {out} is a file, but with --judge it must be the run's folder")
    spec = task.make_classify_spec(
        load_card(judge), protocol, max_tokens=max_tokens, limit=limit, skip_bad_rows=skip_bad_rows
    )
    if plan:
        show_plan(cases, spec, out, cache)
        return
    with watching() as watch:
        budget = Budget(max_usd, max_requests)
        run = task.classify(cases, spec, out, budget=budget, watch=watch, cache=cache)
    summary = summarise_classified_run(run, confidence)
    if (spent := cost_text(run.cost, spec.judge)) is not None:
        _console.print_message(f"cost: {spent}")
    _show(summary, run.path / task.SCENARIOS, session_record(run))
    _console.exit_if(summary.n_failed or run.stopped)


def _check_flags(
    classifier: str | None, judge: str | None, protocol: str | None, *of_judges: object
) -> None:
    if judge is not None and classifier is not None:
        raise ConfigError("--judge and --classifier cannot be used together: give one")
    if judge is None and (protocol is not None or any(flag is not None for flag in of_judges)):
        raise ConfigError(
            "--protocol, --max-tokens, --max-usd, --max-requests, --cache and --plan need "
            "--judge; the embedded classifier has no such settings"
        )


def _show(summary: ClassifiedSummary, path: Path, besides: dict[str, Any]) -> None:
    _console.show(
        summary,
        lambda its: classified_record(path, its) | besides,
        classified_view,
        f"{path} has a row per query",
    )
