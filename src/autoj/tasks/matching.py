"""Cases that two stored runs have in common: the same id, query and responses."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from autoj.errors import DataError
from autoj.jsonl import encode
from autoj.records import Case, Verdict

_Judged: TypeAlias = Iterator[tuple[Case, Verdict]]


class Matched:
    """The cases of two runs, matched by id and content.

    Args:
        runs: their cases with the verdicts, in order; each is read once.
        paths: their folders.

    Raises:
        DataError: one has no verdicts.
    """

    def __init__(self, runs: tuple[_Judged, _Judged], paths: tuple[Path, Path]) -> None:
        self._known = {
            case.id: (content_digest(case), verdict) for case, verdict in _judged(runs[1], paths[1])
        }
        self._first = _judged(runs[0], paths[0])
        self.n_changed = 0
        self.n_alone = (0, 0)

    def both(self) -> Iterator[tuple[Case, Verdict, Verdict]]:
        """The cases of the first run that the other one has, with both verdicts."""
        n_alone = n_both = 0
        for case, verdict in self._first:
            content, its = self._known.get(case.id, (None, None))
            if its is None:
                n_alone += 1
            elif content != content_digest(case):
                self.n_changed += 1
            else:
                n_both += 1
                yield case, verdict, its
        self.n_alone = n_alone, len(self._known) - n_both - self.n_changed


def _judged(found: _Judged, path: Path) -> _Judged:
    n = 0
    for pair in found:
        n += 1
        yield pair
    if n == 0:
        raise DataError("has no verdicts yet", path=path)


def content_digest(case: Case) -> bytes:
    """Digests what was judged; ids alone may be numbers of lines of different files."""
    text = encode([case.query, [response.text for response in case.responses], case.critiques])
    return hashlib.blake2b(text, digest_size=16).digest()
