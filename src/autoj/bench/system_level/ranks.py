"""The ranks of models by a judge and by a reference, and fingerprints of references."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import orjson
import scipy

from autoj.bench.system_level.model_table import ModelRow

TABLE_23 = "53 models, digest 23a78867db7486a5"
"""The `reference_digest` of Table 23's models and GPT-4's win rates."""


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
