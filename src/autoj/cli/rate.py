"""`autoj rate`: a critique and a rating of each response."""

from autoj.cli import _console, _data_options, _options
from autoj.cli._judged_options import JoinRule, JudgeNames, Map, Questions, Turn
from autoj.cli._judging import judging
from autoj.cli._plan import show_plan
from autoj.cli._progress import watching
from autoj.reports.show import finished
from autoj.runs.budget import Budget
from autoj.runs.stores.address import place_of
from autoj.tasks.cases import open_named
from autoj.tasks.escalation import named_judges


def rate(
    data: _data_options.Data = None,
    judge: JudgeNames = "embedded",
    protocol: _options.ProtocolName = None,
    out: _options.OutOrAddress = None,
    critique: _options.WantsCritique = None,
    critic: _options.Critic = None,
    on_overflow: _options.Overflow = "error",
    max_tokens: _options.MaxTokens = None,
    samples: _options.Samples = None,
    temperature: _options.Temperature = None,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    cache: _options.Cache = None,
    plan: _options.Plan = False,
    limit: _data_options.Limit = None,
    shard: _data_options.Shard = None,
    cluster: _data_options.Cluster = None,
    shards: _data_options.Shards = None,
    by: _options.By = None,
    classify: _data_options.Classify = False,
    classifier: _data_options.Classifier = None,
    unknown_scenario: _data_options.UnknownScenario = None,
    scenarios: _data_options.Scenarios = None,
    format: _data_options.Format = None,
    columns: Map = None,
    questions: Questions = None,
    turn: Turn = None,
    join: JoinRule = None,
    skip_bad_rows: _data_options.SkipBadRows = False,
    reject_empty: _data_options.RejectEmpty = False,
    as_json: _options.Json = False,
) -> None:
    """Rate each response from 1 to 10, with a critique.

    After an interruption, repeat the command to resume.

    Example: autoj rate responses.jsonl --limit 20
    """
    asked = named_judges(
        "rate",
        judge,
        protocol=protocol,
        critique=critique,
        critic=critic,
        max_tokens=max_tokens,
        on_overflow=on_overflow,
        reject_empty=reject_empty,
        skip_bad_rows=skip_bad_rows,
        limit=limit,
        samples=samples,
        temperature=temperature,
        shard=shard,
        classify=classify,
        classifier=classifier,
        unknown_scenario=unknown_scenario,
        scenarios=scenarios,
    )
    with watching() as watch:
        cases = open_named(
            data,
            None,
            None,
            format,
            columns,
            join=join,
            questions=questions,
            turn=turn,
            watch=watch,
        )
    place = None if out is None else place_of(out)
    if plan:
        show_plan(cases, asked, place, cache)
        return
    judge_cases = judging(asked, cluster, shards, place)
    budget = Budget(max_usd, max_requests)
    with watching() as watch:
        run = judge_cases(cases, asked, place, budget=budget, watch=watch, cache=cache)
    _console.show_either(finished(run, by))
