"""`autoj testbed build`: draws pairs, makes those that are short, and samples Eval-R."""

from dataclasses import asdict
from typing import Annotated

import typer

from autoj.cli import _console, _options, _progress
from autoj.cli import _testbed_options as options
from autoj.construct.testbed.build import build as build_testbed
from autoj.construct.testbed.estimate import estimate
from autoj.construct.testbed.labels import read_labelling
from autoj.construct.testbed.settings import (
    BuildSettings,
    BuildSources,
    load_policies,
    scenarios_named,
)
from autoj.reports.testbed import estimate_view, labelling_view, scenario_rows
from autoj.runs.budget import Budget
from autoj.scenarios import load_library


def build(
    out: options.Out,
    pairs: options.Pairs = None,
    scenario: options.Scenario = None,
    scenarios: options.Scenarios = None,
    per_scenario: options.PerScenario = 24,
    critique_cases: options.CritiqueCases = 4,
    rating_cases: options.RatingCases = 2,
    exclude: options.Exclude = None,
    queries: options.Queries = None,
    seeds: options.Seeds = False,
    language: options.Language = "en",
    classifier: options.Classifier = "fast",
    least_probability: options.LeastProbability = 0.0,
    policy: options.Policies = None,
    base_model: options.BaseModels = None,
    samples: options.Samples = 32,
    max_tokens: _options.MaxTokens = None,
    seed: options.Seed = 0,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Ask nobody and write nothing: show the pairs, the requests and their cost.",
            rich_help_panel=_options.SPENDING,
        ),
    ] = False,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    as_json: _options.Json = False,
) -> None:
    """Draw pairs that were not trained on, make those that are short, sample Eval-R.

    Killed at any moment, the same command goes on; with further files or models it adds to what is
    there. It ends with exit code 1 where scenarios are still short of pairs.

    Example: autoj testbed build data/mine --out data/testbed --scenario planning --dry-run
    """
    library = load_library(scenarios)
    settings = BuildSettings(
        scenarios=scenarios_named(tuple(scenario or ()), library),
        per_scenario=per_scenario,
        n_critique=critique_cases,
        n_rating=rating_cases,
        n_samples=samples,
        max_tokens=max_tokens,
        language=language,
        seed=seed,
        classifier=classifier,
        least_probability=least_probability,
    )
    sources = BuildSources(
        pairs=tuple(pairs or ()),
        queries=tuple(queries or ()),
        seeds=seeds,
        exclude=tuple(exclude or ()),
        policies=load_policies(tuple(policy or ())),
        base_models=load_policies(tuple(base_model or ())),
    )
    if dry_run:
        with _progress.watching() as watch:
            found = estimate(settings, sources, out, library=library, watch=watch)
        _console.show(found, asdict, estimate_view)
        return
    budget = Budget(max_usd, max_requests)
    with _progress.watching() as watch:
        built = build_testbed(settings, sources, out, library=library, budget=budget, watch=watch)
    labelling = read_labelling(built)
    rows = scenario_rows(built, labelling)
    _console.show(
        built,
        lambda its: {"testbed": str(out), "scenarios": rows, "counts": its.counts()},
        lambda its: labelling_view(its, labelling, 0),
    )
    _console.exit_if(any(row.n_short for row in rows))
