"""`autoj bench ablation`: judges on the same pairs, each beside the first."""

from pathlib import Path
from typing import Annotated

import typer

from autoj.bench.ablation.measure import AblationMeasurement, ablation_sources, measure_ablation
from autoj.bench.sources import open_set
from autoj.cli import _completion, _console, _options, _pair_options
from autoj.cli._progress import watching
from autoj.reports.bench_ablation import ablation_view
from autoj.runs.budget import Budget


def ablation(
    judges: Annotated[
        list[str],
        typer.Argument(
            metavar="JUDGE...",
            help="The whole judge, then its variants: judges (autoj judges), their folders, or "
            "folders of finished runs.",
            autocompletion=_completion.judges,
        ),
    ],
    data: Annotated[
        Path, _options.judged("--data", help="Labelled pairs in any format that autoj reads.")
    ],
    out: _options.Out = None,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    limit: _pair_options.SampleSize = None,
    seed: _pair_options.Seed = 0,
    as_json: _options.Json = False,
) -> None:
    """Compare variants of a judge on the same pairs: figures, paired differences, published ones.

    Example: autoj bench ablation judges/whole judges/decision-only --data eval-p.jsonl
    """
    with watching() as watch:
        found = measure_ablation(
            open_set(data, watch),
            ablation_sources(judges),
            sample=limit,
            seed=seed,
            out=out,
            budget=Budget(max_usd, max_requests),
            watch=watch,
        )
    _console.show(found, AblationMeasurement.as_json, ablation_view)
    _console.exit_if(found.n_failed)
