"""`autoj bench system-level`: do a judge's mean ratings rank models as win rates do?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.bench.system_level.evaluate import BENCH, evaluate_ratings, evaluate_table, length_result
from autoj.bench.system_level.model_outputs import (
    OutputSet,
    open_outputs,
    output_files,
    read_queries,
)
from autoj.bench.system_level.model_table import ModelRow, read_models
from autoj.bench.system_level.query_ratings import QueryRatings, collect
from autoj.cli import _console, _options
from autoj.cli._judging import judge_whole
from autoj.datasets import catalog
from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.metrics.result import Result, save_result
from autoj.reports.bench_system_level import ranking_view
from autoj.runs import RunFolder, RunSpec, make_spec, resolve_run, spec_digest
from autoj.runs.budget import Budget

__all__ = ["system_level"]


def system_level(
    judge: _options.JudgeName = "embedded",
    run: Annotated[
        Path | None, typer.Option("--run", help="The folder of a finished run of this command.")
    ] = None,
    ratings: Annotated[
        Path | None,
        typer.Option(
            help="Mean ratings that were published: a table of key, rating (or autoj_rating) and, "
            "where it has one, reference (or gpt4_winrate)."
        ),
    ] = None,
    outputs: Annotated[
        list[Path] | None,
        typer.Option(
            help="Outputs of the models: a folder, or a file of each; may be repeated. Default: "
            "autoj data get alpaca-eval."
        ),
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            help="What models are ranked by otherwise: a table of key and reference (or "
            "gpt4_winrate). Default: that of --ratings, else Table 23 of the paper."
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Rate N queries only, the same for all models."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Which queries a sample holds.")] = 0,
    exclude: Annotated[
        Path | None,
        typer.Option(
            help="Queries to leave out: JSONL with query, instruction or prompt, or one a line."
        ),
    ] = None,
    protocol: _options.ProtocolName = None,
    out: _options.Out = None,
    save: Annotated[
        Path | None,
        typer.Option(help="Where the result is kept as JSON. Default: in the run's folder."),
    ] = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    as_json: _options.Json = False,
) -> None:
    """Rank models by a judge's mean ratings and compare with win rates: Spearman, Pearson, Kendall.

    Killed at any moment, the same command goes on where it stopped.

    Example: autoj bench system-level --judge embedded --sample 20
    """
    _console.set_json(as_json)
    if run is not None and ratings is not None:
        raise ConfigError("give --run or --ratings, not both")
    if ratings is not None:
        table = read_models(ratings)
        references = _references(reference, table)
        result = evaluate_table(table, references, judge=_rated_by(ratings, table), source=ratings)
        lengths = {row.key: row.mean_length for row in table if row.mean_length is not None}
        place = save
    else:
        references = _references(reference, ())
        if run is not None:
            folder, spec, found = _stored(run)
        else:
            spec = make_spec(
                "rate",
                load_card(judge),
                protocol=protocol,
                critique=False,
                on_overflow=on_overflow,
            )
            budget = Budget(max_usd, max_requests)
            folder, found = _rated(spec, outputs, sample, seed, exclude, out, budget)
        result = evaluate_ratings(
            found,
            references,
            judge=spec.judge.name,
            source=f"run {folder} ({spec.protocol})",
        )
        lengths = dict(zip(found.models, found.mean_lengths, strict=True))
        place = save or folder / f"{BENCH}.json"
    if place is not None:
        save_result(place, result)
    _show(result, length_result(lengths, references) if lengths else None, as_json)
    if result.details.get("n_failed"):
        raise typer.Exit(1)


def _references(path: Path | None, table: Sequence[ModelRow]) -> list[ModelRow]:
    """The table that is named, else the ratings' own, else the paper's.

    Raises:
        DataError: none of its models has a reference.
    """
    if path is None and any(row.reference is not None for row in table):
        return list(table)
    place = path or catalog.find("system-level-index")
    rows = read_models(place)
    if all(row.reference is None for row in rows):
        raise DataError(
            "holds no reference to rank models by: expected reference, gpt4_winrate or win_rate",
            path=place,
        )
    return rows


def _rated_by(path: Path, table: Sequence[ModelRow]) -> str:
    """The judge that the ratings' field is named for, else the file."""
    field = next((row.rated_by for row in table if row.rated_by is not None), None)
    if field is None:
        raise DataError("holds no ratings: expected rating or autoj_rating", path=path)
    return field.removesuffix("rating").rstrip("_") or path.stem


def _stored(path: Path) -> tuple[Path, RunSpec, QueryRatings]:
    folder = RunFolder.existing(path)
    spec = folder.spec()
    found = collect(resolve_run(folder, spec), path)
    if found.n_cases < folder.n_cases():
        raise DataError(
            f"is not finished: {found.n_cases:,} of {folder.n_cases():,} cases are judged",
            path=path,
            hint="The command that made it goes on where it stopped.",
        )
    return path, spec, found


def _rated(
    spec: RunSpec,
    outputs: Sequence[Path] | None,
    sample: int | None,
    seed: int,
    exclude: Path | None,
    out: Path | None,
    budget: Budget,
) -> tuple[Path, QueryRatings]:
    """The judge's ratings of the models' outputs, from a run that is made or gone on with."""
    files = output_files(outputs or [catalog.find("alpaca-eval")])
    excluded = None if exclude is None else read_queries(exclude)
    found = open_outputs(files, sample=sample, seed=seed, exclude=excluded)
    _report(found, exclude)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", spec.judge.name).strip("-.")
    place = out or Path("runs") / f"{BENCH}-{name}-{spec_digest(spec, found.cases)}"
    folder = judge_whole(spec, found.cases, place, budget).folder
    return folder.path, collect(resolve_run(folder, spec), folder.path)


def _report(found: OutputSet, exclude: Path | None) -> None:
    _console.print_message(
        f"{len(found.models):,} models, {found.n_queries:,} of {found.n_set_queries:,} queries each"
    )
    if exclude is None:
        return
    _console.print_message(f"{found.n_excluded:,} queries are left out, as {exclude} says")
    if found.not_found:
        listed = "; ".join(repr(text[:60]) for text in found.not_found[:3])
        _console.print_message(
            f"{len(found.not_found):,} of its queries are not among the models': {listed}"
            + ("; …" if len(found.not_found) > 3 else "")
        )


def _show(result: Result, lengths: Result | None, as_json: bool) -> None:
    if as_json:
        trivial = [] if lengths is None else [asdict(lengths)]
        _console.print_json({"results": [asdict(result)], "trivial": trivial})
    else:
        _console.print_result(ranking_view(result, lengths))
