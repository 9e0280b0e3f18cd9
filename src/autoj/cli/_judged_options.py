"""Flags that name the judge, or a jury and its rule, and the files and columns that it judges."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from autoj.cli import _completion, _options
from autoj.datasets import Join

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
Map: TypeAlias = Annotated[
    list[str] | None,
    _options.judged(
        "--map",
        help="The columns, for files of no known format: query=question,a=one,b=two,"
        "label=winner for pairs, query=question,response=text for one response. Paths reach into "
        "nested fields (messages.0.content); a label's codes follow it in the order a, b, tie "
        "(label=winner:1/2/0).",
    ),
]
JoinRule: TypeAlias = Annotated[
    Join | None,
    _options.judged(
        "--join",
        help="If the queries of two files do not match: strict is an error, inner uses those "
        "that both have. Default: strict.",
    ),
]
Questions: TypeAlias = Annotated[
    Path | None,
    _options.judged(
        "--questions",
        help="The question.jsonl of MT-Bench or Arena-Hard, if the files have answers only.",
    ),
]
Turn: TypeAlias = Annotated[
    int | None,
    _options.judged(
        "--turn",
        min=1,
        help="With --questions: the turn to judge, after those before it. Default: 1.",
    ),
]
