"""Shipped training labels of the classifiers: seed queries, and labels of public queries.

Queries of public data sets are not ours to ship. Their labels are: each is a scenario by the digest
of the normalised query.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from autoj.jsonl import read_records
from autoj.records import normalise_query

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownScenario:
    """The label of a query whose text is not shipped."""

    query_sha256: str
    """Its `query_digest`."""
    scenario: str
    """A name of the taxonomy."""
    second: str | None = None
    """A second scenario that would be nearly as good, where the annotators named one."""


def seed_files() -> tuple[Path, ...]:
    """Lists the shipped files of seed queries, sorted."""
    return tuple(sorted((_DATA / "seeds").glob("*.jsonl")))


def query_digest(query: str) -> str:
    """Computes the digest that stands for a query's text: 16 hexadecimal digits.

    >>> query_digest("Why?") == query_digest("why")
    True
    """
    text = normalise_query(query).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]


def known_scenarios() -> dict[str, KnownScenario]:
    """Reads the labels of public queries, by their `query_digest`."""
    return {
        known.query_sha256: known
        for path in sorted((_DATA / "labels").glob("*.jsonl"))
        for known in read_records(path, KnownScenario)
    }
