"""The judges that texts name: one, a jury, or a cheap one with a stronger one behind it."""

import os
from typing import Any

from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.records import JudgeCard
from autoj.runs.spec import RunSpec, Task, make_spec
from autoj.tasks.escalation import make_escalation
from autoj.tasks.jurors import Jury, make_jury
from autoj.verdicts.jury import Method


def named_judges(
    task: Task,
    judge: str,
    method: Method | None = None,
    *,
    escalate: str | None = None,
    critic: str | None = None,
    classify: bool = False,
    classifier: str | None = None,
    **settings: Any,
) -> RunSpec | Jury:
    """The run of the judge that a text names, or the jury of several or of two that share.

    Args:
        task: "judge" or "rate".
        judge: NAME, or NAME,NAME for a jury; a name is a card's, the path of one, or backend:model.
        method: the rule of a jury for pairs; None as in `make_jury`.
        escalate: the judge that is asked where the other is unsure, as in `make_escalation`.
        critic: the judge that writes the critiques, by its name.
        classify: whether scenarios are named by a classifier.
        classifier: the classifier; None is "fast".
        settings: further ones of `make_spec`.

    Raises:
        UnknownComponent: there is no such judge.
        ConfigError: a rule is given for one judge, or the settings cannot be used together.
    """
    settings["critic"] = None if critic is None else load_card(critic)
    settings["classifier"] = classifier or ("fast" if classify else None)
    cards = _named_cards(judge)
    if escalate is not None:
        return make_escalation(cards, escalate, method, **settings)
    if len(cards) > 1:
        return make_jury(task, cards, method, **settings)
    if method is not None:
        raise ConfigError("--jury needs several judges, but --judge names one")
    return make_spec(task, cards[0][1], **settings)


def _named_cards(judge: str) -> list[tuple[str, JudgeCard]]:
    """The names and cards of the judges that a text names; a path with a comma is one judge."""
    names = [name.strip() for name in judge.split(",") if name.strip()]
    # Many names are too long for one path, which is an error to pathlib.
    if os.path.exists(judge) or len(names) < 2:
        names = [judge.strip().strip(",") or judge]
    return [(name, load_card(name)) for name in names]
