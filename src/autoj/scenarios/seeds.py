"""What ships about the queries that the classifiers learnt from: seeds, and what others are called.

Queries of public data sets are not ours to ship. What ships is what we called them: a scenario by
the digest of the normalised query.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from autoj.jsonl import read_records
from autoj.records import normalise_query

__all__ = ["KnownScenario", "known_scenarios", "query_digest", "seed_files"]

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownScenario:
    """What a query is called whose text does not ship."""

    query_sha256: str
    """Its `query_digest`."""
    scenario: str
    """A name of the taxonomy."""
    second: str | None = None
    """Another scenario that would be nearly as good, where those who labelled it said so."""


def seed_files() -> tuple[Path, ...]:
    """The files of seed queries that ship with the package, sorted."""
    return tuple(sorted((_DATA / "seeds").glob("*.jsonl")))


def query_digest(query: str) -> str:
    """What a query is known by where its text does not stand: 16 hexadecimal digits.

    >>> query_digest("Why?") == query_digest("why")
    True
    """
    text = normalise_query(query).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]


def known_scenarios() -> dict[str, KnownScenario]:
    """The labelled queries of public data sets, by their `query_digest`."""
    return {
        known.query_sha256: known
        for path in sorted((_DATA / "labels").glob("*.jsonl"))
        for known in read_records(path, KnownScenario)
    }
