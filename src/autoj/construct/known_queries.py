"""Drops pairs whose query is known: it occurred before, exactly or nearly, or is in a test set.

**Source:** near duplicates are found by MinHash with locality-sensitive hashing (Broder 1997, "On
the resemblance and containment of documents"), with `datasketch`.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autoj.construct.recipe import Decontaminate, Deduplicate
from autoj.construct.stages import Dropped, Outcome
from autoj.datasets import catalog, open_cases
from autoj.datasets.overlap import find_overlap
from autoj.errors import DataError, MissingExtra
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedWith:
    """The queries that the rows of a construction share with one test set."""

    path: str
    n_rows: int
    """Rows of the test set."""
    n_shared_test: int
    """Rows of the test set whose query is among ours."""
    n_shared_ours: int
    """Rows of ours whose query is in the test set; they are dropped."""
    n_same_text: int
    """Those of them with the same letters and digits; the others share n-grams."""


def find_test_set(name: str) -> Path:
    """Finds a test set by the name that a recipe gives it.

    Args:
        name: a file, or a set that `autoj data` lists, such as "eval-p".

    Raises:
        DataError: the listed set is not on this machine; the hint says how to get it.
    """
    if name in catalog.data_names() and not Path(name).exists():
        return catalog.find(name)
    return Path(name)


def check_test_sets(stage: Decontaminate) -> None:
    """Checks that every test set can be read.

    Raises:
        DataError: one is missing or is no data set.
    """
    for name in stage.against:
        open_cases(find_test_set(name))


def decontaminate(
    cases: Sequence[Case],
    stage: Decontaminate,
    notes: dict[str, Any],
    *,
    reason: str = "in a test set",
) -> Iterator[Outcome]:
    """Drops the cases whose query is in a test set.

    Args:
        cases: the rows.
        stage: states the test sets and what counts as shared.
        notes: receives `contamination`, a `SharedWith` per test set.
        reason: the reason for which they are dropped.

    Raises:
        DataError: a test set cannot be read.
    """
    queries = [case.query for case in cases]
    shared: dict[int, tuple[str, str]] = {}
    reports: list[SharedWith] = []
    for name in stage.against:
        tested = list(_queries(find_test_set(name)))
        found = find_overlap(queries, tested, n=stage.ngrams, threshold=stage.threshold)
        for item in found.shared:
            shared.setdefault(item.a, (name, f"row {item.b + 1} by {item.by}, {item.share:.2f}"))
        reports.append(
            SharedWith(
                path=name,
                n_rows=len(tested),
                n_shared_test=found.n_shared_b,
                n_shared_ours=found.n_shared_a,
                n_same_text=found.n_same_text,
            )
        )
    notes["contamination"] = [asdict(report) for report in reports]
    for index, case in enumerate(cases):
        if index not in shared:
            yield case
            continue
        where, how = shared[index]
        yield Dropped(id=case.id, reason=reason, detail=f"{where}: {how}", case=case)


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


def _queries(path: Path) -> Iterable[str]:
    for _, item in open_cases(path).read():
        if isinstance(item, DataError):
            raise item
        yield item.query
