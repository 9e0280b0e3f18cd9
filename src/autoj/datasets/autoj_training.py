"""The release's training rows: `usrmsg`, the rendered prompt, `target_output` and a label.

The query and the responses are extracted from the prompt, English or Chinese, whatever its words:
a judge is trained on the prompt of its protocol.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    FieldError,
    ReadRow,
    make_case,
    optional_text,
    read_file,
    require_text,
    scenario_of,
)
from autoj.records import WINNERS, Case, Response, Winner

FIELDS = '"usrmsg" or "usermsg"'

_DATA = re.compile(r"\[BEGIN DATA\]\n\*\*\*\n(?P<data>.*)\n\*\*\*\n\[END DATA\]", re.DOTALL)
_QUERY = r"\[(?:Query|(?P<zh>用户问询))\]: (?P<query>.*?)\n\*\*\*\n"
_PAIR = re.compile(
    _QUERY + r"\[(?:Response 1|回应1)\]: (?P<first>.*?)"
    r"\n\*\*\*\n\[(?:Response 2|回应2)\]: (?P<second>.*)\Z",
    re.DOTALL,
)
_SINGLE = re.compile(_QUERY + r"\[(?:Response|回应)\]: (?P<first>.*)\Z", re.DOTALL)


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return "usrmsg" in row or "usermsg" in row


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of a training file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row; the teacher's judgment is its critique."""
    field = "usrmsg" if "usrmsg" in row else "usermsg"
    data = _DATA.search(require_text(row, field))
    parts = data and (_PAIR.match(data["data"]) or _SINGLE.match(data["data"]))
    if not parts:
        raise FieldError(field, "has no [Query] and [Response] between [BEGIN DATA] and [END DATA]")
    target = row.get("target_output")
    return make_case(
        query=parts["query"],
        responses=tuple(
            Response(text=parts[name]) for name in ("first", "second") if name in parts.groupdict()
        ),
        language="en" if parts["zh"] is None else "zh",
        line=line,
        label=_label(row),
        scenario=scenario_of(row),
        source=optional_text(row, "source_dataset"),
        critiques=(target,) if isinstance(target, str) else (),
    )


def _label(row: dict[str, Any]) -> Winner | float | None:
    if "gt_label" in row:
        number = row["gt_label"]
        if number not in (0, 1, 2) or isinstance(number, bool | float):
            raise FieldError("gt_label", f"expected 0, 1 or 2, found {number!r}")
        winner: Winner = WINNERS[number]
        return winner
    return None if row.get("pred_score") is None else _rating(row["pred_score"])


def _rating(value: object) -> float:
    """A rating, which the release's description has in quotes and its files as a number."""
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            rating = float(value)
            if isfinite(rating):
                return rating
    raise FieldError("pred_score", f"expected a rating, found {value!r}")
