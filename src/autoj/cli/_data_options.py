"""Flags that say what is judged, each defined once."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from autoj.cli._options import JUDGED, judged

Data: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        help="A file of cases (JSONL, JSON, CSV, TSV, Parquet; .gz too), or hf-dataset:NAME. Its "
        "format is recognised.",
        rich_help_panel=JUDGED,
    ),
]
Limit: TypeAlias = Annotated[int | None, judged(min=1, help="Judge the first N cases only.")]
Shard: TypeAlias = Annotated[
    str | None,
    judged(
        help="Judge one part of the cases: 3/8 is the third of eight. autoj merge puts the parts "
        "together."
    ),
]
Cluster: TypeAlias = Annotated[
    Literal["ray"] | None,
    judged(
        help="Judge shards as tasks of a cluster, and merge them: that of RAY_ADDRESS, else one on "
        "this machine. Needs --shards.",
    ),
]
Shards: TypeAlias = Annotated[
    int | None,
    judged(min=2, help="The number of shards for --cluster; several for each worker are best."),
]
Classify: TypeAlias = Annotated[
    bool,
    judged(
        "--classify",
        help="Name the scenarios of rows without one by the embedded classifier. --by and the "
        "criteria protocols need them.",
    ),
]
Classifier: TypeAlias = Annotated[
    str | None,
    judged(
        "--classifier",
        metavar="fast|best|FOLDER",
        help="The classifier: fast, best, or a folder that autoj train classifier wrote. Implies "
        "--classify. Default: fast.",
    ),
]
UnknownScenario: TypeAlias = Annotated[
    Literal["error", "others", "keep"] | None,
    judged(
        "--unknown-scenario",
        help="If a row's scenario is unknown: stop with an error, replace it by others, or keep it "
        "for --by. Default: error (in autoj classify: keep).",
    ),
]
Scenarios: TypeAlias = Annotated[
    Path | None,
    judged(
        "--scenarios",
        help="A folder of YAML files that add scenarios or change ours, their names and criteria "
        "(check it with autoj scenarios check DIR).",
    ),
]
Format: TypeAlias = Annotated[
    str | None,
    judged(help="The file's format, if its fields fit several."),
]
SkipBadRows: TypeAlias = Annotated[
    bool,
    judged(
        "--skip-bad-rows", help="Leave out bad rows instead of stopping; bad_rows.jsonl lists them."
    ),
]
RejectEmpty: TypeAlias = Annotated[
    bool,
    judged("--reject-empty", help="Treat an empty response as a bad row."),
]
