"""AlpacaEval's annotated pairs: `instruction`, `output_1`, `output_2` and `preference`.

Human preferences (AlpacaFarm's cross-annotations, which number their annotators) are labels. Where
`annotator` names a judge, its preference is another judge's verdict and not a label: it is kept in
`meta`, and `published_verdicts` reads such files as verdicts.

**Source**: tatsu-lab/alpaca_eval, results/*/*/annotations.json; tatsu-lab/alpaca_eval on the
Hugging Face Hub, alpaca_farm_human_crossannotations.json (arXiv 2305.14387).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets._preferences import decode
from autoj.datasets.base import (
    FieldError,
    ReadRow,
    make_case,
    optional_text,
    query_of,
    read_file,
    require_text,
)
from autoj.records import Case, Response

FIELDS = '"instruction" with "output_1", "output_2" and "preference"'

_KEPT = ("annotator", "annotator_index", "dataset", "datasplit")


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return {"instruction", "output_1", "output_2"} <= row.keys()


def read(path: Path) -> Iterator[ReadRow]:
    """The pairs of a file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row."""
    if "preference" not in row:
        raise FieldError("preference", "is missing; expected a number from 1 to 2, or null")
    preferred = decode("alpaca-eval", row["preference"])
    judge = optional_text(row, "annotator")
    kept = {name: row[name] for name in _KEPT if isinstance(row.get(name), str | int)}
    return make_case(
        query=query_of(row, "\n\n"),
        responses=tuple(
            Response(
                text=require_text(row, f"output_{n}"), model=optional_text(row, f"generator_{n}")
            )
            for n in (1, 2)
        ),
        line=line,
        label=preferred if judge is None else None,
        source="alpaca-eval",
        meta=kept if judge is None else {**kept, "preference": row["preference"]},
    )
