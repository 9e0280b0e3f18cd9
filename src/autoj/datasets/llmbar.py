"""LLMBar: `input`, `output_1`, `output_2` and `label`, 1 or 2; one list of pairs a file.

The release names its subsets by folder (`Natural`, `Adversarial/Neighbor`, …); in files in such
folders cases have their subset in `meta`.

**Source**: princeton-nlp/LLMBar, Dataset/LLMBar/*/dataset.json (arXiv 2310.07641).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import ReadRow, make_case, number_of, read_file, require_text
from autoj.records import Case, Response

FIELDS = '"input" with "output_1", "output_2"'

_SUBSETS = (
    "Natural",
    "Adversarial/Neighbor",
    "Adversarial/GPTInst",
    "Adversarial/GPTOut",
    "Adversarial/Manual",
)


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return {"input", "output_1", "output_2"} <= row.keys() and "instruction" not in row


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of a file of one subset."""
    folder = path.absolute().parent.as_posix()
    subset = next((name for name in _SUBSETS if folder.endswith(f"/{name}")), None)
    return read_file(path, lambda row, line: to_case(row, line, subset))


def to_case(row: dict[str, Any], line: int, subset: str | None = None) -> Case:
    """The case of one row."""
    return make_case(
        query=require_text(row, "input"),
        responses=tuple(Response(text=require_text(row, f"output_{n}")) for n in (1, 2)),
        line=line,
        label=number_of(row, "label", {1: "a", 2: "b"}),
        source="llmbar",
        meta={"subset": subset} if subset else {},
        **({"id": f"llmbar-{subset}-{line}"} if subset else {}),
    )
