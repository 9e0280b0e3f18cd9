"""Queries of data sets, and those that two share: a judge must not be tested on its training data.

Queries are shared in two ways: they have the same normalised text (letters and digits, lower case),
or a large enough share of one query's n-grams occurs in the other.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autoj.datasets import catalog, data_files_in, is_dataset, open_cases
from autoj.errors import ConfigError, DataError
from autoj.records import normalise_query

# Scripts without spaces between words are counted by characters.
_WORDS = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f\U00020000-\U0003134f]"
    r"|[^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
    r"\U00020000-\U0003134f]+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedQuery:
    """A query of the first set that is also in the second."""

    a: int
    """Its index in the first set, counted from 0."""
    b: int
    """The index of the most similar query in the second set; the first of equals."""
    share: float
    """The larger share of n-grams, of either query, that occurs in the other; 1 is all."""
    by: Literal["text", "n-grams"]
    """"text" where the normalised texts are equal, "n-grams" where only n-grams are shared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """The queries that two sets have in common."""

    n_a: int
    """Rows of the first set."""
    n_b: int
    shared: tuple[SharedQuery, ...]
    """The rows of the first set that are in the second, in its order."""
    n_shared_b: int
    """Rows of the second set that are in the first."""
    ngrams: int | None
    """Words (or characters, in scripts without spaces) per n-gram; None compares texts alone."""
    threshold: float

    @property
    def n_shared_a(self) -> int:
        """Rows of the first set that are in the second."""
        return len(self.shared)

    @property
    def n_same_text(self) -> int:
        """Those of them with the same normalised text."""
        return sum(shared.by == "text" for shared in self.shared)


def find_overlap(
    a: Sequence[str], b: Sequence[str], *, n: int | None = None, threshold: float = 0.7
) -> Overlap:
    """Finds the queries that two sets share.

    A query with fewer than `n` words is compared by its normalised text alone. Time and memory
    grow with the number of n-grams that both sets have, not with the pairs of queries.

    Args:
        a: the queries of one set, for example a test set.
        b: those of the other, for example training data.
        n: words per n-gram, usually 8 or 13; characters in Chinese, Japanese and Thai, which have
            no spaces between words; None compares normalised texts alone.
        threshold: the least share of n-grams, above 0 and at most 1, of either query that must
            occur in the other. A short query inside a long one is shared, too.

    Raises:
        ConfigError: n is less than 1, or the threshold outside its range.

    **Source**: shared word n-grams are a common test for contamination: 13-grams for GPT-3
    (arXiv 2005.14165, appendix C), 70 % of the 8-grams for PaLM (arXiv 2204.02311, section 8).

    >>> overlap = find_overlap(["What is 2 + 2?", "Why?"], ["what is 2+2", "How?"])
    >>> overlap.n_shared_a, overlap.shared[0].b
    (1, 0)
    """
    if n is not None and n < 1:
        raise ConfigError(f"the n-gram length must be at least 1, found {n}")
    if not 0 < threshold <= 1:
        raise ConfigError(f"the threshold must be above 0 and at most 1, found {threshold:g}")
    by_text = _same_texts(a, b)
    back = set(_same_texts(b, a))
    by_ngrams: dict[int, SharedQuery] = {}
    if n is not None:
        for near in _near(a, b, n, threshold):
            back.add(near.b)
            nearest = by_ngrams.setdefault(near.a, near)
            if (near.share, -near.b) > (nearest.share, -nearest.b):
                by_ngrams[near.a] = near
    best = by_ngrams | by_text
    return Overlap(
        n_a=len(a),
        n_b=len(b),
        shared=tuple(best[row] for row in sorted(best)),
        n_shared_b=len(back),
        ngrams=n,
        threshold=threshold,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedQuery:
    """A query of a data set."""

    place: str
    """The file and the line, `pairs.jsonl:3`."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedQueries:
    """The queries of a data set; a row that holds several cases asks its query once."""

    queries: tuple[PlacedQuery, ...]
    n_bad: int
    """Rows that could not be read."""


def placed_queries(name: str) -> PlacedQueries:
    """The queries of a data set.

    Args:
        name: a file, a folder of files, `hf-dataset:NAME`, or a name of the catalog.

    Raises:
        DataError: there is no file of a kind that is read, or no row that can be read.
    """
    path = Path(name)
    if not path.exists() and name in catalog.data_names():
        path = catalog.find(name)
    paths = sorted(data_files_in(path)) if path.is_dir() and not is_dataset(path) else [path]
    if not paths:
        raise DataError("holds no file of a kind that is read", path=path)
    queries: list[PlacedQuery] = []
    n_bad = 0
    for file in paths:
        seen: set[tuple[int, str]] = set()
        for line, case in open_cases(file).read():
            if isinstance(case, DataError):
                n_bad += 1
            elif (line, case.query) not in seen:
                seen.add((line, case.query))
                queries.append(PlacedQuery(place=f"{file}:{line}", text=case.query))
    return PlacedQueries(queries=tuple(queries), n_bad=n_bad)


def _same_texts(a: Sequence[str], b: Sequence[str]) -> dict[int, SharedQuery]:
    first: dict[str, int] = {}
    for index, query in enumerate(b):
        first.setdefault(normalise_query(query), index)
    texts = ((index, normalise_query(query)) for index, query in enumerate(a))
    return {
        index: SharedQuery(a=index, b=first[text], share=1.0, by="text")
        for index, text in texts
        if text in first
    }


def _near(a: Sequence[str], b: Sequence[str], n: int, threshold: float) -> Iterator[SharedQuery]:
    """All pairs of rows that share enough n-grams."""
    index: dict[int, list[int]] = defaultdict(list)
    sizes: list[int] = []
    for row, query in enumerate(b):
        grams = _ngrams(query, n)
        sizes.append(len(grams))
        for gram in grams:
            index[gram].append(row)
    for row, query in enumerate(a):
        grams = _ngrams(query, n)
        for other, count in Counter(_hits(grams, index)).items():
            share = count / min(len(grams), sizes[other])
            if share >= threshold:
                yield SharedQuery(a=row, b=other, share=share, by="n-grams")


def _hits(grams: Iterable[int], index: dict[int, list[int]]) -> Iterable[int]:
    for gram in grams:
        yield from index.get(gram, ())


def _ngrams(query: str, n: int) -> set[int]:
    """The hashes of a query's n-grams; none where it is shorter."""
    words = _WORDS.findall(query.casefold())
    return {hash(tuple(words[start : start + n])) for start in range(len(words) - n + 1)}
