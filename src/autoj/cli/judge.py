"""`autoj judge`: the better of two responses."""

from pathlib import Path
from typing import Annotated, Literal

from autoj.cli import _budget_options, _console, _data_options, _options
from autoj.cli._judged_options import JoinRule, JudgeNames, JuryRule, Map, Questions, Turn
from autoj.cli._judging import judging
from autoj.cli._plan import show_plan
from autoj.cli._progress import watching
from autoj.reports.show import finished
from autoj.runs.budget import Budget
from autoj.runs.stores.address import place_of
from autoj.tasks.cases import open_named
from autoj.tasks.escalation import named_judges


def judge(
    data: _data_options.Data = None,
    a: Annotated[
        Path | None,
        _options.judged("--a", help="A file of model a's responses, one per query; needs --b."),
    ] = None,
    b: Annotated[
        Path | None,
        _options.judged("--b", help="A file of model b's responses, joined on the query."),
    ] = None,
    questions: Questions = None,
    turn: Turn = None,
    join: JoinRule = None,
    judge: JudgeNames = "embedded",
    jury: JuryRule = None,
    protocol: _options.ProtocolName = None,
    out: _options.OutOrAddress = None,
    critique: _options.WantsCritique = None,
    critic: _options.Critic = None,
    orders: Annotated[
        Literal["both", "one"],
        _options.asking(help="Show the responses in both orders, or in one at half the cost."),
    ] = "both",
    on_conflict: Annotated[
        Literal["probability", "tie", "unresolved"] | None,
        _options.asking(
            help="The verdict if the orders disagree: by the averaged probabilities, a tie, or "
            "none. Default: probability if both orders have probabilities, else unresolved."
        ),
    ] = None,
    on_overflow: _options.Overflow = "error",
    max_tokens: _options.MaxTokens = None,
    samples: _options.Samples = None,
    temperature: _options.Temperature = None,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    second_order: _budget_options.SecondOrder = None,
    escalate: _budget_options.Escalate = None,
    always_full: _budget_options.AlwaysFull = None,
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
    skip_bad_rows: _data_options.SkipBadRows = False,
    reject_empty: _data_options.RejectEmpty = False,
    as_json: _options.Json = False,
) -> None:
    """Compare two responses: winner, probabilities and critique, judged in both orders.

    After an interruption, repeat the command to resume.

    Example: autoj judge pairs.jsonl --by group
    """
    asked = named_judges(
        "judge",
        judge,
        jury,
        escalate=escalate,
        protocol=protocol,
        critique=critique,
        critic=critic,
        max_tokens=max_tokens,
        orders=orders,
        on_conflict=on_conflict,
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
        second_order=second_order,
        always_full=always_full,
    )
    with watching() as watch:
        cases = open_named(
            data, a, b, format, columns, join=join, questions=questions, turn=turn, watch=watch
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
