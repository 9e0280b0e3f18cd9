"""The expected size and cost of a construction whose data are not all at hand.

Sources that are here are counted, by running stage collect over them. Others enter with the rows
that the recipe declares of them, and all that follows is computed from what it assumes: which share
a stage keeps, and of which scenarios the queries are. Nothing is fetched, asked or written.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autoj.construct.estimate import CHARACTERS_PER_TOKEN, WRITTEN_TOKENS
from autoj.construct.expected_rows import (
    ExpectedRows,
    ExpectedSource,
    ExpectedStage,
    collect_expected,
    kept_share,
    lead_through,
)
from autoj.construct.known_queries import find_test_set
from autoj.construct.recipe import (
    Classify,
    Collect,
    ConstructRecipe,
    Decontaminate,
    Deduplicate,
    JudgePairs,
    JudgeSingles,
    Mathematics,
)
from autoj.datasets import is_at_hand
from autoj.errors import DataError
from autoj.runs.watch import SILENT, Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A construction as far as declarations and assumptions tell it."""

    sources: tuple[ExpectedSource, ...]
    stages: tuple[ExpectedStage, ...]
    """As far as they can be estimated."""
    not_estimated: tuple[str, ...]
    pairs: dict[str, int]
    """The expected pairs with a judgment, by scenario."""
    n_singles: int
    """The expected rated single responses."""
    published: tuple[str, int | None, int | None]
    """Somebody else's pairs and single responses, after whose they are."""
    assumptions: tuple[str, ...]
    """The figures that nobody has counted, each in a sentence."""
    absent: tuple[str, ...]
    """The sources and test sets that are not at hand; a construction needs them."""


def lacks_declared_data(recipe: ConstructRecipe) -> bool:
    """True where a source is not at hand whose rows the recipe declares."""
    return any(
        source.declared is not None and not is_at_hand(Path(source.data))
        for source in recipe.sources
    )


def expect(recipe: ConstructRecipe, watch: Watch = SILENT) -> Expectation:
    """Computes what a construction is expected to keep, ask and cost.

    Args:
        recipe: the sources, with their declared rows, and the stages.
        watch: told of progress.

    Raises:
        DataError: a source is neither at hand nor declared.
        UnknownComponent: a judge, a protocol or a scenario is unknown.
    """
    first, *others = recipe.stages
    assert isinstance(first, Collect)
    rows = ExpectedRows()
    sources = [collect_expected(recipe, source, first, rows, watch) for source in recipe.sources]
    stages = [
        ExpectedStage(
            stage=first.stage,
            n_in=sum(source.n_rows for source in sources),
            n_kept=round(rows.total()),
        )
    ]
    not_estimated: list[str] = []
    for stage in others:
        expected = lead_through(stage, rows, recipe)
        if expected is None:
            not_estimated.append(stage.stage)
        else:
            stages.append(expected)
    judged = sorted(rows.judged.items(), key=lambda item: (-item[1], item[0]))
    assumed = recipe.assumed
    return Expectation(
        sources=tuple(sources),
        stages=tuple(stages),
        not_estimated=tuple(not_estimated),
        pairs={name: round(n) for name, n in judged},
        n_singles=round(rows.n_singles),
        published=(assumed.published_by, assumed.published_pairs, assumed.published_singles),
        assumptions=tuple(_assumptions(recipe, sources)),
        absent=tuple(_absent(recipe)),
    )


def _assumptions(recipe: ConstructRecipe, sources: Iterable[ExpectedSource]) -> Iterator[str]:
    """The figures behind an expectation that nobody has counted."""
    assumed = recipe.assumed
    for source, found in zip(recipe.sources, sources, strict=True):
        if found.is_counted or source.declared is None:
            continue
        said = f"{found.name}: {source.declared.rows:,} rows by its card"
        said += f", of which collect keeps {source.declared.kept:.0%}"
        if source.scenario is None and source.declared.scenarios:
            said += f", in equal parts of {len(source.declared.scenarios)} scenarios"
        yield said + "."
    if any(source.scenario is None for source in recipe.sources):
        yield (
            f"Other queries are of {len(assumed.shares)} scenarios, by the shares that the recipe "
            "states."
        )
    for stage in recipe.stages[1:]:
        what = "judgments" if isinstance(stage, JudgePairs | JudgeSingles) else "rows"
        if isinstance(stage, Deduplicate | Decontaminate | Classify | JudgePairs | JudgeSingles):
            yield f"Stage {stage.stage} keeps {kept_share(stage, recipe):.0%} of its {what}."
    yield (
        f"A query has {assumed.query_characters:,} characters and a response "
        f"{assumed.response_characters:,}; a token has {CHARACTERS_PER_TOKEN}, and a judgment "
        f"{WRITTEN_TOKENS} tokens."
    )


def _absent(recipe: ConstructRecipe) -> Iterator[str]:
    """The sources and test sets that are not at hand."""
    yield from (source.data for source in recipe.sources if not is_at_hand(Path(source.data)))
    for stage in recipe.stages:
        if isinstance(stage, Decontaminate):
            yield from (name for name in stage.against if not _is_here(name))
        elif isinstance(stage, Mathematics) and not is_at_hand(Path(stage.data)):
            yield stage.data


def _is_here(test_set: str) -> bool:
    try:
        return is_at_hand(find_test_set(test_set))
    except DataError:
        return False
