"""Flags that several commands share, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

__all__ = [
    "By",
    "Data",
    "Format",
    "Json",
    "JudgeName",
    "Limit",
    "MaxTokens",
    "Out",
    "Overflow",
    "ProtocolName",
    "RejectEmpty",
    "SkipBadRows",
    "WantsCritique",
]

Data: TypeAlias = Annotated[
    Path | None,
    typer.Argument(help="A JSONL file of cases (.gz too); its format is recognised."),
]
JudgeName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--judge", help="A judge's name (autoj judges), the path of a card, or backend:model."
    ),
]
ProtocolName: TypeAlias = Annotated[
    str | None, typer.Option("--protocol", help="How to ask. Default: the judge's own.")
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out", help="The run's folder. Default: one under runs/, the same for the same settings."
    ),
]
WantsCritique: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--critique/--no-critique",
        help="After a verdict-only protocol, write a critique for the verdict. Default: the "
        "judge's own with its default protocol, else no.",
    ),
]
Overflow: TypeAlias = Annotated[
    Literal["error", "truncate"],
    typer.Option(
        "--on-overflow",
        help="A case too long for the judge's context: fails, or its longest response is cut.",
    ),
]
MaxTokens: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="The most tokens the judge may write an answer in.")
]
Limit: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Judge the first N cases only.")]
By: TypeAlias = Annotated[
    Literal["scenario", "group"] | None, typer.Option(help="Break the figures down.")
]
Format: TypeAlias = Annotated[
    str | None, typer.Option(help="The file's format, where its fields fit several.")
]
SkipBadRows: TypeAlias = Annotated[
    bool,
    typer.Option("--skip-bad-rows", help="Go on without bad rows; bad_rows.jsonl lists them."),
]
RejectEmpty: TypeAlias = Annotated[
    bool, typer.Option("--reject-empty", help="An empty response is a bad row.")
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Machine output on stdout; messages go to stderr.")
]
