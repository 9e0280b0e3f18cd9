"""Critics of a set's responses: judges that write critiques, and files that have some."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from autoj.bench.eval_c.files import Critiques, read_critiques
from autoj.bench.eval_c.run import critiques_of_run
from autoj.bench.sources import judge_all
from autoj.datasets import catalog
from autoj.datasets.base import Cases
from autoj.judges import load_card
from autoj.protocols import find_protocol, protocols_of
from autoj.records import Case, JudgeCard
from autoj.runs import RunSpec, make_spec
from autoj.runs.budget import Budget
from autoj.runs.fit import OnOverflow
from autoj.runs.watch import SILENT, Watch

_REFERENCE = "ChatGPT"


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingJudge:
    """A judge that writes critiques, or did."""

    judge: str
    """Its name, the path of its card, or backend:model."""
    name: str | None = None
    """The critic's name; None takes the judge's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CritiqueFile:
    """A file of critiques, in the release's format or ours."""

    path: Path
    name: str | None = None
    """The critic of the file to read, or a name for its only critic."""


CritiqueSource: TypeAlias = WritingJudge | CritiqueFile


@dataclass(frozen=True, slots=True, kw_only=True)
class CritiqueSettings:
    """The settings of the runs in which judges write critiques."""

    protocol: str | None = None
    """None takes the default, or of a judge that was trained on others its own first."""
    default: str = "single"
    on_overflow: OnOverflow = "error"
    limit: int | None = None
    """The set's first cases that are taken; None takes all."""


def reference_critic(language: Literal["en", "zh"], name: str | None = None) -> CritiqueFile:
    """The critic whose critiques the release gives as the reference.

    Args:
        language: the set's.
        name: the critic's name; None is ChatGPT.

    Raises:
        DataError: the file is not on this machine.
    """
    path = catalog.find("eval-c-reference" if language == "en" else "eval-c-reference-zh")
    return CritiqueFile(path=path, name=name or _REFERENCE)


def get_critiques(
    source: CritiqueSource,
    data: Cases,
    cases: Sequence[Case],
    settings: CritiqueSettings,
    *,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> Critiques:
    """A critic's critiques: read from a file, or written now if they are not there yet.

    Args:
        source: the critic.
        data: the set.
        cases: its cases.
        settings: of a judge's run.
        budget: what may be spent; None sets no limit.
        watch: told what happens.

    Raises:
        DataError: the file is not of these cases.
        Unfinished: the budget left some cases without a critique.
        BackendError: the engine broke down; what was written is kept.
    """
    if isinstance(source, CritiqueFile):
        return read_critiques(source.path, cases, source.name)
    spec = writing_spec(load_card(source.judge), settings)
    watch.message(f"{source.judge} writes critiques")
    run = judge_all(data, spec, budget=budget, watch=watch)
    written = critiques_of_run(run.folder, cases[: settings.limit])
    return replace(written, critic=source.name or written.critic)


def writing_spec(card: JudgeCard, settings: CritiqueSettings) -> RunSpec:
    """The settings of a run in which a judge rates responses and writes critiques of them.

    Raises:
        ConfigError: it cannot rate by the protocol.
    """
    protocol = settings.protocol or own_protocol(card, settings.default)
    return make_spec(
        "rate",
        card,
        protocol=protocol,
        # A protocol that only scores writes its critique afterwards.
        critique=find_protocol(card, protocol).gives_probabilities,
        on_overflow=settings.on_overflow,
        limit=settings.limit,
    )


def own_protocol(card: JudgeCard, default: str) -> str:
    """The protocol by which a judge writes a critique of one response where nobody names one.

    Args:
        card: the judge.
        default: the protocol of a judge that follows any prompt.
    """
    if card.prompts_sha256 is None or default in card.protocols:
        return default
    return next((its.name for its in protocols_of(card) if its.subject == "response"), default)
