"""Training files to rows: a case, where it stands, and the judgment that the data hold of it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from pathlib import Path

from autoj.datasets import open_cases
from autoj.errors import DataError
from autoj.records import Case

__all__ = ["Row", "pairs_from_ratings", "read_rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A case to learn from."""

    case: Case
    path: Path
    line: int
    """Counted from 1."""

    @property
    def judgment(self) -> str | None:
        """The critique with its decision or rating, where the data hold one.

        It stands in the release's `target_output`, or in `meta.judgment` of a native row.
        """
        if self.case.critiques:
            return self.case.critiques[0]
        judgment = self.case.meta.get("judgment")
        return judgment if isinstance(judgment, str) and judgment.strip() else None

    def error(self, message: str, field: str | None = None) -> DataError:
        """What is wrong with this row."""
        return DataError(
            f"case {self.case.id!r}: {message}",
            path=self.path,
            line=self.line,
            field=field,
            hint="--skip-bad-rows goes on without such rows and counts them.",
        )


def read_rows(path: Path, bad_rows: list[DataError] | None = None) -> Iterator[Row]:
    """The rows of a training file, of any format that `autoj judge` reads.

    Args:
        path: the file.
        bad_rows: takes the rows that cannot be read; None ends with the first.

    Raises:
        DataError: the file or a row cannot be read.
    """
    n_rows = 0
    for line, item in open_cases(path).read():
        if isinstance(item, Case):
            n_rows += 1
            yield Row(case=item, path=path, line=line)
        elif bad_rows is None:
            item.hint = item.hint or "--skip-bad-rows goes on without such rows and counts them."
            raise item
        else:
            bad_rows.append(item)
    if n_rows == 0:
        raise DataError("is empty: it holds no rows", path=path)


def pairs_from_ratings(rows: Sequence[Row], gap: float, per_query: int, seed: int) -> list[Row]:
    """Pairs of responses to one query that were rated apart.

    Args:
        rows: of any kind; those with one rated response are paired.
        gap: the least difference of two ratings; the higher-rated response is the better one.
        per_query: the most pairs of one query, drawn from all that there are.
        seed: what the draw follows from.

    Returns:
        One row a pair; the better response stands first in every other.
    """
    generator = random.Random(seed)
    rated = [row for row in rows if len(row.case.responses) == 1 and _rating(row) is not None]
    rated.sort(key=lambda row: row.case.cluster)
    pairs: list[Row] = []
    for _, group in groupby(rated, key=lambda row: row.case.cluster):
        apart = [
            (one, other)
            for one, other in combinations(list(group), 2)
            if abs(_known(one) - _known(other)) >= gap and one.case.query == other.case.query
        ]
        for one, other in generator.sample(apart, min(per_query, len(apart))):
            pairs.append(_pair(one, other, flip=len(pairs) % 2 == 1))
    return pairs


def _rating(row: Row) -> float | None:
    return row.case.label if isinstance(row.case.label, float) else None


def _known(row: Row) -> float:
    rating = _rating(row)
    assert rating is not None
    return rating


def _pair(one: Row, other: Row, *, flip: bool) -> Row:
    better, worse = (one, other) if _known(one) > _known(other) else (other, one)
    first, second = (worse, better) if flip else (better, worse)
    case = replace(
        first.case,
        id=f"{first.case.id}+{second.case.id}",
        responses=(first.case.responses[0], second.case.responses[0]),
        label="b" if flip else "a",
        critiques=(),
        meta={},
    )
    return replace(first, case=case)
