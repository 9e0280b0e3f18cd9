"""The release's files about Eval-C: critiques, and votes on two critics' critiques.

Both have a row per case, in the set's order. Missing texts are "Failed!" there and None here.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from autoj.bench.case_rows import check_length, field_of, rows_of
from autoj.errors import DataError
from autoj.jsonl import write_records
from autoj.records import Case

_FAILED = "Failed!"
"""The release's mark for a model that gave no answer."""
_IN_THE_SET = "critiques"
_OUTPUT = "output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Critiques:
    """A critic's critiques of a set's responses."""

    critic: str
    texts: tuple[str | None, ...]
    """One per case, in the set's order; None where the critic has none."""
    source: str
    """The file or the run that they are from."""
    n_failed: int = 0
    """Failed requests for a critique."""

    @property
    def sha256(self) -> str:
        """A digest (hex) of the texts: the same however their file is laid out."""
        return hashlib.sha256(orjson.dumps(self.texts)).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One judge's comparison of two critiques, as it was written."""

    text: str | None
    """The judge's text; None without an answer."""
    exchanged: bool
    """True where the page showed the second critic's critique first."""


def read_critiques(path: Path, cases: Sequence[Case], critic: str | None = None) -> Critiques:
    """A critic's critiques from a file of the release.

    Args:
        path: `{"output": "…"}` a line, or the set itself with `{"critiques": {"NAME": "…"}}`.
        cases: the whole set.
        critic: the critic's name. In a set with several critics it selects one; for other
            files it is a name for the critic, and None takes the file's name.

    Raises:
        DataError: the file has another number of rows than there are cases, rows of another set,
            other fields, or no such critic.
    """
    rows = list(rows_of(path))
    check_length(path, len(rows), len(cases))
    line, first = rows[0]
    if _IN_THE_SET in first:
        name = _critic(path, line, first, critic)
        texts = [
            _in_the_set(path, line, row, case, name)
            for (line, row), case in zip(rows, cases, strict=True)
        ]
    elif _OUTPUT in first:
        name = critic or path.name.partition(".")[0]
        texts = [
            _text(path, line, field_of(path, line, row, _OUTPUT), _OUTPUT) for line, row in rows
        ]
    else:
        raise DataError(
            f"has no critiques: its fields are {', '.join(map(repr, first)) or '(none)'}",
            path=path,
            line=line,
            hint='Expected {"output": "…"} on each line, or rows of the set with "critiques".',
        )
    # A blank critique says nothing that could be compared.
    kept = tuple(text if text and text.strip() else None for text in texts)
    return Critiques(critic=name, texts=kept, source=str(path))


def _critic(path: Path, line: int, row: dict[str, Any], wanted: str | None) -> str:
    """The index of a critic among those of a row."""
    critics = list(_by_critic(path, line, row))
    if wanted in critics:
        return wanted
    if wanted is None and len(critics) == 1:
        return critics[0]
    named = ", ".join(map(repr, critics)) or "none"
    raise DataError(
        f"has several critics: {named}"
        if wanted is None
        else f"has no critic {wanted!r}; there are: {named}",
        path=path,
        line=line,
        field=_IN_THE_SET,
        hint="Name one of them with --critic-name (or --against-name).",
    )


def _in_the_set(path: Path, line: int, row: dict[str, Any], case: Case, critic: str) -> str | None:
    if row.get("prompt") != case.query or row.get("response") != case.responses[0].text:
        raise DataError(
            f"is about another query or response than case {case.id!r} of the set",
            path=path,
            line=line,
            hint="Give the set that the critiques are of with --data.",
        )
    found = _by_critic(path, line, row)
    return _text(path, line, found.get(critic), f"{_IN_THE_SET}.{critic}")


def _by_critic(path: Path, line: int, row: dict[str, Any]) -> dict[str, Any]:
    found = field_of(path, line, row, _IN_THE_SET)
    if not isinstance(found, dict):
        raise DataError(
            f"expected an object of critiques by critic, found {type(found).__name__}",
            path=path,
            line=line,
            field=_IN_THE_SET,
        )
    return found


def read_votes(path: Path, cases: Sequence[Case]) -> list[Vote]:
    """Votes in the release's format: `{"output": "A: …", "meta": {"exchange": true}}` a line.

    Args:
        path: the file.
        cases: the set.

    Raises:
        DataError: the file has another number of rows than there are cases, or a row does not say
            what was written or in which order the critiques were shown.
    """
    rows = list(rows_of(path))
    check_length(path, len(rows), len(cases))
    return [_vote(path, line, row) for line, row in rows]


def _vote(path: Path, line: int, row: dict[str, Any]) -> Vote:
    text = _text(path, line, field_of(path, line, row, _OUTPUT), _OUTPUT)
    meta = row.get("meta")
    exchanged = meta.get("exchange") if isinstance(meta, dict) else None
    if not isinstance(exchanged, bool):
        said = "is missing" if exchanged is None else f"is {exchanged!r}"
        raise DataError(
            f"{said}; expected true (the second critic was shown first) or false",
            path=path,
            line=line,
            field="meta.exchange",
            hint="It tells which critic's critique was shown as Feedback 1.",
        )
    return Vote(text=text, exchanged=exchanged)


def write_votes(path: Path, votes: Iterable[Vote]) -> None:
    """Write votes in the release's format, which its own script reads.

    Raises:
        StorageFull: the disk took no more.
    """
    write_records(
        path,
        (
            {
                "output": _FAILED if vote.text is None else vote.text,
                "meta": {"exchange": vote.exchanged},
            }
            for vote in votes
        ),
    )


def _text(path: Path, line: int, value: object, field: str) -> str | None:
    """A model's text; None where it gave none."""
    if value is not None and not isinstance(value, str):
        raise DataError(
            f"expected a string, found {type(value).__name__}", path=path, line=line, field=field
        )
    return None if value == _FAILED else value
