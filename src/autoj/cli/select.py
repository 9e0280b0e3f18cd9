"""`autoj select`: the best of N responses, by ratings or by a tournament of pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from autoj.backends.base import Backend
from autoj.cli import _console, _options
from autoj.cli._cases import Map, find_cases
from autoj.cli._jury import total_of
from autoj.cli._naming import find_classifier
from autoj.cli._run import judged, judged_whole, load_with_progress
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.jsonl import read_records
from autoj.judges import load_card
from autoj.records import JudgeCard
from autoj.reports.select import (
    SelectionSummary,
    selection_summary_table,
    selection_table,
    summarise_selection,
)
from autoj.runs import RunCounts, RunFolder, RunSpec, open_run, spec_digest
from autoj.runs.budget import Budget, Caps
from autoj.runs.kind import is_jury
from autoj.runs.naming import named_by
from autoj.tasks.selection_folder import (
    PickedResponse,
    answered_matches,
    cases_of_matches,
    clear_for,
    make_select_spec,
    pair_spec,
    read_selections,
    replay_all,
    write_picks_by_rating,
    write_picks_of_tournaments,
)

__all__ = ["select", "show_selection"]

_N_SHOWN = 20
"""Cases whose picks are listed above the summary."""


def select(
    data: Annotated[
        Path,
        typer.Argument(
            help="A file of cases with N responses each, any N from 1; its format is recognised."
        ),
    ],
    judge: _options.JudgeName = "embedded",
    protocol: _options.ProtocolName = None,
    by: Annotated[
        Literal["ratings", "pairs"],
        typer.Option(
            "--by",
            help="Rate each response and pick the highest, or let pairs meet: a knockout of N - 1 "
            "matches.",
        ),
    ] = "ratings",
    out: _options.Out = None,
    orders: Annotated[
        Literal["both", "one"],
        typer.Option(help="With --by pairs: ask in both orders, or in one at half the cost."),
    ] = "both",
    on_overflow: _options.Overflow = "error",
    max_tokens: _options.MaxTokens = None,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    limit: _options.Limit = None,
    classify: _options.Classify = False,
    classifier: _options.Classifier = None,
    unknown_scenario: _options.UnknownScenario = None,
    scenarios: _options.Scenarios = None,
    format: _options.Format = None,
    columns: Map = None,
    skip_bad_rows: _options.SkipBadRows = False,
    reject_empty: _options.RejectEmpty = False,
    as_json: _options.Json = False,
) -> None:
    """Pick the best of N responses; picks.jsonl in the run's folder holds what was picked.

    Of equal ratings the response with the higher output probability is picked where it is known for
    all of them (logprob in the file), else the first. A response that could not be rated is never
    picked. Killed at any moment, the same command goes on where it stopped.

    Example: autoj select candidates.jsonl --judge embedded
    """
    _console.set_json(as_json)
    if by == "ratings" and orders != "both":
        raise ConfigError("--orders goes with --by pairs: ratings are of one response each")
    names_scenarios = find_classifier(classify, classifier)
    spec = make_select_spec(
        load_card(judge),
        by,
        protocol=protocol,
        orders=orders,
        on_overflow=on_overflow,
        max_tokens=max_tokens,
        limit=limit,
        skip_bad_rows=skip_bad_rows,
        reject_empty=reject_empty,
        classifier=names_scenarios,
        unknown_scenario=unknown_scenario,
        scenarios=scenarios,
    )
    cases = find_cases(data, None, None, format, columns=columns)
    cases = named_by(cases, names_scenarios)
    path = out or _default_folder(spec, cases)
    if is_jury(path):
        raise ConfigError(f"{path} is the folder of a jury", hint="Choose another --out.")
    caps = (max_usd, max_requests)
    judging = _by_ratings if by == "ratings" else _by_pairs
    with judging(spec, cases, path, caps) as (folder, counts, stopped):
        summary = summarise_selection(read_selections(folder), spec)
        if as_json:
            _console.print_json(_as_json(folder, summary) | {"session": asdict(counts)})
        else:
            _console.print_result(_view(folder, spec, summary, _N_SHOWN))
            _console.print_message(f"what was picked lies in {path / 'picks.jsonl'}")
    if summary.n_failed or stopped:
        raise typer.Exit(1)


def _default_folder(spec: RunSpec, cases: Cases) -> Path:
    """A folder that the same command finds again: named for data, judge and settings."""
    data = cases.name or cases.paths[0].name.partition(".")[0]
    judge = re.sub(r"[^A-Za-z0-9._-]+", "-", spec.judge.name).strip("-.")
    return Path("runs") / f"{data}-select-{judge}-{spec_digest(spec, cases)}"


@contextmanager
def _by_ratings(
    spec: RunSpec, cases: Cases, path: Path, caps: Caps
) -> Iterator[tuple[RunFolder, RunCounts, bool]]:
    """A run in which all responses are rated, with its picks; locked until the block ends.

    Gives the run, what this session did, and whether a cap stopped it before all were rated.
    """
    budget = Budget(*caps)
    with judged(spec, cases, path, budget=budget) as (folder, counts):
        write_picks_by_rating(folder)
        yield folder, counts, budget.stopped


@contextmanager
def _by_pairs(
    spec: RunSpec, cases: Cases, path: Path, caps: Caps
) -> Iterator[tuple[RunFolder, RunCounts, bool]]:
    """The same for a tournament in each case; a cap ends the command between two rounds."""
    Budget(*caps).check(spec.judge)
    with open_run(path, spec, cases) as folder:
        n_bad_rows = folder.settings()["n_bad_rows"]
        if n_bad_rows:
            _console.print_message(
                f"{n_bad_rows:,} bad rows are left out; {path / 'bad_rows.jsonl'} lists them"
            )
        yield folder, _hold_tournaments(folder, spec, caps), False


def _hold_tournaments(folder: RunFolder, spec: RunSpec, caps: Caps) -> RunCounts:
    """Judge round after round, all cases together, until there is nobody left to meet."""
    path, its = folder.path / "pairs", pair_spec(spec)
    sessions: list[RunCounts] = []
    known = answered_matches(path, its)
    engine: Backend | None = None
    try:
        while True:
            tournaments, pairs = replay_all(folder, known)
            if not pairs:
                break
            engine = engine or _load(spec.judge)
            number = 1 + max(tournament.n_rounds for tournament in tournaments.values())
            _console.print_message(
                f"round {number}: {sum(map(len, pairs.values())):,} pairs so far"
            )
            matches = cases_of_matches(folder, pairs)
            clear_for(path, matches)
            # All rounds share one ledger, from which each round's budget counts those before it.
            with judged_whole(its, matches, path, Budget(*caps), engine) as (run, counts):
                sessions.append(counts)
                known = {verdict.case_id: verdict for verdict in run.verdicts()}
    finally:
        if engine is not None:
            engine.close()
    if not sessions:
        _console.print_message(f"nothing was left to ask: this is what {folder.path} holds")
    write_picks_of_tournaments(folder, spec, tournaments)
    return total_of(sessions)


def _load(card: JudgeCard) -> Backend:
    with _console.show_progress() as watch:
        return load_with_progress(card, watch)


def _view(
    folder: RunFolder, spec: RunSpec, summary: SelectionSummary, n_shown: int
) -> RenderableType:
    listed = list(islice(read_selections(folder), n_shown))
    parts: list[RenderableType] = [selection_table(listed, spec)]
    if summary.n_cases > len(listed):
        more = summary.n_cases - len(listed)
        parts.append(Text(f" … {more:,} more in {folder.path / 'picks.jsonl'}", style="dim"))
    return Group(*parts, Text(), selection_summary_table(summary, spec))


def _as_json(folder: RunFolder, summary: SelectionSummary) -> dict[str, Any]:
    return {
        "run": str(folder.path),
        "summary": asdict(summary),
        "picks": list(read_records(folder.path / "picks.jsonl", PickedResponse)),
        "verdicts": list(folder.verdicts()),
    }


def show_selection(folder: RunFolder, n_shown: int, as_json: bool) -> None:
    """Show a run that picked, as its command did, from the picks in its folder.

    Args:
        folder: the run's folder; one that holds `picks.jsonl`.
        n_shown: how many cases are listed.
        as_json: whether stdout is for a machine.
    """
    spec = folder.spec()
    summary = summarise_selection(read_selections(folder), spec)
    if as_json:
        _console.print_json(_as_json(folder, summary))
    else:
        _console.print_result(_view(folder, spec, summary, n_shown))
