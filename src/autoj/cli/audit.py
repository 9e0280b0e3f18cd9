"""`autoj audit`: a judge's audit card, with its biases."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from autoj.audit.card import audit_card
from autoj.audit.plan import N_PROBED, N_SAMPLE, audit_spec, plan_audit
from autoj.audit.run import run_audit
from autoj.cli import _completion, _console, _data_options, _options
from autoj.cli._progress import watching
from autoj.datasets import catalog, open_cases
from autoj.judges import load_card
from autoj.metrics.result import Result, save_result
from autoj.reports.audit import audit_view
from autoj.runs.spec_checks import check_one
from autoj.tasks.cases import tell_format
from autoj.tasks.default_paths import audit_folder

_RESULT = "audit.json"


def audit(
    judge: Annotated[
        str | None,
        _options.measured(
            "--judge",
            autocompletion=_completion.judges,
            help="A judge's name (autoj judges), the path of a card, or backend:model.",
        ),
    ] = None,
    on: Annotated[
        Path | None,
        _options.judged(help="Pairs, preferably with human labels. Default: Eval-P."),
    ] = None,
    limit: Annotated[
        int,
        _options.judged(
            min=1, help="Judge N cases at most: a random sample, stratified by scenario."
        ),
    ] = N_SAMPLE,
    probes: Annotated[
        int,
        _options.judged(
            min=1, help="The number of these cases to probe: edited, injected, identical, repeated."
        ),
    ] = N_PROBED,
    seed: Annotated[
        int,
        _options.judged(help="The seed of the random draws; it is stored."),
    ] = 0,
    run: Annotated[
        Path | None,
        _options.measured(
            "--run", help="The folder of a finished audit, to show its card without a model."
        ),
    ] = None,
    protocol: _options.ProtocolName = None,
    out: _options.Out = None,
    save: Annotated[
        Path | None,
        _options.output(help="The file of the card, as JSON. Default: audit.json in the folder."),
    ] = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    unknown_scenario: _data_options.UnknownScenario = None,
    scenarios: _data_options.Scenarios = None,
    max_tokens: _options.MaxTokens = None,
    format: _data_options.Format = None,
    as_json: _options.Json = False,
) -> None:
    """Audit a judge: accuracy and kappa; position, length and format bias; prompt injection.

    Before it starts, it prints the number of questions and an estimate of their time. After an
    interruption, repeat the command to resume.

    Example: autoj audit --judge embedded --limit 100
    """
    check_one({"--judge": judge, "--run": run})
    if run is not None:
        _finish(audit_card(run), save or run / _RESULT)
        return
    assert judge is not None
    spec = audit_spec(
        load_card(judge),
        protocol=protocol,
        max_tokens=max_tokens,
        on_overflow=on_overflow,
        unknown_scenario=unknown_scenario,
        scenarios=scenarios,
    )
    with watching() as watch:
        data = open_cases(on or catalog.find("eval-p"), format)
        tell_format(data.paths[:1], data, watch)
        plan = plan_audit(data, spec, n_sample=limit, n_probed=probes, seed=seed)
        root = out or audit_folder(plan.parts[0].spec, plan.parts[0].cases, data)
        card = run_audit(plan, root, caps=(max_usd, max_requests), watch=watch)
    _finish(card, save or root / _RESULT)


def _finish(card: Result, place: Path) -> None:
    """Keep the card and show it; exit with 1 where a judgment failed."""
    save_result(place, card)
    _console.show(card, asdict, audit_view, f"the card is in {place}")
    _console.exit_if(card.details["n_failed"])
