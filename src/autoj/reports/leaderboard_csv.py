"""Leaderboards as rows of a CSV file; no name in them is a formula to a spreadsheet."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from autoj.bench.leaderboard.board import Board, Figure
from autoj.errors import ConfigError
from autoj.records import Estimate
from autoj.reports.text import guarded, visible
from autoj.system_errors import storage_error

CSV_FIELDS = (
    "bench", "section", "judge", "printed_as", "status", "kind", "generative", "in_sample",
    "breakdown", "part", "figure", "value", "low", "high", "n", "n_clusters", "n_unscored",
    "printed", "remark", "sources", "notes",
)  # fmt: skip
"""The columns of `csv_rows`."""


_NUMBER = re.compile(r"[-+]?\d[\d.]*", re.ASCII)
"""Printed figures, which stay numbers to a spreadsheet."""


def csv_rows(board: Board) -> Iterator[dict[str, object]]:
    """One row per judge and figure, overall and by part; shares as 0-1.

    An apostrophe precedes a text that a spreadsheet would take for a formula.

    Args:
        board: its parts are listed, too, if it has a breakdown.
    """
    for row in _records(board):
        yield {name: _csv_cell(value) for name, value in row.items()}


def _csv_cell(value: object) -> object:
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    return guarded(visible(value))


def _records(board: Board) -> Iterator[dict[str, object]]:
    for section in board.sections:
        for row in section.rows:
            head = {
                "bench": board.bench,
                "section": section.title,
                "judge": row.judge,
                "status": row.status,
                "printed_as": row.printed_as,
                "kind": row.kind,
                "generative": row.generative,
                "in_sample": row.in_sample,
                "sources": "; ".join(source.cite for source in row.sources),
                "notes": " ".join(row.notes),
            }
            for name, figure in row.figures.items():
                yield head | {"figure": name} | _numbers(figure)
            for part, figures in row.parts.get(board.breakdown or "", {}).items():
                for name, figure in figures.items():
                    place = {"breakdown": board.breakdown, "part": part, "figure": name}
                    yield head | place | _numbers(figure)


def _numbers(figure: Figure) -> dict[str, object]:
    if isinstance(figure, Estimate):
        return {
            "value": figure.value,
            "low": figure.low,
            "high": figure.high,
            "n": figure.n,
            "n_clusters": figure.n_clusters,
            "n_unscored": figure.n_unscored,
        }
    return {"value": figure.value, "printed": figure.text, "remark": figure.remark}


def write_csv(path: Path, found: Board) -> None:
    """Write all rows of a board as CSV.

    Raises:
        ConfigError: the folder is missing or not writable.
    """
    try:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, CSV_FIELDS)
            writer.writeheader()
            writer.writerows(csv_rows(found))
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None
    except OSError as error:
        raise storage_error(error, path) from error
