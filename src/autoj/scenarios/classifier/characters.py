"""A batch of queries as one array of code points with their kinds.

Only the beginning and the end of a long query are read: the request is there, and the passage that
it is about is in between.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

_N_HEAD = 1000
_N_TAIL = 800
_N_BASIC = 0x10000
"""The code points of Unicode's basic plane, which the tables cover."""


class Kind:
    """The kind of a character; numbers, so that arrays can hold them."""

    SPACE = 0
    NEWLINE = 1
    WORD = 2
    """A letter or a digit of a script that separates words."""
    ALONE = 3
    """A character that is a word by itself: Chinese, Japanese."""
    MARK = 4
    """Punctuation, symbols, emoji."""


_ALONE = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF))


@dataclass(frozen=True, slots=True, kw_only=True)
class Characters:
    """The characters of a batch, one query after the other, each ended by a line break."""

    written: NDArray[np.uint32]
    """`[n_characters]`, as written."""
    codes: NDArray[np.uint32]
    """`[n_characters]`, in lower case, every digit as 0."""
    kinds: NDArray[np.uint8]
    """`[n_characters]`, of `Kind`."""
    starts: NDArray[np.int64]
    """`[n_queries]`: the index of each query's first character."""
    lengths: NDArray[np.int64]
    """`[n_queries]`: characters read of each, its final line break included."""
    full_lengths: NDArray[np.int64]
    """`[n_queries]`: characters of each before cutting."""


@cache
def _tables() -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Builds the tables of lower-case forms and kinds of all basic code points."""
    characters = [chr(code) for code in range(_N_BASIC)]
    lower = np.arange(_N_BASIC, dtype=np.uint32)
    kinds = np.full(_N_BASIC, Kind.MARK, np.uint8)
    for code, character in enumerate(characters):
        if character.isalnum():
            kinds[code] = Kind.WORD
            small = character.lower()
            lower[code] = ord("0") if character.isdigit() else ord(small[0])
        elif character.isspace():
            kinds[code] = Kind.SPACE
    for first, last in _ALONE:
        kinds[first : last + 1] = Kind.ALONE
    kinds[ord("\n")] = Kind.NEWLINE
    return lower, kinds


def read_characters(queries: Sequence[str]) -> Characters:
    r"""Reads the characters of queries.

    >>> batch = read_characters(["Why?", ""])
    >>> "".join(map(chr, batch.codes)), batch.starts.tolist()
    ('why?\n\n', [0, 5])
    """
    texts = [_cut(query) + "\n" for query in queries]
    # A lone surrogate cannot be encoded, but text from elsewhere may contain one.
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    written = np.frombuffer(data, dtype=np.uint32)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    lower, kinds_of = _tables()
    basic = np.minimum(written, _N_BASIC - 1)
    kinds, codes = kinds_of[basic], lower[basic]
    beyond = np.flatnonzero(written >= _N_BASIC)
    codes[beyond] = written[beyond]
    ideographs = (written[beyond] >= 0x20000) & (written[beyond] <= 0x3134F)
    kinds[beyond] = np.where(ideographs, Kind.ALONE, Kind.MARK)
    return Characters(
        written=written,
        codes=codes,
        kinds=kinds,
        starts=np.concatenate(([0], np.cumsum(lengths)[:-1])) if texts else lengths,
        lengths=lengths,
        full_lengths=np.fromiter(map(len, queries), np.int64, len(queries)),
    )


def _cut(query: str) -> str:
    if len(query) <= _N_HEAD + _N_TAIL:
        return query
    return f"{query[:_N_HEAD]}\n{query[-_N_TAIL:]}"
