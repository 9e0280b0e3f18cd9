"""Stanford Human Preferences: `history`, `human_ref_A`, `human_ref_B` and `labels`, 1 or 0.

Two people's answers to a post on Reddit; 1 says that A got more votes although it is the later one.
Version 2 has the same layout, with answers of Stack Exchange beside.

**Source**: stanfordnlp/SHP on the Hugging Face Hub (348,718 rows to train on, 385,563 in all;
arXiv 2110.08420), a folder of JSON lines for each of 18 forums.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    ReadRow,
    make_case,
    number_of,
    optional_text,
    read_file,
    require_text,
)
from autoj.records import Case, Response

FIELDS = '"history" with "human_ref_A", "human_ref_B" and "labels"'

_OWN = frozenset({"history", "human_ref_A", "human_ref_B", "labels"})
_KEPT = ("score_ratio", "upvote_ratio")


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return len(_OWN & row.keys()) >= len(_OWN) - 1


def read(path: Path) -> Iterator[ReadRow]:
    """The pairs of a file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one pair of answers; a post has as many rows as pairs."""
    names = [optional_text(row, name) for name in ("post_id", "c_root_id_A", "c_root_id_B")]
    domain = optional_text(row, "domain")
    numbers = {name: row[name] for name in _KEPT if isinstance(row.get(name), int | float)}
    return make_case(
        query=require_text(row, "history"),
        responses=tuple(
            Response(text=require_text(row, field)) for field in ("human_ref_A", "human_ref_B")
        ),
        line=line,
        label=number_of(row, "labels", {1: "a", 0: "b"}),
        source="shp",
        meta={**({"domain": domain} if domain else {}), **numbers},
        **({"id": "-".join(map(str, names))} if all(names) else {}),
    )
