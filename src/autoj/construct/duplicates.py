"""Drops pairs whose query occurred before, exactly or nearly.

**Source:** near duplicates are found by MinHash with locality-sensitive hashing (Broder 1997, "On
the resemblance and containment of documents"), with `datasketch`.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from autoj.construct.recipe import Deduplicate
from autoj.construct.stages import Dropped, Outcome
from autoj.errors import MissingExtra
from autoj.records import Case, normalise_query

if TYPE_CHECKING:
    from datasketch import MinHash

N_PERMUTATIONS = 128
"""Hash functions of a MinHash: its estimate of a similarity of 0.8 has a standard error of .035."""
_N_WORDS = 3
_READ_CHARACTERS = 8_000
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")


def deduplicate(cases: Iterable[Case], stage: Deduplicate) -> Iterator[Outcome]:
    """Keeps the first pairs of each query.

    Args:
        cases: read lazily; 16 bytes a query are kept, and about 3 kB with a threshold.
        stage: states the threshold, and the most pairs of a query.

    Raises:
        MissingExtra: near duplicates are asked for, and datasketch is not installed.
    """
    seen: Counter[bytes] = Counter()
    near = None if stage.threshold is None else _NearQueries(stage.threshold)
    for case in cases:
        digest = hashlib.blake2b(_exact(case.query), digest_size=16).digest()
        if seen[digest] >= stage.per_query:
            yield Dropped(id=case.id, reason="same query", case=case)
            continue
        if near is not None and digest not in seen:
            if (earlier := near.find(case.query)) is not None:
                yield Dropped(id=case.id, reason="similar query", detail=earlier, case=case)
                continue
            near.add(case.id, case.query)
        seen[digest] += 1
        yield case


def _exact(query: str) -> bytes:
    return normalise_query(query).encode("utf-8", "surrogatepass")


def check_near_duplicates() -> None:
    """Checks that near duplicates can be found.

    Raises:
        MissingExtra: datasketch is not installed.
    """
    if find_spec("datasketch") is None:
        raise MissingExtra("construct", "near duplicates in a construction")


class _NearQueries:
    """The queries so far, found by similarity."""

    def __init__(self, threshold: float) -> None:
        check_near_duplicates()
        from datasketch import MinHash, MinHashLSH

        self._make: type[MinHash] = MinHash
        self._index: MinHashLSH = MinHashLSH(threshold=threshold, num_perm=N_PERMUTATIONS)
        self._threshold = threshold
        self._last: tuple[str, MinHash] | None = None

    def find(self, query: str) -> str | None:
        """The id of an earlier query that is similar enough; None where there is none."""
        found = self._index.query(self._hashed(query))
        return min(found) if found else None

    def add(self, name: str, query: str) -> None:
        """Adds a query under its id."""
        self._index.insert(name, self._hashed(query), check_duplication=False)

    def _hashed(self, query: str) -> "MinHash":
        """The MinHash of a query; that of the last one is kept, as it is found and then added."""
        if self._last is None or self._last[0] != query:
            hashed = self._make(num_perm=N_PERMUTATIONS, seed=0)
            hashed.update_batch([gram.encode("utf-8", "surrogatepass") for gram in _grams(query)])
            self._last = query, hashed
        return self._last[1]


def _grams(query: str) -> set[str]:
    """The word n-grams of a query; one of all its words where it has fewer."""
    words = _WORD.findall(query[:_READ_CHARACTERS].casefold())
    starts = range(max(1, len(words) - _N_WORDS + 1))
    return {" ".join(words[start : start + _N_WORDS]) for start in starts}
