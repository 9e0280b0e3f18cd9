"""`autoj classify`: the scenario, one of 58, of each query of a file."""

from autoj.cli import _classify_options, _console, _data_options, _options
from autoj.cli._plan import show_plan
from autoj.cli._progress import watching
from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.reports.classify import CONFIDENCE, ClassifiedCount
from autoj.reports.cost import cost_text
from autoj.reports.show import classified_file, finished_naming
from autoj.runs.budget import Budget
from autoj.scenarios.classifier import load_classifier
from autoj.tasks import classify as task
from autoj.tasks.classify_file import check_named_by, classify_to_file, open_named_queries

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
    of_judges = {"--protocol": protocol, "--max-tokens": max_tokens, "--max-usd": max_usd}
    of_judges |= {"--max-requests": max_requests, "--cache": cache, "--plan": plan or None}
    check_named_by(classifier, judge, of_judges)
    with watching() as watch:
        cases = open_named_queries(data, format, columns, watch)
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
        _console.show_either(classified_file(found, count.result()))
        return
    if out is not None and out.is_file():
        raise ConfigError(f"--out {out} is a file, but with --judge it must be the run's folder")
    spec = task.make_classify_spec(
        load_card(judge), protocol, max_tokens=max_tokens, limit=limit, skip_bad_rows=skip_bad_rows
    )
    if plan:
        show_plan(cases, spec, out, cache)
        return
    budget = Budget(max_usd, max_requests)
    with watching() as watch:
        run = task.classify(cases, spec, out, budget=budget, watch=watch, cache=cache)
    if (spent := cost_text(run.cost, spec.judge)) is not None:
        _console.print_message(f"cost: {spent}")
    _console.show_either(finished_naming(run, confidence))
