"""Two critics' critiques compared on Eval-C: `autoj bench eval-c` as one call."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, assert_never

from autoj.bench.eval_c.critics import (
    CritiqueSettings,
    CritiqueSource,
    get_critiques,
    reference_critic,
)
from autoj.bench.eval_c.evaluate import Comparison, evaluate, read_set, voted
from autoj.bench.eval_c.files import write_votes
from autoj.bench.eval_c.published import PublishedVotes, published_against
from autoj.bench.eval_c.run import compared, comparison_cases, votes_of_run
from autoj.bench.sources import StoredRun, judge_all
from autoj.datasets import catalog
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.judges import judge_names, load_card
from autoj.metrics.result import Result, keep_result
from autoj.protocols import load_protocol, protocols_of
from autoj.records import Case, JudgeCard
from autoj.runs import RunFolder, RunSpec, make_spec
from autoj.runs.budget import Budget
from autoj.runs.fit import OnOverflow
from autoj.runs.watch import SILENT, Watch

ONE_VOTE = "--write-votes writes one vote per case: it needs a new comparison in one order"
_SUFFIXES: dict[Literal["en", "zh"], str] = {"en": "", "zh": "-zh"}
"""The ends of names of sets and protocols, by language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """A comparison that was made elsewhere, in the release's format."""

    path: Path
    protocol: str = "critique-comparison"
    """Reads what the judge wrote."""
    judge: str | None = None
    """The judge that voted; None takes it from the file's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComparison:
    """Two critics whose critiques a judge compares now."""

    first: CritiqueSource
    """The critic that wins or loses."""
    second: CritiqueSource
    spec: RunSpec
    """Of the judge that compares, from `comparison_spec`."""
    writing: CritiqueSettings
    keep_ratings: bool = False
    """True keeps the ratings in the critiques, as in the released leaderboard."""


ComparisonSource: TypeAlias = StoredRun | Votes | NewComparison


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticMeasurement:
    """The shares of one critic's wins, beside what was published of others."""

    result: Result
    comparison: Comparison
    published: Sequence[PublishedVotes]
    """Of other critics against the same one."""
    folder: RunFolder | None
    """The run of the comparison, where it is one."""
    n_not_written: int
    """Critiques that are missing because their request failed."""

    def as_json(self) -> dict[str, Any]:
        """The figures as plain values, for JSON."""
        return asdict(self.result) | {"published": [asdict(row) for row in self.published]}

    @property
    def n_failed(self) -> int:
        """Requests of this measurement without an answer, of the judge and of the critics."""
        n_votes: int = 0 if self.folder is None else self.result.details["n_failed"]
        return n_votes + self.n_not_written

    def keep(self, place: Path | None = None) -> None:
        """Saves the result in a place, else in the comparison's folder, if there is one."""
        keep_result(self.result, None if self.folder is None else self.folder.path, place)

    def write_votes(self, path: Path) -> None:
        """Writes the votes in the release's format.

        Raises:
            ConfigError: the cases were asked in both orders, or elsewhere.
            DataError: the file cannot be written.
        """
        if self.comparison.both_orders or self.folder is None:
            raise ConfigError(ONE_VOTE)
        write_votes(path, votes_of_run(self.folder, self.comparison.cases))


def default_set(language: Literal["en", "zh"]) -> Path:
    """The released set of a language."""
    return catalog.find(f"eval-c{_SUFFIXES[language]}")


def new_comparison(
    first: CritiqueSource,
    second: CritiqueSource | None,
    judge: str | None,
    *,
    language: Literal["en", "zh"] = "en",
    against: str | None = None,
    critic_protocol: str | None = None,
    limit: int | None = None,
    keep_ratings: bool = False,
    **settings: Any,
) -> NewComparison:
    """A comparison of two critics by a judge, with the settings of all its runs.

    Args:
        first: the critic that wins or loses.
        second: None takes the release's reference.
        judge: the one that compares: its name, the path of its card, or backend:model.
        language: the set's.
        against: a name for the reference.
        critic_protocol: the protocol of the critiques; None takes each critic's own.
        limit: the set's first cases that are taken; None takes all.
        keep_ratings: True keeps the ratings in the critiques.
        settings: further ones of `comparison_spec`.

    Raises:
        ConfigError: the settings are impossible, before a critic is asked anything.
    """
    spec = comparison_spec(judge, language=language, **settings)
    writing = CritiqueSettings(
        protocol=critic_protocol,
        default=f"single{_SUFFIXES[language]}",
        on_overflow=spec.on_overflow,
        limit=limit,
    )
    return NewComparison(
        first=first,
        second=second or reference_critic(language, against),
        spec=spec,
        writing=writing,
        keep_ratings=keep_ratings,
    )


