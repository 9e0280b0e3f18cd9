"""`autoj collect`: labelled pairs of several sources as one file of native rows."""

from pathlib import Path

from autoj.cli import _collect_options, _console, _options
from autoj.cli._progress import watching
from autoj.construct.collect_file import collect_recipe, collect_to_file, listed
from autoj.construct.recipe import Collect, PairFile
from autoj.reports.collect import collected_record, collected_view
from autoj.tasks.cases import tell_stream


def collect(
    sources: _collect_options.Sources,
    out: _collect_options.RowsOut,
    languages: _collect_options.Languages = "",
    scenario: _collect_options.FixedScenario = None,
    name: _collect_options.Name = None,
    limit: _collect_options.FirstRows = None,
    queries: _collect_options.QueriesAlone = False,
    purpose: _collect_options.Purpose = "training",
    turns: _collect_options.Turns = "first",
    unlabelled: _collect_options.Unlabelled = "drop",
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
    stage = Collect(
        stage="collect",
        languages=listed(languages),
        turns=turns,
        purpose=purpose,
        unlabelled=unlabelled,
        max_characters=max_characters,
    )
    like = PairFile(data="", name=name, scenario=scenario, limit=limit, format=format, map=columns)
    recipe = collect_recipe(sources, like, stage, seed=seed, scenarios=scenarios)
    with watching() as watch:
        for source in sources:
            tell_stream(Path(source), watch)
        done = collect_to_file(recipe, out, queries=queries, watch=watch)
    _console.show(done, collected_record, collected_view)
