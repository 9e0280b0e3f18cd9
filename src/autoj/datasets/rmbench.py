"""RM-Bench: `prompt` with three `chosen` and three `rejected` responses, one in each style.

A row is nine pairs, each chosen response against each rejected one. Styles are 0 (concise), 1
(detailed, plain text) and 2 (detailed, Markdown); `meta` has both, and the domain. Files of a
single domain leave it out of their rows and have it in their name (`chat_filtered.json`).

**Source**: THU-KEG/RM-Bench, README.md and data/*.json (arXiv 2410.16184). Hard pairs have a
better dressed rejected response (style_chosen < style_rejected), easy ones the reverse.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    FieldError,
    ReadRow,
    as_pair,
    make_case,
    optional_text,
    read_file_of_several,
    require,
    require_text,
)
from autoj.records import Case, Response

FIELDS = '"prompt" with "chosen" and "rejected", lists of three strings'

_N_STYLES = 3
_SUFFIX = "_filtered"


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    chosen = row.get("chosen")
    return (
        {"prompt", "rejected"} <= row.keys()
        # RewardBench 2 has lists, too, of any length.
        and "num_correct" not in row
        and isinstance(chosen, list)
        and all(isinstance(text, str) for text in chosen)
    )


def read(path: Path) -> Iterator[ReadRow]:
    """Nine cases for each row of the file."""
    stem = path.name.split(".")[0]
    domain = stem.removesuffix(_SUFFIX) if stem.endswith(_SUFFIX) else None
    return read_file_of_several(path, lambda row, line: to_cases(row, line, domain))


def to_cases(row: dict[str, Any], line: int, domain: str | None = None) -> tuple[Case, ...]:
    """The nine cases of one row.

    Args:
        row: a row of the release.
        line: its number, the id of a row that has none.
        domain: the domain of a row that does not name it.
    """
    query = require_text(row, "prompt")
    domain = optional_text(row, "domain") or domain
    subset = optional_text(row, "subset")
    number = require(row, "id", (str, int), "a string") if row.get("id") is not None else line
    chosen, rejected = _styles(row, "chosen"), _styles(row, "rejected")
    cases = []
    for style, better in enumerate(chosen):
        for other, worse in enumerate(rejected):
            responses, label = as_pair(query, Response(text=better), Response(text=worse))
            meta = {"domain": domain, "style_chosen": style, "style_rejected": other}
            cases.append(
                make_case(
                    id="-".join(map(str, filter(None, ("rmbench", str(number), domain))))
                    + f"-{style}{other}",
                    query=query,
                    responses=responses,
                    line=line,
                    label=label,
                    source="rmbench",
                    meta={**meta, "subset": subset} if subset else meta,
                )
            )
    return tuple(cases)


def _styles(row: dict[str, Any], field: str) -> list[str]:
    texts: list[Any] = require(row, field, list, "a list of three strings")
    if len(texts) != _N_STYLES or not all(isinstance(text, str) for text in texts):
        raise FieldError(field, f"expected three strings, one in each style, found {len(texts)}")
    return texts
