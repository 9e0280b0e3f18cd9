"""`autoj collect`: labelled pairs of several sources as one file of native rows."""

from __future__ import annotations

from pathlib import Path

from autoj.cli import _collect_options, _console, _options
from autoj.cli._cases import tell_stream
from autoj.cli._progress import watching
from autoj.construct.collect_file import collect_recipe, collect_to_file
from autoj.construct.recipe import Collect, PairFile
from autoj.errors import ConfigError
from autoj.reports.collect import collected_record, collected_view


def collect(
    sources: _collect_options.Sources,
    out: _collect_options.RowsOut,
    languages: _collect_options.Languages = None,
    scenario: _collect_options.FixedScenario = None,
    name: _collect_options.Name = None,
    limit: _collect_options.FirstRows = None,
    queries: _collect_options.QueriesAlone = False,
    for_testing: _collect_options.ForTesting = False,
    single_turn: _collect_options.SingleTurn = False,
    keep_unlabelled: _collect_options.KeepUnlabelled = False,
    max_characters: _collect_options.MaxCharacters = 24_000,
    seed: _collect_options.Seed = 0,
    format: _collect_options.Format = None,
    columns: _collect_options.Columns = None,
    scenarios: _collect_options.Scenarios = None,
    as_json: _options.Json = False,
) -> None:
    """Collect labelled pairs of public or own sources into one file, or their queries alone.

    One row a pair, in an order drawn by the seed; of conversations the first turn. What is of no
    use is dropped, counted and listed with the reason.

    Example: autoj collect votes.jsonl hf-dataset:stanfordnlp/SHP:train --out pairs.jsonl
    """
    if name is not None and len(sources) > 1:
        raise ConfigError(
            f"--name {name} is for one source, and there are {len(sources)}",
            hint="A recipe of autoj construct names several.",
        )
    for source in sources:
        tell_stream(Path(source))
    stage = Collect(
        stage="collect",
        languages=tuple(code.strip() for code in (languages or "").split(",") if code.strip()),
        turns="single" if single_turn else "first",
        purpose="testing" if for_testing else "training",
        unlabelled="keep" if keep_unlabelled else "drop",
        max_characters=max_characters,
    )
    files = [
        PairFile(data=data, name=name, scenario=scenario, limit=limit, format=format, map=columns)
        for data in sources
    ]
    recipe = collect_recipe(files, stage, seed=seed, scenarios=scenarios)
    with watching() as watch:
        done = collect_to_file(recipe, out, queries=queries, watch=watch)
    _console.show(done, collected_record, collected_view)
