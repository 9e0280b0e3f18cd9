"""Flags of `autoj testbed build`, each defined once."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from autoj.cli import _completion
from autoj.cli._options import ASKING, JUDGED, OUTPUT

Pairs: TypeAlias = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Files of pairs in any format that autoj judge reads, or folders of constructions.",
        show_default=False,
    ),
]
Out: TypeAlias = Annotated[
    Path, typer.Option("--out", help="The testbed's folder.", rich_help_panel=OUTPUT)
]
Scenario: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--scenario",
        autocompletion=_completion.scenarios,
        help="A scenario or a group to build; may be repeated. Default: all of them.",
        rich_help_panel=JUDGED,
    ),
]
Scenarios: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--scenarios", help="A folder with scenarios of your own.", rich_help_panel=JUDGED
    ),
]
PerScenario: TypeAlias = Annotated[
    int,
    typer.Option("--per-scenario", min=1, help="Pairs of a scenario.", rich_help_panel=JUDGED),
]
CritiqueCases: TypeAlias = Annotated[
    int,
    typer.Option(
        "--critique-cases",
        min=0,
        help="Those of them that go to Eval-C.",
        rich_help_panel=JUDGED,
    ),
]
RatingCases: TypeAlias = Annotated[
    int,
    typer.Option(
        "--rating-cases", min=0, help="Those of Eval-C that go to Eval-R.", rich_help_panel=JUDGED
    ),
]
Exclude: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--exclude",
        help="A file that was trained on: its queries are left out. May be repeated; of a "
        "construction its own training files are excluded anyway.",
        rich_help_panel=JUDGED,
    ),
]
Queries: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--queries",
        help="A file of queries for scenarios that are short of pairs; may be repeated.",
        rich_help_panel=JUDGED,
    ),
]
Seeds: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--seeds", help="Take the shipped seed queries, too, after --queries.",
        rich_help_panel=JUDGED,
    ),
]  # fmt: skip
Language: TypeAlias = Annotated[
    Literal["en", "zh"],
    typer.Option("--language", help="Rows in the other one are left out.", rich_help_panel=JUDGED),
]
Classifier: TypeAlias = Annotated[
    str,
    typer.Option(
        "--classifier",
        help="Names the scenarios of rows without one: fast, best, or a folder of your own.",
        rich_help_panel=JUDGED,
    ),
]
LeastProbability: TypeAlias = Annotated[
    float,
    typer.Option(
        "--least-probability",
        min=0.0,
        max=1.0,
        help="Leave out rows whose scenario is guessed with less.",
        rich_help_panel=JUDGED,
    ),
]
Policies: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        autocompletion=_completion.judges,
        help="A model that answers queries: a judge's name, a card, or backend:model. Repeat it: "
        "two of them, drawn at random, answer each.",
        rich_help_panel=ASKING,
    ),
]
BaseModels: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--base-model",
        autocompletion=_completion.judges,
        help="A model to sample Eval-R from; may be repeated. Without one there is no Eval-R.",
        rich_help_panel=ASKING,
    ),
]
Samples: TypeAlias = Annotated[
    int,
    typer.Option(
        "--samples",
        min=1,
        help="Responses to a query of Eval-R, at temperature 1.",
        rich_help_panel=ASKING,
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", help="The seed of all draws.", rich_help_panel=ASKING)
]
