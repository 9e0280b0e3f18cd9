"""Flags that name a judge, or a jury and its rule."""

from typing import Annotated, Literal, TypeAlias

from autoj.cli import _completion, _options

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
