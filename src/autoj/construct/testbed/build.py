"""Builds a testbed: draws pairs, makes those that are short, samples Eval-R.

**Source**: paper, section 5.1. Killed anywhere, the same call goes on; with further files or models
it adds to what is there. What was drawn stays, unless it turns out to be trained on.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.construct.stages import Dropped
from autoj.construct.testbed.drawing import draw, shortages, top_up, waiting_queries, with_sets
from autoj.construct.testbed.folder import POLICIES, BuildCounts, DrawnPair, Testbed
from autoj.construct.testbed.policies import Policy
from autoj.construct.testbed.sampling import sample
from autoj.construct.testbed.settings import BuildSettings, BuildSources, record_of
from autoj.construct.testbed.sources import read_pairs, read_queries, trained_on
from autoj.runs.budget import Budget
from autoj.runs.place import locked
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios import Library, shipped_library

NOT_SAMPLED = "not sampled"
"""The reason of a query of Eval-C that a base model failed on; its pair stays."""


@dataclass(slots=True, kw_only=True)
class Drawn:
    """The pairs of a testbed while it is built, and what was left out."""

    pairs: list[DrawnPair]
    dropped: list[Dropped]
    counts: BuildCounts

    def drop(self, items: Iterable[Dropped]) -> None:
        """Adds what was left out; a later reason takes the place of an earlier one."""
        found = {item.id: item for item in (*self.dropped, *items)}
        serving = {pair.case.id for pair in self.pairs}
        self.dropped = [
            item for item in found.values() if item.id not in serving or item.reason == NOT_SAMPLED
        ]


def build(
    settings: BuildSettings,
    sources: BuildSources,
    out: Path,
    *,
    library: Library | None = None,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> Testbed:
    """Builds a testbed, or goes on with one.

    Args:
        settings: the size and the rules of the draws.
        sources: the files and the models.
        out: the folder; made where there is none.
        library: the scenarios that there are; None takes the shipped ones.
        budget: the caps, over all models and sessions; None sets no limit.
        watch: told of progress and events.

    Returns:
        The testbed; scenarios may still be short of pairs (`shortages`).

    Raises:
        ConfigError: the settings do not fit together.
        DataError: a file cannot be read, or the folder holds something else.
        SpecMismatch: the folder was made with other settings or files.
        RunBusy: another process builds it.
        Unfinished: a cap was reached; the same call with a higher one goes on.
        BackendError: an engine broke down; the same call goes on.
        Cancelled: `watch` cancelled it; the same call goes on.
    """
    settings.check()
    sources.check()
    testbed, library = Testbed(out), library or shipped_library()
    record = record_of(settings, sources)
    testbed.make()
    budget = budget or Budget()
    with locked(out):
        testbed.bind(record)
        models = _models(testbed, sources, settings, budget, watch)
        drawn = draw_pairs(testbed, settings, sources, library, watch)
        _top_up(drawn, [models[card.name] for card in sources.policies], settings, sources, library)
        drawn.pairs = with_sets(drawn.pairs, settings)
        # Eval-R takes long; annotators can begin meanwhile.
        testbed.write_pairs(drawn.pairs, drawn.dropped, drawn.counts)
        _sample(testbed, drawn, [models[card.name] for card in sources.base_models], settings)
        testbed.write_counts(_priced(drawn.counts, models.values()))
    return testbed


def draw_pairs(
    testbed: Testbed,
    settings: BuildSettings,
    sources: BuildSources,
    library: Library,
    watch: Watch = SILENT,
) -> Drawn:
    """Draws from the files what scenarios lack; no model is asked.

    Args:
        testbed: its pairs of earlier builds stay, unless they were trained on.
        settings: the size and the rules of the draws.
        sources: the files.
        library: the scenarios that there are.
        watch: told of pairs that were trained on.
    """
    before = testbed.pairs()
    gone = trained_on(sources, [pair.case for pair in before], settings)
    if gone:
        watch.message(f"{len(gone):,} pairs of earlier builds were trained on and are left out")
    drawn = Drawn(
        pairs=[pair for pair in before if pair.case.id not in gone],
        dropped=list(testbed.dropped()),
        counts=testbed.counts(),
    )
    drawn.drop([Dropped(id=name, reason="trained on") for name in sorted(gone)])
    lacking = shortages(drawn.pairs, settings)
    if lacking and sources.pairs:
        found = read_pairs(sources, settings, library, [pair.case.cluster for pair in drawn.pairs])
        new = draw(found.cases, lacking, settings)
        drawn.pairs += new
        drawn.drop(found.dropped)
        drawn.counts = BuildCounts(
            n_pairs_read=found.n_read,
            n_of_other_scenarios=found.n_of_others,
            n_not_drawn=len(found.cases) - len(new),
            contamination=found.contamination,
        )
    return drawn


def _top_up(
    drawn: Drawn,
    policies: Sequence[Policy],
    settings: BuildSettings,
    sources: BuildSources,
    library: Library,
) -> None:
    """Makes pairs of queries for the scenarios that lack some."""
    lacking = shortages(drawn.pairs, settings)
    if not lacking or not sources.tops_up:
        return
    found = read_queries(sources, settings, library, [pair.case.cluster for pair in drawn.pairs])
    waiting = waiting_queries(found.cases, lacking, settings)
    made, failed = top_up(waiting, lacking, policies, settings)
    drawn.pairs += made
    drawn.drop([*found.dropped, *failed])
    before = drawn.counts
    drawn.counts = replace(
        before,
        n_queries_read=found.n_read,
        n_of_other_scenarios=before.n_of_other_scenarios + found.n_of_others,
        n_not_drawn=before.n_not_drawn + len(found.cases) - len(made) - len(failed),
        contamination=[*before.contamination, *found.contamination],
    )


def _sample(
    testbed: Testbed, drawn: Drawn, base_models: Sequence[Policy], settings: BuildSettings
) -> None:
    """Samples Eval-R, unless all of it is there."""
    if not base_models or _is_sampled(testbed, drawn.pairs, base_models, settings):
        return
    found = sample(drawn.pairs, base_models, settings)
    drawn.drop(
        [Dropped(id=name, reason=NOT_SAMPLED, detail=said) for name, said in found.failed.items()]
    )
    testbed.write_candidates(found.candidates)
    testbed.write_pairs(found.pairs, drawn.dropped, drawn.counts)


def _is_sampled(
    testbed: Testbed,
    pairs: Sequence[DrawnPair],
    base_models: Sequence[Policy],
    settings: BuildSettings,
) -> bool:
    """True where each scenario has its queries in Eval-R, each sampled from every base model."""
    chosen = Counter(pair.case.scenario for pair in pairs if pair.in_rating)
    possible = Counter(pair.case.scenario for pair in pairs if pair.in_critique)
    if any(chosen[name] < min(settings.n_rating, n) for name, n in possible.items()):
        return False
    wanted = {
        f"{pair.case.id}/{model.card.name}"
        for pair in pairs
        if pair.in_rating
        for model in base_models
    }
    return wanted == {case.id for case in testbed.candidates()}


def _models(
    testbed: Testbed,
    sources: BuildSources,
    settings: BuildSettings,
    budget: Budget,
    watch: Watch,
) -> dict[str, Policy]:
    """All models by name, each with the folder of its answers; one may serve in both roles."""
    cards = {card.name: card for card in (*sources.policies, *sources.base_models)}
    return {
        name: Policy(
            card,
            testbed.path / POLICIES,
            replace(card.decoding, max_tokens=settings.max_tokens or card.decoding.max_tokens),
            budget,
            watch,
        )
        for name, card in cards.items()
    }


def _priced(counts: BuildCounts, models: Iterable[Policy]) -> BuildCounts:
    """The counts with what all models have cost."""
    costs = [model.cost() for model in models]
    known = [usd for _, usd in costs if usd is not None]
    return replace(counts, n_requests=sum(n for n, _ in costs), usd=sum(known) if known else None)
