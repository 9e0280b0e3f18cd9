"""Tables of models, one a row, and the ranks of models by a judge and by a reference.

A row has a mean rating, a reference such as a win rate, or both:

```
{"key": "xwinlm-70b-v0.1", "paper": "XwinLM 70b V0.1", "autoj_rating": 5.694, "gpt4_winrate": 95.57}
```
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import scipy

from autoj.errors import DataError
from autoj.inputs import read_rows

_KEYS = ("key", "model", "generator", "name")
_RATINGS = ("rating", "autoj_rating")
_REFERENCES = ("reference", "gpt4_winrate", "win_rate")
_LENGTHS = ("mean_len", "avg_length")
_LARGEST = 1e100
"""Sums of squares of larger numbers are infinite."""
TABLE_23 = "53 models, digest 23a78867db7486a5"
"""The `reference_digest` of Table 23's models and GPT-4's win rates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """A table's row on one model."""

    key: str
    """The model's name in the files of its outputs."""
    title: str
    """Its name for readers."""
    rating: float | None
    """A judge's mean rating of its responses."""
    reference: float | None
    """A trusted score, higher is better: GPT-4's win rate in percent in Table 23."""
    mean_length: float | None
    """Mean number of characters of its responses."""
    rated_by: str | None
    """The field of the rating."""


def read_models(path: Path) -> list[ModelRow]:
    """The models of a table (JSONL, or a JSON list), in its order.

    Args:
        path: a row holds the model under `key` (or `model`, `generator`, `name`), its mean rating
            under `rating` or `autoj_rating`, its reference under `reference`, `gpt4_winrate` or
            `win_rate`; a null or missing figure is not known.

    Raises:
        DataError: a row names no model or one that is there already, a figure is no number within
            ±1e100, or ratings or references stand in another field than in rows above; or there are
            no rows.
    """
    rows: dict[str, ModelRow] = {}
    used: dict[tuple[str, ...], str] = {}
    for line, row in read_rows(path):
        if isinstance(row, DataError):
            raise row
        found = _model(path, line, row)
        if found.key in rows:
            raise DataError(
                f"the model {found.key!r} is already in an earlier row", path=path, line=line
            )
        for fields in (_RATINGS, _REFERENCES):
            field = _present(row, fields)
            if field is not None and (first := used.setdefault(fields, field)) != field:
                raise DataError(
                    f"earlier rows have {first!r}; two fields may have different scales",
                    path=path,
                    line=line,
                    field=field,
                    hint="Use the same field in all rows.",
                )
        rows[found.key] = found
    if not rows:
        raise DataError("is empty: it has no models", path=path)
    return list(rows.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A model's place by a judge and by the reference."""

    model: str
    title: str
    rating: float
    reference: float
    rank: int
    """By the judge; 1 is the highest rating, equal ratings share the better place."""
    reference_rank: int
    delta: int
    """Rank by the judge less rank by the reference: negative is placed too high."""


def ranked(ratings: Mapping[str, float], table: Sequence[ModelRow]) -> list[Ranked]:
    """The models that have both a rating and a reference, by reference, the best first.

    Args:
        ratings: a mean rating per model.
        table: the references.
    """
    rows = [row for row in table if row.reference is not None and row.key in ratings]
    places = _places([ratings[row.key] for row in rows])
    expected = _places([row.reference for row in rows if row.reference is not None])
    found = [
        Ranked(
            model=row.key,
            title=row.title,
            rating=ratings[row.key],
            reference=row.reference,
            rank=place,
            reference_rank=right,
            delta=place - right,
        )
        for row, place, right in zip(rows, places, expected, strict=True)
        if row.reference is not None
    ]
    return sorted(found, key=lambda one: (one.reference_rank, one.rank))


def _places(scores: Sequence[float]) -> list[int]:
    """Each score's place from the highest, counted from 1."""
    if not scores:
        return []
    return [int(place) for place in scipy.stats.rankdata(-np.array(scores), method="min")]


def reference_digest(models: Sequence[Ranked]) -> str:
    """A fingerprint of a reference: the number of models, and a hash of their scores.

    Args:
        models: those that have both a rating and a reference.
    """
    scores = sorted((one.model, one.reference) for one in models)
    return f"{len(models):,} models, digest {hashlib.sha256(orjson.dumps(scores)).hexdigest()[:16]}"


def _model(path: Path, line: int, row: dict[str, Any]) -> ModelRow:
    field = _present(row, _KEYS)
    if field is None:
        raise DataError(
            f"names no model; expected one of {', '.join(_KEYS)}; the row has "
            f"{', '.join(map(repr, row)) or 'no fields'}",
            path=path,
            line=line,
        )
    key, title = row[field], row.get("paper")
    if not isinstance(key, str) or not key:
        raise DataError(
            f"expected a model's name, found {key!r}", path=path, line=line, field=field
        )
    rated_by = _present(row, _RATINGS)
    return ModelRow(
        key=key,
        title=title if isinstance(title, str) else key,
        rating=_number(path, line, row, _RATINGS),
        reference=_number(path, line, row, _REFERENCES),
        mean_length=_number(path, line, row, _LENGTHS),
        rated_by=rated_by,
    )


def _present(row: dict[str, Any], fields: Sequence[str]) -> str | None:
    return next((field for field in fields if row.get(field) is not None), None)


def _number(path: Path, line: int, row: dict[str, Any], fields: Sequence[str]) -> float | None:
    field = _present(row, fields)
    if field is None:
        return None
    value = row[field]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"expected a number, found {value!r}", path=path, line=line, field=field)
    if not -_LARGEST <= value <= _LARGEST:
        raise DataError(
            f"expected a number of at most {_LARGEST:.0e}, found {value!r:.40}",
            path=path,
            line=line,
            field=field,
        )
    return float(value)