def comparison_spec(
    judge: str | None,
    *,
    protocol: str | None = None,
    language: Literal["en", "zh"] = "en",
    orders: Literal["shuffled", "both"] = "shuffled",
    on_conflict: Literal["tie", "unresolved"] = "tie",
    on_overflow: OnOverflow = "error",
    seed: int = 0,
) -> RunSpec:
    """The settings of a run in which a judge compares critiques.

    Args:
        judge: its name, the path of its card, or backend:model.
        protocol: None takes the one of the set's language (Table 15).
        language: the set's.
        orders: one order drawn by the seed, as in the paper, or both.
        on_conflict: with both orders, the result where they disagree.
        on_overflow: the treatment of a case that is too long for the judge's context.
        seed: of the shuffled orders.

    Raises:
        ConfigError: no judge is named, it compares no critiques, or the protocol does not.
    """
    return make_spec(
        "compare",
        _comparing_judge(judge, protocol),
        protocol=comparing_protocol(protocol, language),
        critique=False,
        orders=orders,
        on_conflict=on_conflict if orders == "both" else None,
        on_overflow=on_overflow,
        seed=seed if orders == "shuffled" else None,
    )


def comparing_protocol(protocol: str | None, language: Literal["en", "zh"]) -> str:
    """The protocol of that name, or the default one of a language.

    Raises:
        ConfigError: it compares no critiques.
    """
    name = protocol or f"critique-comparison{_SUFFIXES[language]}"
    if load_protocol(name).subject != "critiques":
        raise ConfigError(f"protocol {name!r} does not compare critiques; use critique-comparison")
    return name


def _comparing_judge(name: str | None, protocol: str | None) -> JudgeCard:
    able = [known for known in judge_names() if _compares_critiques(load_card(known))]
    if name is None:
        raise ConfigError(
            "name the judge that compares the critiques with --judge; the embedded judge has no "
            "protocol for it",
            hint=f"{' and '.join(able)} can compare critiques.",
        )
    card = load_card(name)
    if protocol is None and not _compares_critiques(card):
        raise ConfigError(
            f"the card of judge {name!r} has no protocol that compares critiques",
            hint=f"{' and '.join(able)} can. To ask {name} nevertheless, add --protocol "
            "critique-comparison.",
        )
    return card


def _compares_critiques(card: JudgeCard) -> bool:
    return any(its.subject == "critiques" for its in protocols_of(card))


def measure_critic(
    data: Cases,
    source: ComparisonSource,
    *,
    critic: str | None = None,
    against: str | None = None,
    out: Path | None = None,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> CriticMeasurement:
    """Compare two critics' critiques of a set's responses, or look a comparison up.

    Args:
        data: the set.
        source: the comparison.
        critic: the first critic's name; None takes its source's.
        against: the same of the second.
        out: the comparison's folder; None takes one under `runs/`.
        budget: what critiques and comparison may cost together; None sets no limit.
        watch: told what happens.

    Raises:
        DataError: a file cannot be read, or is not of these responses.
        Unfinished: the budget left something out.
        BackendError: an engine broke down; what was answered is kept.
    """
    cases = read_set(data)
    folder, n_not_written = None, 0
    match source:
        case Votes():
            comparison = voted(source.path, cases, load_protocol(source.protocol))
            comparison = replace(comparison, judged_by=source.judge or comparison.judged_by)
        case StoredRun(path=run):
            folder = RunFolder.existing(run)
            comparison = compared(folder, cases)
        case NewComparison():
            folder, n_not_written = _compare(source, data, cases, out, budget, watch)
            comparison = compared(folder, cases)
        case other:
            assert_never(other)
    comparison = replace(
        comparison,
        critic=critic or comparison.critic,
        against=against or comparison.against,
    )
    return CriticMeasurement(
        result=evaluate(comparison),
        comparison=comparison,
        published=published_against(comparison.against),
        folder=folder,
        n_not_written=n_not_written,
    )


def _compare(
    source: NewComparison,
    data: Cases,
    cases: Sequence[Case],
    out: Path | None,
    budget: Budget | None,
    watch: Watch,
) -> tuple[RunFolder, int]:
    """The run of a comparison, and the number of missing critiques."""
    first, second = (
        get_critiques(critic, data, cases, source.writing, budget=budget, watch=watch)
        for critic in (source.first, source.second)
    )
    pairs = comparison_cases(
        cases,
        first,
        second,
        path=data.paths[0],
        keep_ratings=source.keep_ratings,
        limit=source.writing.limit,
    )
    run = judge_all(pairs, source.spec, out, budget=budget, watch=watch)
    return run.folder, first.n_failed + second.n_failed
