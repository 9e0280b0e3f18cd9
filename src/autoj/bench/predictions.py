"""Verdicts that somebody else's judge gave, in the release's format: a label 0, 1 or 2 a line."""

from collections.abc import Sequence
from pathlib import Path

from autoj.bench.case_rows import check_length, field_of, rows_of
from autoj.datasets.native import is_score
from autoj.errors import DataError
from autoj.records import SHOWN, Case, Shown, Verdict
from autoj.verdicts.own_frame import to_winner
from autoj.verdicts.resolve import settle

_UNREAD = -1
"""The release's label for a judgment that it could not read."""


def read_predictions(
    path: Path, cases: Sequence[Case], swapped: Path | None = None
) -> list[Verdict]:
    """The verdicts of a file of predictions, `{"output": 0}` a line, in the order of the cases.

    Args:
        path: labels of the pairs in their own order: 0 first, 1 second, 2 tie; -1 or null is a
            judgment that could not be read.
        cases: the pairs.
        swapped: labels of the same pairs with the responses exchanged, by position: 0 is
            the first in the prompt, the pair's second response.

    Raises:
        DataError: a file has another number of rows than there are cases, or another label.
    """
    in_order = _labels(path, len(cases))
    pages: list[tuple[tuple[int, ...], list[Shown | None]]] = [((0, 1), in_order)]
    if swapped is not None:
        pages.append(((1, 0), _labels(swapped, len(cases))))
    return [
        _verdict(case, path, [(order, labels[index]) for order, labels in pages])
        for index, case in enumerate(cases)
    ]


def _verdict(case: Case, path: Path, pages: list[tuple[tuple[int, ...], Shown | None]]) -> Verdict:
    winners = tuple(None if shown is None else to_winner(shown, order) for order, shown in pages)
    return settle(
        Verdict(case_id=case.id, judge=path.stem, winners=winners, n_unreadable=winners.count(None))
    )


def _labels(path: Path, n_cases: int) -> list[Shown | None]:
    labels = [
        _label(field_of(path, line, row, "output"), path, line) for line, row in rows_of(path)
    ]
    check_length(path, len(labels), n_cases)
    return labels


def _label(value: object, path: Path, line: int) -> Shown | None:
    if value is None or value == _UNREAD:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value not in range(len(SHOWN)):
        raise DataError(
            f"expected 0 (first), 1 (second), 2 (tie), or -1 for unreadable, found {value!r}",
            path=path,
            line=line,
            field="output",
        )
    return SHOWN[value]


def read_scores(path: Path, cases: Sequence[Case]) -> list[Verdict]:
    """The verdicts of a judge that scored each response alone: `{"scores": [1.5, -0.2]}` a line.

    Args:
        path: two scores a line, higher is better, in the order of the cases; null for a response
            that has none.
        cases: the pairs.

    Raises:
        DataError: the file has another number of rows than there are cases, or a row is not a pair
            of scores.
    """
    rows = [_scores(field_of(path, line, row, "scores"), path, line) for line, row in rows_of(path)]
    check_length(path, len(rows), len(cases))
    return [
        Verdict(
            case_id=case.id,
            judge=path.stem,
            ratings=ratings,
            rule="incomplete" if None in ratings else None,
            n_unreadable=ratings.count(None),
        )
        for case, ratings in zip(cases, rows, strict=True)
    ]


def _scores(value: object, path: Path, line: int) -> tuple[float | None, ...]:
    if (
        not isinstance(value, list)
        or len(value) != 2
        or not all(score is None or is_score(score) for score in value)
    ):
        raise DataError(
            f"expected two numbers from -1e+100 to 1e+100 (or null), found {value!r}",
            path=path,
            line=line,
            field="scores",
        )
    return tuple(None if score is None else float(score) for score in value)
