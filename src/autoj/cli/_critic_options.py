"""Flags of `autoj bench eval-c`."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from autoj.cli._options import asking, judged, measured, output

Critic: TypeAlias = Annotated[
    str | None,
    measured(help="The critic: a judge that writes the critiques (autoj judges)."),
]
Critiques: TypeAlias = Annotated[
    Path | None,
    measured(
        help='The critic\'s critiques: {"output": "…"} on each line in the set\'s order, or the '
        'set with "critiques".'
    ),
]
CriticName: TypeAlias = Annotated[
    str | None,
    measured(help="The critic to take from the file, or a name for the critic."),
]
Against: TypeAlias = Annotated[
    str | None,
    measured(help="The other critic: a judge that writes the critiques."),
]
AgainstCritiques: TypeAlias = Annotated[
    Path | None,
    measured(
        help="The other critic's critiques. Default: ChatGPT's, the release's reference (autoj "
        "data get eval-c-reference)."
    ),
]
AgainstName: TypeAlias = Annotated[
    str | None,
    measured(help="As --critic-name, for the other critic."),
]
Judge: TypeAlias = Annotated[
    str | None,
    asking(help="The judge that compares the critiques; required (autoj judges)."),
]
Run: TypeAlias = Annotated[
    Path | None,
    measured("--run", help="The folder of a finished comparison."),
]
Votes: TypeAlias = Annotated[
    Path | None,
    measured(
        help='Votes in the release\'s format: {"output": "A: …", "meta": {"exchange": true}} on '
        "each line, in the set's order."
    ),
]
WriteVotes: TypeAlias = Annotated[
    Path | None,
    output(help="Write the votes of the comparison to this file, in the release's format."),
]
Data: TypeAlias = Annotated[
    Path | None,
    judged(help="The set of responses. Default: Eval-C (autoj data get eval-c)."),
]
Language: TypeAlias = Annotated[
    Literal["en", "zh"],
    judged(help="The English set, or its Chinese translation."),
]
KeepRatings: TypeAlias = Annotated[
    bool,
    asking(
        "--keep-ratings",
        help="Keep the ratings in the critiques, as the released leaderboard does; the paper "
        "removes them.",
    ),
]
Orders: TypeAlias = Annotated[
    Literal["shuffled", "both"],
    asking(help="Ask in one order drawn by --seed, as the paper did, or in both."),
]
Seed: TypeAlias = Annotated[int, asking(help="The seed of the shuffled orders.")]
OnConflict: TypeAlias = Annotated[
    Literal["tie", "unresolved"],
    asking(
        help="With --orders both, if the orders disagree: neither critique is better, or the "
        "case is unscored."
    ),
]
Protocol: TypeAlias = Annotated[
    str | None,
    asking(help="The protocol of the comparison. Default: critique-comparison (Table 15)."),
]
CriticProtocol: TypeAlias = Annotated[
    str | None,
    asking(
        help="The protocol of the critiques. Default: single (Table 17), or the one a judge was "
        "trained on."
    ),
]
By: TypeAlias = Annotated[
    Literal["group", "scenario"],
    output(help="The breakdown to show; --json has both."),
]
Out: TypeAlias = Annotated[
    Path | None,
    output(
        "--out",
        help="The comparison's folder. Default: one under runs/. Judges' critiques are always kept "
        "under runs/, for other comparisons.",
    ),
]
Save: TypeAlias = Annotated[
    Path | None,
    output(help="The file of the result, as JSON. Default: in the comparison's folder."),
]
