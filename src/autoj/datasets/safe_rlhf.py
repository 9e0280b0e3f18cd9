"""PKU-SafeRLHF: `prompt`, `response_0`, `response_1`, `better_response_id`, `safer_response_id`.

People said which response helps more and, apart from that, which is safer. The label is the more
helpful one (`better_response_id`); `meta` says for each response whether it is safe and whether it
is the safer one. `--map label=safer_response_id:0/1` of `autoj judge` takes the other.

**Source**: PKU-Alignment/PKU-SafeRLHF on the Hugging Face Hub (arXiv 2406.15513), its first version
(the branch `v0`, arXiv 2310.12773), and PKU-SafeRLHF-10K and -30K, which have fewer columns.
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
from autoj.records import Case, Response, Winner

FIELDS = '"prompt" with "response_0", "response_1" and "better_response_id"'

_SIDES: dict[int, Winner] = {0: "a", 1: "b"}


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    labelled = "better_response_id" in row or "safer_response_id" in row
    return labelled and ("response_0" in row or "response_1" in row)


def read(path: Path) -> Iterator[ReadRow]:
    """The pairs of a file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one pair; a prompt may have several."""
    prompt_source = optional_text(row, "prompt_source")
    return make_case(
        query=require_text(row, "prompt"),
        responses=tuple(
            Response(
                text=require_text(row, f"response_{number}"),
                model=optional_text(row, f"response_{number}_source"),
            )
            for number in _SIDES
        ),
        line=line,
        label=number_of(row, "better_response_id", _SIDES),
        source="pku-safe-rlhf",
        meta={**({"prompt_source": prompt_source} if prompt_source else {}), **_safety(row)},
    )


def _safety(row: dict[str, Any]) -> dict[str, bool]:
    """The labels of safety, as far as a row has them."""
    flags = {side: _flag(row.get(f"is_response_{number}_safe")) for number, side in _SIDES.items()}
    told = {f"safe_{side}": flag for side, flag in flags.items() if flag is not None}
    if "safer_response_id" in row:
        safer = number_of(row, "safer_response_id", _SIDES)
        told |= {f"safer_{side}": side == safer for side in _SIDES.values()}
    return told


def _flag(value: object) -> bool | None:
    """A flag, which a table holds as text; None for anything else."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    return value if isinstance(value, bool) else None
