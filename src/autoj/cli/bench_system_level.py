"""`autoj bench system-level`: models ranked by a judge's mean ratings and by win rates."""

from pathlib import Path
from typing import Annotated

from autoj.bench.system_level.measure import measure_ranking, model_ratings
from autoj.cli import _console, _options
from autoj.cli._progress import watching
from autoj.reports.bench_system_level import ranking_view
from autoj.runs.budget import Budget


def system_level(
    judge: _options.JudgeName = "embedded",
    run: Annotated[
        Path | None,
        _options.measured("--run", help="The folder of a finished run of this command."),
    ] = None,
    ratings: Annotated[
        Path | None,
        _options.measured(
            help="Published mean ratings: a table of key, rating (or autoj_rating) and, "
            "optionally, reference (or gpt4_winrate)."
        ),
    ] = None,
    outputs: Annotated[
        list[Path] | None,
        _options.judged(
            help="Outputs of the models: a folder, or a file of each; may be repeated. Default: "
            "autoj data get alpaca-eval."
        ),
    ] = None,
    reference: Annotated[
        Path | None,
        _options.judged(
            help="The reference ranking: a table of key and reference (or gpt4_winrate). Default: "
            "that of --ratings, else Table 23 of the paper."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        _options.judged(min=1, help="Rate a random sample of N queries, the same for all models."),
    ] = None,
    seed: Annotated[
        int,
        _options.judged(help="The seed of the sample of --limit."),
    ] = 0,
    exclude: Annotated[
        Path | None,
        _options.judged(
            help="A file of queries to leave out: JSONL with query, instruction or prompt, or one "
            "per line."
        ),
    ] = None,
    protocol: _options.ProtocolName = None,
    out: _options.Out = None,
    save: Annotated[
        Path | None,
        _options.output(help="The file of the result, as JSON. Default: in the run's folder."),
    ] = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    as_json: _options.Json = False,
) -> None:
    """Rank models by a judge's mean ratings and compare with win rates: Spearman, Pearson, Kendall.

    After an interruption, repeat the command to resume.

    Example: autoj bench system-level --judge embedded --limit 20
    """
    source = model_ratings(
        judge,
        run=run,
        ratings=ratings,
        protocol=protocol,
        on_overflow=on_overflow,
        outputs=outputs or (),
        sample=limit,
        seed=seed,
        exclude=exclude,
        out=out,
    )
    budget = Budget(max_usd, max_requests)
    with watching() as watch:
        found = measure_ranking(source, reference=reference, budget=budget, watch=watch)
    _console.show_measured(found, save, lambda its: ranking_view(its.result, its.lengths))
