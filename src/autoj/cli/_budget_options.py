"""Flags of `autoj judge` that ask fewer questions: second orders, and a stronger judge."""

from typing import Annotated, TypeAlias

from autoj.cli import _completion
from autoj.cli._options import spending

SecondOrder: TypeAlias = Annotated[
    str | None,
    spending(
        "--second-order",
        metavar="unsure[:BELOW]",
        help="Ask the second order only where the first one's largest probability is lower: "
        "unsure:0.8; unsure alone takes the threshold of the judge's card. autoj plan RUN fits "
        "one. A later run without it asks the rest.",
    ),
]
Escalate: TypeAlias = Annotated[
    str | None,
    spending(
        "--escalate",
        metavar="JUDGE[:BELOW]",
        autocompletion=_completion.judges,
        help="Ask this stronger judge where the other's orders differ, or its confidence is lower "
        "(gpt-4:0.7; without a number, than its card says). Both judges' judgments are kept.",
    ),
]
AlwaysFull: TypeAlias = Annotated[
    float | None,
    spending(
        "--always-full",
        min=0.0,
        max=1.0,
        help="The share of the pairs, drawn at random, that is asked in full all the same, for "
        "intervals around what asking everything would give. Default: 0.1.",
    ),
]
