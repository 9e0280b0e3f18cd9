"""`autoj select`: the best of N responses, by ratings or by a tournament of pairs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autoj.cli import _console, _data_options, _options
from autoj.cli._judged_options import Map
from autoj.cli._plan import show_plan
from autoj.cli._progress import watching
from autoj.judges import load_card
from autoj.reports.show import finished_selection
from autoj.tasks.cases import open_named
from autoj.tasks.select import select as pick
from autoj.tasks.selection_folder import make_select_spec


def select(
    data: Annotated[
        Path,
        typer.Argument(
            help="A file of cases with N responses each, any N from 1. Its format is recognised.",
            rich_help_panel=_options.JUDGED,
        ),
    ],
    judge: _options.JudgeName = "embedded",
    protocol: _options.ProtocolName = None,
    by: Annotated[
        Literal["ratings", "pairs"],
        _options.asking(
            "--by",
            help="Rate each response and pick the highest, or compare pairs in a knockout of N - 1 "
            "matches.",
        ),
    ] = "ratings",
    out: _options.Out = None,
    orders: Annotated[
        Literal["both", "one"],
        _options.asking(
            help="With --by pairs: show the responses in both orders, or in one at half the cost."
        ),
    ] = "both",
    on_overflow: _options.Overflow = "error",
    max_tokens: _options.MaxTokens = None,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    cache: _options.Cache = None,
    plan: _options.Plan = False,
    limit: _data_options.Limit = None,
    classify: _data_options.Classify = False,
    classifier: _data_options.Classifier = None,
    unknown_scenario: _data_options.UnknownScenario = None,
    scenarios: _data_options.Scenarios = None,
    format: _data_options.Format = None,
    columns: Map = None,
    skip_bad_rows: _data_options.SkipBadRows = False,
    reject_empty: _data_options.RejectEmpty = False,
    as_json: _options.Json = False,
) -> None:
    """Pick the best of N responses; picks.jsonl in the run's folder has the picks.

    Of equal ratings, the response with the highest output probability is picked if the file has
    all of them (logprob), else the first. A response that could not be rated is never picked. After
    an interruption, repeat the command to resume.

    Example: autoj select candidates.jsonl --judge embedded
    """
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
        classifier=classifier or ("fast" if classify else None),
        unknown_scenario=unknown_scenario,
        scenarios=scenarios,
    )
    with watching() as watch:
        cases = open_named(data, format=format, columns=columns, watch=watch)
    if plan:
        show_plan(cases, spec, out, cache)
        return
    with watching() as watch:
        run = pick(cases, spec, out, caps=(max_usd, max_requests), watch=watch, cache=cache)
    _console.show_either(finished_selection(run))
