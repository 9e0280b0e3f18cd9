"""What a comparison of critiques needs: critics with their critiques, and a judge of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.bench.eval_c.files import Critiques, read_critiques
from autoj.bench.eval_c.run import critiques_of_run
from autoj.cli import _console
from autoj.cli._judging import judge_whole
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.judges import judge_names, load_card
from autoj.protocols import load_protocol
from autoj.records import Case, JudgeCard
from autoj.runs import make_spec
from autoj.runs.budget import Budget
from autoj.runs.fit import OnOverflow

__all__ = ["CriticSource", "Writing", "comparing_judge", "get_critiques"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticSource:
    """Where a critic's critiques come from: a judge that writes them, or a file."""

    judge: str | None
    file: Path | None
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How a judge is asked for critiques."""

    protocol: str | None
    """None takes the default, or of a judge that was trained on others its own first."""
    default: str
    on_overflow: OnOverflow
    limit: int | None
    budget: Budget
    """What the critiques may cost; their comparison draws on it, too."""


def comparing_judge(name: str | None, protocol: str | None) -> JudgeCard:
    """The card of the judge that compares critiques."""
    able = [known for known in judge_names() if _compares_critiques(load_card(known))]
    if name is None:
        raise ConfigError(
            "say with --judge who compares the critiques: the card of the embedded judge lists no "
            "protocol for it",
            hint=f"{' and '.join(able)} can compare critiques.",
        )
    card = load_card(name)
    if protocol is None and not _compares_critiques(card):
        raise ConfigError(
            f"the card of judge {name!r} lists no protocol that compares critiques",
            hint=f"{' and '.join(able)} can; --protocol critique-comparison asks {name} as well.",
        )
    return card


def _compares_critiques(card: JudgeCard) -> bool:
    return any(load_protocol(name).subject == "critiques" for name in card.protocols)


def _own_protocol(card: JudgeCard, default: str) -> str:
    """How a judge is asked for a critique of one response where nobody says it."""
    if card.prompts_sha256 is None or default in card.protocols:
        return default
    return next(
        (name for name in card.protocols if load_protocol(name).subject == "response"), default
    )


def get_critiques(
    source: CriticSource, data: Cases, cases: Sequence[Case], writing: Writing
) -> Critiques:
    """A critic's critiques: read from a file, or written now if they are not there yet."""
    if source.file is not None:
        return read_critiques(source.file, cases, source.name)
    assert source.judge is not None
    card = load_card(source.judge)
    protocol = writing.protocol or _own_protocol(card, writing.default)
    spec = make_spec(
        "rate",
        card,
        protocol=protocol,
        # A protocol that only scores writes its critique afterwards.
        critique=load_protocol(protocol).gives_probabilities,
        on_overflow=writing.on_overflow,
        limit=writing.limit,
    )
    _console.print_message(f"{source.judge} writes critiques")
    run = judge_whole(spec, data, None, writing.budget)
    written = critiques_of_run(run.folder, cases[: writing.limit])
    return replace(written, critic=source.name or written.critic)
