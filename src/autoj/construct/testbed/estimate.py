"""The cost of a testbed before a model is asked: pairs, queries, requests, tokens and money."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autoj.construct.estimate import CHARACTERS_PER_TOKEN, WRITTEN_TOKENS
from autoj.construct.testbed.build import draw_pairs
from autoj.construct.testbed.drawing import shortages, waiting_queries
from autoj.construct.testbed.folder import Testbed
from autoj.construct.testbed.settings import BuildSettings, BuildSources, record_of
from autoj.construct.testbed.sources import read_queries
from autoj.records import Case, JudgeCard
from autoj.runs.budget import price_usd
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios import Library, shipped_library


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEstimate:
    """The requests to one model."""

    model: str
    role: str
    """"policy" or "base model"."""
    n_requests: int
    """Of a policy the mean: which two answer a query is drawn by the seed."""
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    """None where the card states no prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioEstimate:
    """A scenario as far as it is known before a model is asked."""

    scenario: str
    n_labelled: int
    n_unlabelled: int
    n_queries: int
    """Queries that could fill it."""
    n_short: int
    """Pairs that it lacks even if every query gives one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildEstimate:
    """A testbed before a model is asked."""

    scenarios: tuple[ScenarioEstimate, ...]
    models: tuple[ModelEstimate, ...]
    dropped: dict[str, int]
    """Rows that cannot serve, by reason, the most frequent first."""


def estimate(
    settings: BuildSettings,
    sources: BuildSources,
    out: Path,
    *,
    library: Library | None = None,
    watch: Watch = SILENT,
) -> BuildEstimate:
    """Reads all files and draws, asks nobody and writes nothing.

    Answers that are there already are counted as if they were still to be asked for.

    Args:
        settings: the size and the rules of the draws.
        sources: the files and the models.
        out: the testbed's folder; pairs that it has count.
        library: the scenarios that there are; None takes the shipped ones.
        watch: told of events.

    Raises:
        ConfigError: the settings do not fit together.
        DataError: a file cannot be read.
        SpecMismatch: the folder was made with other settings or files.
    """
    settings.check()
    sources.check()
    library, testbed = library or shipped_library(), Testbed(out)
    testbed.check(record_of(settings, sources))
    drawn = draw_pairs(testbed, settings, sources, library, watch)
    lacking = shortages(drawn.pairs, settings)
    queries: list[Case] = []
    dropped = Counter(item.reason for item in drawn.dropped)
    if lacking and sources.tops_up:
        taken = [pair.case.cluster for pair in drawn.pairs]
        found = read_queries(sources, settings, library, taken)
        dropped.update(item.reason for item in found.dropped)
        waiting = waiting_queries(found.cases, lacking, settings)
        queries = [case for name, its in waiting.items() for case in list(its)[: lacking[name]]]
    asked = Counter(case.scenario for case in queries)
    labelled = Counter(pair.case.scenario for pair in drawn.pairs if not pair.waits)
    others = Counter(pair.case.scenario for pair in drawn.pairs if pair.waits)
    rows = [
        ScenarioEstimate(
            scenario=name,
            n_labelled=labelled[name],
            n_unlabelled=others[name],
            n_queries=asked[name],
            n_short=lacking.get(name, 0) - asked[name],
        )
        for name in settings.scenarios
    ]
    sampled = [case for pair in drawn.pairs for case in (pair.case,)] + queries
    return BuildEstimate(
        scenarios=tuple(rows),
        models=tuple(_models(settings, sources, rows, queries, sampled)),
        dropped=dict(dropped.most_common()),
    )


def _models(
    settings: BuildSettings,
    sources: BuildSources,
    rows: Sequence[ScenarioEstimate],
    queries: Sequence[Case],
    sampled: Sequence[Case],
) -> list[ModelEstimate]:
    found: list[ModelEstimate] = []
    if queries:
        n_each = round(2 * len(queries) / len(sources.policies))
        found += [_model(card, "policy", n_each, queries, settings) for card in sources.policies]
    n_pairs = [row.n_labelled + row.n_unlabelled + row.n_queries for row in rows]
    n_sampled = settings.n_samples * sum(min(n, settings.n_rating) for n in n_pairs)
    if n_sampled:
        found += [
            _model(card, "base model", n_sampled, sampled, settings) for card in sources.base_models
        ]
    return found


def _model(
    card: JudgeCard, role: str, n_requests: int, cases: Sequence[Case], settings: BuildSettings
) -> ModelEstimate:
    mean = sum(len(case.query) for case in cases) / max(len(cases), 1) / CHARACTERS_PER_TOKEN
    written = min(WRITTEN_TOKENS, settings.max_tokens or card.decoding.max_tokens)
    read, wrote = round(n_requests * mean), n_requests * written
    return ModelEstimate(
        model=card.name,
        role=role,
        n_requests=n_requests,
        prompt_tokens=read,
        completion_tokens=wrote,
        usd=price_usd(card, read, wrote),
    )
