"""The judge or the jury that `--judge NAME` or `--judge NAME,NAME` names."""

from __future__ import annotations

import os
from typing import Annotated, Literal, TypeAlias

import typer

from autoj.cli import _completion, _options
from autoj.judges import load_card
from autoj.records import JudgeCard

JudgeNames: TypeAlias = Annotated[
    str,
    typer.Option(
        "--judge",
        autocompletion=_completion.judges,
        help="A judge's name (autoj judges), the path of a card, or backend:model. NAME,NAME is "
        "a jury.",
        rich_help_panel=_options.ASKING,
    ),
]
JuryRule: TypeAlias = Annotated[
    Literal["majority", "mean"] | None,
    typer.Option(
        "--jury",
        help="How several judges decide: by the majority of their votes, or the mean of their "
        "probabilities. Default: mean if each judge gives probabilities, else majority.",
        rich_help_panel=_options.ASKING,
    ),
]


def named_cards(judge: str) -> list[tuple[str, JudgeCard]]:
    """The names and cards of the judges that the flag names; a path with a comma is one judge.

    Raises:
        UnknownComponent: there is no such judge.
    """
    names = [name.strip() for name in judge.split(",") if name.strip()]
    # Many names are too long for one path, which is an error to pathlib.
    if os.path.exists(judge) or len(names) < 2:
        names = [judge.strip().strip(",") or judge]
    return [(name, load_card(name)) for name in names]
