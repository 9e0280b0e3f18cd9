"""`autoj classify`: which of the 58 scenarios each query of a file belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from autoj.cli import _console, _options
from autoj.datasets import open_queries, parse_map
from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.judges import load_card
from autoj.records import Case
from autoj.reports.classify import (
    ClassifiedCount,
    ClassifiedSummary,
    classified_view,
)
from autoj.runs.budget import Budget
from autoj.scenarios.classifier import ScenarioClassifier, load_classifier
from autoj.tasks.classify import (
    SCENARIOS,
    ClassifiedQuery,
    classified_run,
    classify_cases,
    make_classify_spec,
)
from autoj.tasks.classify import classify as ask_judge
from autoj.tasks.places import scenarios_file
from autoj.tasks.run import Run

__all__ = ["classify", "show_classified"]

_DEFAULT = "fast"
_CONFIDENCE = 0.5


def classify(
    data: Annotated[
        Path,
        typer.Argument(
            help="Queries: a file of cases in any format that autoj reads, rows with a query "
            "alone, or a .txt with a query on each line."
        ),
    ],
    classifier: Annotated[
        str | None,
        typer.Option(
            "--classifier",
            metavar="fast|best|FOLDER",
            help="The embedded classifier: fast, best, or a folder that autoj train classifier "
            "wrote. Default: fast.",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            help="Ask a language model instead: a judge's name, the path of a card, or "
            "backend:model. Use --protocol scenario-menu for one that did not learn the names.",
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            help="With --judge: scenario (the paper's prompt) or scenario-menu (the same after a "
            "list of all scenarios). Default: the judge's own, else scenario.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="The file of rows to write; with --judge, the run's folder. Default: one under "
            "runs/.",
        ),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", min=1, help="How many of the likeliest scenarios a row names.")
    ] = 3,
    confidence: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="Count queries whose scenario is less probable than this."
        ),
    ] = _CONFIDENCE,
    max_tokens: _options.MaxTokens = None,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Classify the first N queries only.")
    ] = None,
    format: _options.Format = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="Which column holds what, where no format fits: query=question, and with it "
            "id=, scenario= where there are such columns.",
        ),
    ] = None,
    skip_bad_rows: Annotated[
        bool,
        typer.Option("--skip-bad-rows", help="Go on without bad rows; they are counted."),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Name the scenario of each query: one of 58 kinds of request, with its probability.

    A row a query is written: id, scenario, group, probability, alternatives, and what named it.
    Where rows name scenarios themselves, how often it is the same is shown.

    Example: autoj classify queries.jsonl --out scenarios.jsonl
    """
    _console.set_json(as_json)
    mapped = parse_map(columns, queries_alone=True) if columns else None
    _check_flags(classifier, judge, protocol, max_tokens, max_usd, max_requests)
    cases = open_queries(data, format, mapped)
    _console.print_message(f"reading {data} as {cases.format}")
    if judge is None:
        bad_rows: list[DataError] | None = [] if skip_bad_rows else None
        names = load_classifier(classifier or _DEFAULT)
        path = _file_of_rows(out, cases, names)
        count = ClassifiedCount(confidence)
        found = classify_cases(cases, names, top=top, limit=limit, bad_rows=bad_rows)
        write_records(path, _counted(found, count))
        if bad_rows:
            n_bad_rows = f"{len(bad_rows):,} bad rows are left out"
            _console.print_message(f"{n_bad_rows}; the first: {bad_rows[0]}")
        _show(count.result(), path, as_json, {"n_bad_rows": len(bad_rows or ())})
        return
    if out is not None and out.is_file():
        raise ConfigError(f"--out {out} is a file; with --judge it is the run's folder")
    spec = make_classify_spec(
        load_card(judge), protocol, max_tokens=max_tokens, limit=limit, skip_bad_rows=skip_bad_rows
    )
    with _console.watching() as watch:
        run = ask_judge(cases, spec, out, budget=Budget(max_usd, max_requests), watch=watch)
    summary = _summary(run, confidence)
    _show(summary, run.path / SCENARIOS, as_json, {"session": asdict(run.counts)})
    if summary.n_failed or run.stopped:
        raise typer.Exit(1)


def _check_flags(
    classifier: str | None, judge: str | None, protocol: str | None, *of_judges: object
) -> None:
    if judge is not None and classifier is not None:
        raise ConfigError("--judge and --classifier exclude each other: one names the scenarios")
    if judge is None and (protocol is not None or any(flag is not None for flag in of_judges)):
        raise ConfigError(
            "--protocol, --max-tokens, --max-usd and --max-requests need --judge: the embedded "
            "classifier is asked nothing"
        )


def _file_of_rows(out: Path | None, cases: Cases, classifier: ScenarioClassifier) -> Path:
    """Where rows are written; by default a file that the same command writes again."""
    if out is None:
        out = scenarios_file(classifier.name, cases)
    if out.is_dir():
        raise ConfigError(f"--out {out} is a folder; it must be the file of rows to write")
    if out.resolve() in {given.resolve() for given in cases.paths}:
        raise ConfigError(f"--out {out} is the file that is read", hint="Choose another --out.")
    out.parent.mkdir(parents=True, exist_ok=True)
    return out


def _counted(
    found: Iterator[tuple[Case, ClassifiedQuery]], count: ClassifiedCount
) -> Iterator[ClassifiedQuery]:
    for case, row in found:
        count.add(case, row)
        yield row


def _show(summary: ClassifiedSummary, path: Path, as_json: bool, besides: dict[str, Any]) -> None:
    if as_json:
        _console.print_json({"rows": str(path), "summary": asdict(summary), **besides})
        return
    _console.print_result(classified_view(summary))
    _console.print_message(f"a row a query lies in {path}")


def _summary(run: Run, confidence: float) -> ClassifiedSummary:
    count = ClassifiedCount(confidence)
    for case, row in classified_run(run.folder, run.spec):
        count.add(case, row)
    return count.result()


def show_classified(run: Run, as_json: bool) -> None:
    """Show a judge's run that named scenarios, as its command did; works while it goes on.

    Args:
        run: one of the kind "classify".
        as_json: whether stdout is for a machine.
    """
    _show(_summary(run, _CONFIDENCE), run.path / SCENARIOS, as_json, {})
