"""Cases by filter, order and text: masks over the columns, and a search that goes on in parts."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import orjson

from autoj.bench.base import group_name
from autoj.jsonl import decode_as
from autoj.records import Case, Verdict
from autoj.serve.view.columns import (
    FLAGS,
    TWO_ORDERS,
    WINNER_CODES,
    WITH_PROBABILITIES,
    Bools,
    Columns,
    Rows,
    flag_bit,
)
from autoj.serve.view.lines import RowLines

LENGTHS = {
    "a-much-shorter": (-2.0, -0.5),
    "a-shorter": (-0.5, -0.1),
    "alike": (-0.1, 0.1),
    "b-shorter": (0.1, 0.5),
    "b-much-shorter": (0.5, 2.0),
}
"""Ranges of the relative difference of lengths, (a - b) / the longer; the upper end is in."""
CONFIDENCES = {
    "under-50": (0.0, 0.5),
    "50-70": (0.5, 0.7),
    "70-90": (0.7, 0.9),
    "over-90": (0.9, 2),
}
"""Ranges of the probability of the likeliest outcome; the lower end is in."""
ORDERS = ("", "unsure", "disagreement", "length")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFilter:
    """The cases to show, and in which order; an empty field does not filter."""

    q: str = ""
    """A text in the query, a response, a critique, a model or the id, in any letter case."""
    flag: str = ""
    """A kind of cases (`columns.FLAGS`), or "differ": the runs name different winners."""
    scenario: str = ""
    """A scenario, or "group:" and a group."""
    winner: str = ""
    """"a", "b", "tie", or "none"."""
    length: str = ""
    """A key of `LENGTHS`."""
    confidence: str = ""
    """A key of `CONFIDENCES`."""
    sort: str = ""
    """One of `ORDERS`."""

    def refusal(self) -> str | None:
        """The field that has a value that is none of its own; None where all are right."""
        known = {
            "flag": ("", *FLAGS, "differ"),
            "winner": ("", "a", "b", "tie", "none"),
            "length": ("", *LENGTHS),
            "confidence": ("", *CONFIDENCES),
            "sort": ORDERS,
        }
        return next((name for name, its in known.items() if getattr(self, name) not in its), None)


def select_rows(columns: Columns, wanted: CaseFilter, differ: Bools) -> Rows:
    """The rows that a filter keeps, in its order, without its text: `[n_kept]`.

    Args:
        columns: the run's.
        wanted: the filter.
        differ: the rows on which runs name different winners, `[n]`.
    """
    n = len(differ)
    keeps = np.ones(n, dtype=bool)
    flags = columns["flags"][:n]
    if wanted.flag == "differ":
        keeps &= differ
    elif wanted.flag:
        keeps &= (flags & np.uint16(flag_bit(wanted.flag))) != 0
    if wanted.winner:
        code = WINNER_CODES[None if wanted.winner == "none" else wanted.winner]  # type: ignore[index]
        keeps &= columns["winner"][:n] == code
    if wanted.scenario:
        codes = list(_scenario_codes(columns, wanted.scenario))
        keeps &= np.isin(columns["scenario"][:n], codes)
    if wanted.length:
        low, high = LENGTHS[wanted.length]
        relative = columns["relative_length"][:n]
        keeps &= (relative > np.float32(low)) & (relative <= np.float32(high))
    if wanted.confidence:
        low, high = CONFIDENCES[wanted.confidence]
        confidence = columns["confidence"][:n]
        keeps &= (flags & np.uint16(WITH_PROBABILITIES)) != 0
        keeps &= (confidence >= np.float32(low)) & (confidence < np.float32(high))
    rows: Rows = np.flatnonzero(keeps).astype(np.int32)
    return rows if not wanted.sort else _ordered(columns, wanted.sort, rows, differ)


def _scenario_codes(columns: Columns, wanted: str) -> Iterator[int]:
    for name, code in list(columns.scenarios.items()):
        if name is not None and (
            group_name(name) == wanted[6:] if wanted.startswith("group:") else name == wanted
        ):
            yield code


def _ordered(columns: Columns, order: str, rows: Rows, differ: Bools) -> Rows:
    """The rows with the largest value first; of equal ones the earlier."""
    unsure = columns["unsure"][rows]
    if order == "unsure":
        has = (columns["flags"][rows] & np.uint16(WITH_PROBABILITIES)) != 0
        value = np.where(has, unsure, np.float32(-1))
    elif order == "length":
        value = columns["characters"][rows].astype(np.float64)
    else:
        both = np.uint16(TWO_ORDERS | flag_bit("disagree"))
        disagree = (columns["flags"][rows] & both) == both
        value = 4.0 * differ[rows] + 2.0 * disagree + unsure
    found: Rows = rows[np.argsort(-value, kind="stable")]
    return found


class TextSearch:
    """A search through the texts of some cases, which goes on where it stopped.

    Args:
        text: the text, in any letter case.
        rows: the rows to look at.
        opened: opens the files that hold their lines.
    """

    def __init__(self, text: str, rows: Rows, opened: Callable[[], RowLines]) -> None:
        self._text, self._rows, self._opened = text.lower(), rows, opened
        # As it stands in a file, where quotation marks and line ends are escaped.
        self._stored = orjson.dumps(self._text)[1:-1].decode()
        self._end = 0
        """The end of the stretch of rows that was found to hold the text somewhere."""
        self.found: list[int] = []
        self.n_searched = 0
        self.n_rows = len(rows)

    def take_over(self, earlier: "TextSearch") -> None:
        """Goes on where an earlier search for the text stopped, if it looked at the same rows.

        Args:
            earlier: a search in fewer rows of the same files.
        """
        n = earlier.n_searched
        if np.array_equal(earlier._rows[:n], self._rows[:n]):
            self.found, self.n_searched, self._end = earlier.found, n, n

    @property
    def is_complete(self) -> bool:
        """True where all of the cases were looked at."""
        return self.n_searched == self.n_rows

    def go_on(
        self, seconds: float, n_wanted: int, give_way: Callable[[], bool] = lambda: False
    ) -> None:
        """Searches for some seconds, or until enough were found.

        Args:
            seconds: the time, about.
            n_wanted: the number of cases that is enough.
            give_way: returns True where something else is to be done first; the search then stops
                after its next step.
        """
        until = time.monotonic() + seconds
        with self._opened() as lines:
            while not self.is_complete and len(self.found) < n_wanted:
                self._step(lines)
                if time.monotonic() >= until or give_way():
                    break

    def _step(self, lines: RowLines) -> None:
        if self.n_searched >= self._end and self._passes_over(lines):
            return
        row = int(self._rows[self.n_searched])
        if self._holds(*lines.read(row, row)):
            self.found.append(row)
        self.n_searched += 1

    def _passes_over(self, lines: RowLines) -> bool:
        """Looks at the next rows that stand together; passes over them where none has the text."""
        rows = self._rows[self.n_searched :]
        n = lines.n_together(rows)
        if n > 1 and not any(map(self._may_hold, lines.read(int(rows[0]), int(rows[n - 1])))):
            self.n_searched += n
            return True
        self._end = self.n_searched + n
        return False

    def _may_hold(self, lines: bytes) -> bool:
        return self._stored in lines.decode(errors="replace").lower()

    def _holds(self, case_line: bytes, verdict_line: bytes) -> bool:
        if self._may_hold(case_line):
            case = decode_as(Case, case_line)
            texts = [case.id, case.query]
            for response in case.responses:
                texts += [response.text, response.model or ""]
            if any(self._text in text.lower() for text in texts):
                return True
        if self._may_hold(verdict_line):
            verdict = decode_as(Verdict, verdict_line)
            return any(self._text in (text or "").lower() for text in verdict.critiques)
        return False
