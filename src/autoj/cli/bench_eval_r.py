"""`autoj bench eval-r`: is the best of N by a judge's ratings a good response?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from autoj.bench.eval_r.evaluate import BENCH, all_picks, evaluate, trivial_picks, trivial_results
from autoj.bench.eval_r.grading import graded_cases, picked_cases
from autoj.bench.eval_r.selection import (
    SIZES,
    RatedCandidates,
    check_sizes,
    published_names,
    published_ratings,
    ratings_of_run,
)
from autoj.cli import _console, _options
from autoj.cli._bench import open_set
from autoj.cli._judging import judge_whole
from autoj.datasets import catalog
from autoj.datasets.base import Cases, Row
from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.metrics.result import Result, save_result
from autoj.records import Case
from autoj.reports.bench_eval_r import selection_view
from autoj.runs import RunFolder, RunSpec, make_spec, resolve_run
from autoj.runs.budget import Budget
from autoj.runs.fit import OnOverflow

__all__ = ["eval_r"]


def eval_r(
    judge: Annotated[
        str | None,
        typer.Option("--judge", help="Run these judges, NAME or NAME,NAME, or look up their runs."),
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", help="The folder of a run that rated the set; may be repeated."),
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(help="Judges whose ratings stand in the file, NAME or NAME,NAME."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="The set. Default: Eval-R (autoj data get eval-r), else best-of-n."),
    ] = None,
    n: Annotated[
        str, typer.Option("--n", help="How many of the candidates are picked from.")
    ] = ",".join(map(str, SIZES)),
    grader: Annotated[
        str | None,
        typer.Option(help="A judge that grades the picks: its ratings are the reference scores."),
    ] = None,
    grader_protocol: Annotated[
        str, typer.Option(help="How the grader is asked (Table 14 of the paper).")
    ] = "baseline-single",
    protocol: _options.ProtocolName = None,
    out: _options.Out = None,
    save: Annotated[
        Path | None,
        typer.Option(help="Where one judge's result is kept as JSON. Default: in its run's folder"),
    ] = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    limit: _options.Limit = None,
    as_json: _options.Json = False,
) -> None:
    """Measure a judge on Eval-R: best of the first N by its ratings, beside oracle and random.

    Without a judge it shows what those reach that read nothing. Killed at any moment, the same
    command goes on where it stopped.

    Example: autoj bench eval-r --judge embedded --data candidates.jsonl --n 8,16
    """
    _console.set_json(as_json)
    found = open_set(data or _default_set())
    cases = _candidates(found, limit)
    sizes = check_sizes(cases, _sizes(n))
    rated: list[tuple[RatedCandidates, Path | None]] = []
    names = _names(judge)
    budget = Budget(max_usd, max_requests)
    if (names or run) and not published:
        found, cases = _first_candidates(found, cases, max(sizes))
    for name in names:
        spec = _spec(name, protocol, on_overflow, limit)
        with _rated(spec, found, cases, _place(out, name, len(names)), budget) as (ratings, place):
            rated.append((ratings, place))
    rated += [_stored(cases, folder) for folder in run or ()]
    rated += [(published_ratings(cases, name, found.paths[0]), None) for name in _names(published)]
    judges = [ratings for ratings, _ in rated]
    if save is not None and len(judges) != 1:
        raise ConfigError("--save keeps the result of one judge; give one")
    n_failed = sum(ratings.n_failed for ratings in judges)
    if grader is None:
        reference = _reference(cases, found)
    else:
        spec = _spec(grader, grader_protocol, on_overflow, None)
        picks = all_picks(cases, judges, sizes) | trivial_picks(cases, sizes)
        graded = picked_cases(found, cases, picks)
        folder_of_grades = out and out / "grades"
        with _rated(spec, graded, _cases(graded), folder_of_grades, budget) as (grades, _):
            cases = graded_cases(cases, grades, graded)
            reference = _graded_by(grades)
            n_failed += grades.n_failed
    results = evaluate(cases, judges, sizes, reference)
    for result, (_, folder) in zip(results, rated, strict=True):
        kept_at = save or (folder and folder / f"{BENCH}.json")
        if kept_at is not None:
            save_result(kept_at, result)
    _show(results, trivial_results(cases, sizes, judges), cases, judges, as_json)
    if n_failed:
        raise typer.Exit(1)


def _names(listed: str | None) -> list[str]:
    return [name.strip() for name in (listed or "").split(",") if name.strip()]


def _sizes(listed: str) -> list[int]:
    try:
        return [int(size) for size in _names(listed)]
    except ValueError:
        raise ConfigError(f"--n takes whole numbers, such as 8,16,32; found {listed!r}") from None


def _default_set() -> Path:
    """The released set where it is at hand, else the other one that is."""
    if not catalog.is_here("eval-r") and catalog.is_here("best-of-n"):
        return catalog.find("best-of-n")
    return catalog.find("eval-r")


def _candidates(data: Cases, limit: int | None) -> list[Case]:
    cases = _cases(data)[:limit]
    if not cases:
        raise DataError("is empty: it holds no cases", path=data.paths[0])
    return cases


def _cases(data: Cases) -> list[Case]:
    cases: list[Case] = []
    for _, case in data.read():
        if isinstance(case, DataError):
            raise case
        cases.append(case)
    return cases


def _first_candidates(data: Cases, cases: list[Case], largest: int) -> tuple[Cases, list[Case]]:
    """The set without candidates that no size picks from: rating them would be for nothing."""
    if all(len(case.responses) <= largest for case in cases):
        return data, cases
    cut = [replace(case, responses=case.responses[:largest]) for case in cases]
    part = replace(
        data,
        read=lambda: (Row(line, case) for line, case in enumerate(cut, start=1)),
        derivation=f"the first {largest} candidates of each query",
    )
    return part, cut


def _place(out: Path | None, name: str, n_judges: int) -> Path | None:
    """Several judges each get a folder of their own."""
    if out is None or n_judges == 1:
        return out
    return out / re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")


def _spec(name: str, protocol: str | None, on_overflow: OnOverflow, limit: int | None) -> RunSpec:
    return make_spec(
        "rate",
        load_card(name),
        protocol=protocol,
        critique=False,
        on_overflow=on_overflow,
        limit=limit,
    )


@contextmanager
def _rated(
    spec: RunSpec, data: Cases, cases: Sequence[Case], out: Path | None, budget: Budget
) -> Iterator[tuple[RatedCandidates, Path]]:
    folder = judge_whole(spec, data, out, budget).folder
    yield (
        ratings_of_run(cases, resolve_run(folder, spec), spec.judge.name, folder.path),
        folder.path,
    )


def _stored(cases: Sequence[Case], path: Path) -> tuple[RatedCandidates, Path]:
    folder = RunFolder.existing(path)
    spec = folder.spec()
    most = max(len(case.responses) for case in cases)
    n_rated = max(len(case.responses) for case in folder.cases())
    if n_rated < most:
        raise ConfigError(
            f"{path} rated the first {n_rated} candidates, and {most} are to be picked from",
            hint=f"Choose --n up to {n_rated}, or rate the others with --judge.",
        )
    judged = (
        (
            replace(case, responses=case.responses[:most]),
            replace(verdict, ratings=verdict.ratings[:most]),
        )
        for case, verdict in resolve_run(folder, spec)
    )
    return ratings_of_run(cases, judged, spec.judge.name, path), path


def _reference(cases: Sequence[Case], data: Cases) -> str:
    n_responses = sum(len(case.responses) for case in cases)
    n_scored = sum(
        response.reference_score is not None for case in cases for response in case.responses
    )
    if n_scored == 0:
        published = ", ".join(published_names(cases))
        raise ConfigError(
            f"{data.paths[0]} holds no reference scores to measure picks by",
            hint="Give --grader JUDGE, which grades the picks."
            + (f" Ratings that the file holds (--published): {published}." if published else ""),
        )
    missing = n_responses - n_scored
    return f"those of {data.paths[0].name}" + (
        f"; {missing:,} responses have none" if missing else ""
    )


def _graded_by(grades: RatedCandidates) -> str:
    text = f"{grades.judge} graded {len(grades.ratings):,} picked responses ({grades.source})"
    lost = sum(rating is None for (rating,) in grades.ratings)
    return text + (f"; {lost:,} of its grades could not be read" if lost else "")


def _show(
    results: Sequence[Result],
    trivial: Sequence[Result],
    cases: Sequence[Case],
    judges: Sequence[RatedCandidates],
    as_json: bool,
) -> None:
    if as_json:
        _console.print_json(
            {
                "results": [asdict(result) for result in results],
                "trivial": [asdict(result) for result in trivial],
            }
        )
        return
    _console.print_result(selection_view(results, trivial))
    if not judges and (names := published_names(cases)):
        _console.print_message(f"the file holds ratings of {', '.join(names)}: --published shows")
