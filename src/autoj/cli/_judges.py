"""The judge or the jury that `--judge NAME` or `--judge NAME,NAME` names."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal, TypeAlias

from autoj.cli import _completion, _options
from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.records import JudgeCard
from autoj.runs import RunSpec, make_spec
from autoj.tasks.escalation import make_escalation
from autoj.tasks.jurors import Jury, make_jury
from autoj.verdicts.jury import Method

JudgeNames: TypeAlias = Annotated[
    str,
    _options.asking(
        "--judge",
        autocompletion=_completion.judges,
        help="A judge's name (autoj judges), the path of a card, or backend:model. NAME,NAME is "
        "a jury.",
    ),
]
JuryRule: TypeAlias = Annotated[
    Literal["majority", "mean"] | None,
    _options.asking(
        "--jury",
        help="How several judges decide: by the majority of their votes, or the mean of their "
        "probabilities. Default: mean if each judge gives probabilities, else majority.",
    ),
]


def asked_judges(
    task: Literal["judge", "rate"],
    judge: str,
    rule: Method | None,
    escalate: str | None = None,
    **settings: Any,
) -> RunSpec | Jury:
    """The run of the judge that the flag names, or the jury of several.

    Args:
        task: the command.
        judge: the value of `--judge`.
        rule: the value of `--jury`.
        escalate: the value of `--escalate`.
        settings: of `make_spec`.

    Raises:
        UnknownComponent: there is no such judge.
        ConfigError: a rule is given for one judge, or the settings cannot be used together.
    """
    cards = _named_cards(judge)
    if escalate is not None:
        return make_escalation(cards, escalate, rule, **settings)
    if len(cards) > 1:
        return make_jury(task, cards, rule, **settings)
    if rule is not None:
        raise ConfigError("--jury needs several judges, but --judge names one")
    return make_spec(task, cards[0][1], **settings)


def _named_cards(judge: str) -> list[tuple[str, JudgeCard]]:
    """The names and cards of the judges that the flag names; a path with a comma is one judge."""
    names = [name.strip() for name in judge.split(",") if name.strip()]
    # Many names are too long for one path, which is an error to pathlib.
    if os.path.exists(judge) or len(names) < 2:
        names = [judge.strip().strip(",") or judge]
    return [(name, load_card(name)) for name in names]
