"""Reads CSV and TSV: a header, then one record a row; cells are texts, except known numbers.

Cells are quoted as spreadsheets and pandas do it (RFC 4180), so a text may hold the delimiter,
quotes and line ends. A record with more or fewer cells than the header is a bad row, as is one
that is not UTF-8: cells are never shifted or guessed.

**Source**: RFC 4180.
"""

import csv
import io
import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from autoj.errors import DataError
from autoj.inputs import open_file, row_limit, skip_line, too_long

NUMBERS = frozenset({
    "annotator1", "annotator2", "annotator3", "annotator_index", "better_response_id", "gt_label",
    "idx", "label", "labels", "pid", "pred_score", "preference", "safer_response_id",
    "score_ratio", "upvote_ratio",
})  # fmt: skip
"""Columns of numbers in the known formats; none of them is ever a judged text."""

# Python refuses cells above 128 KiB by default, and responses are longer; C's long is the limit.
# Rows have a limit of their own.
_LONGEST_CELL = 2**31 - 1
_BLOCK_BYTES = 1 << 20
_BLANK_LINES = re.compile(rb"(?:\r?\n)+")
_QUOTE = b'"'
_MOST_AGAIN = 1000
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_OTHER_DELIMITERS = (";", "\t")
# At most the digits of a 64-bit number; anything longer is a text.
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_FRACTION = re.compile(r"-?[0-9]{1,18}\.[0-9]{1,18}")


def read_delimited(
    path: Path, delimiter: str = ",", numbers: Collection[str] = ()
) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    """The records of a file, lazily, with the line on which each begins.

    Where the header of a `.csv` has no comma but a semicolon or a tab, that is the delimiter, as
    spreadsheets write it in many countries.

    Args:
        path: the file, compressed where its name ends in `.gz`.
        delimiter: the character between two cells.
        numbers: columns whose cells are read as numbers where possible, and as None where empty;
            in other columns an empty cell is an empty text.

    Raises:
        DataError: the file as a whole cannot be read.
    """
    with open_file(path) as stream:
        for line, row in _read(path, stream, delimiter):
            if isinstance(row, dict):
                row |= {name: _number(row[name]) for name in numbers if name in row}
            yield line, row


def _read(
    path: Path, stream: io.BufferedReader, delimiter: str
) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    lines = _Lines(path, stream)
    if delimiter == "," and "," not in lines.first:
        found = (other for other in _OTHER_DELIMITERS if other in lines.first)
        delimiter = next(found, delimiter)
    csv.field_size_limit(_LONGEST_CELL)
    records = csv.reader(lines, delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        begins = lines.begin_record()
        try:
            cells = next(records)
        except StopIteration:
            return
        except csv.Error as error:
            lines.read_again()
            yield begins, _malformed(path, begins, error)
            continue
        except _TooLong:
            lines.skip_record()
            yield begins, too_long(path, begins)
            continue
        if not cells:
            continue
        if header is None:
            if lines.fault is not None:
                raise lines.fault
            header = _checked_header(path, begins, cells)
        elif lines.fault is not None:
            yield begins, lines.fault
        elif len(cells) != len(header):
            yield begins, _wrong_number(path, begins, cells, header)
        else:
            yield begins, dict(zip(header, cells, strict=True))


def _number(cell: str) -> str | int | float | None:
    if _WHOLE.fullmatch(cell):
        return int(cell)
    if _FRACTION.fullmatch(cell):
        return float(cell)
    return cell or None


class _TooLong(Exception):
    """A record has more bytes than the limit."""


class _Lines:
    """The lines of a file as texts; keeps the last one that is not UTF-8, for its error.

    A record may have several lines: they are counted together, so that a quote that is never closed
    does not take the rest of a file into memory. Nor does it take the rows below: of a record that
    is not CSV all lines but the first are read again, as records of their own.
    """

    def __init__(self, path: Path, stream: io.BufferedReader) -> None:
        head = stream.peek(len(_UTF8_MARK))
        if head.startswith(_UTF16_MARKS):
            raise DataError(
                "is UTF-16, not UTF-8",
                path=path,
                hint="Convert the file, for example with: iconv -f utf-16 -t utf-8",
            )
        if head.startswith(_UTF8_MARK):
            stream.read(len(_UTF8_MARK))
        self.first = stream.peek(1).partition(b"\n")[0].decode("utf-8", "replace")
        self.fault: DataError | None = None
        self._path = path
        self._stream = stream
        self._limit = row_limit()
        self._number = 0
        self._held: list[bytes] = []
        self._again: deque[bytes] = deque()
        self._n_again = 0
        self._n_bytes = 0
        self._n_quotes = 0

    def begin_record(self) -> int:
        """Passes over blank lines, and returns the number of the line on which a record begins."""
        while not self._again and (blank := _BLANK_LINES.match(self._stream.peek(1))):
            self._stream.read(blank.end())
            self._number += blank[0].count(b"\n")
        self.fault = None
        self._held.clear()
        self._n_bytes = self._n_quotes = 0
        return self._number + 1

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._stream.readline(self._limit + 1)
        if not line:
            raise StopIteration
        self._number += 1
        self._held.append(line)
        self._n_bytes += len(line)
        if self._n_bytes > self._limit:
            raise _TooLong
        self._n_quotes += line.count(_QUOTE)
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            self.fault = DataError(
                f"is not UTF-8 (byte {error.start + 1} of the line is {line[error.start]:#04x})",
                path=self._path,
                line=self._number,
                hint="Convert the file, for example with: iconv -f latin1 -t utf-8",
            )
            return line.decode("utf-8", "replace")

    def skip_record(self) -> None:
        """Passes over the rest of a record: it ends with a line that leaves no quote open."""
        begun = self._held.pop()
        self._held.clear()
        while True:
            self._n_quotes += sum(part.count(_QUOTE) for part in self._rest_of(begun))
            if self._n_quotes % 2 == 0:
                return
            begun = self._again.popleft() if self._again else self._stream.readline(_BLOCK_BYTES)
            if not begun:
                return
            self._number += 1

    def _rest_of(self, begun: bytes) -> Iterable[bytes]:
        return [begun] if begun.endswith(b"\n") else skip_line(self._stream, begun)

    def read_again(self) -> None:
        """Goes back to the second line of a record; not without end, as each may be read often."""
        if self._n_again < _MOST_AGAIN:
            self._n_again += len(self._held) > 1
            self._number -= len(self._held[1:])
            self._again.extendleft(reversed(self._held[1:]))


def _checked_header(path: Path, line: int, cells: list[str]) -> list[str]:
    twice = [name for name, count in Counter(cells).items() if count > 1]
    if twice:
        raise DataError(
            f"two columns are named {twice[0]!r}",
            path=path,
            line=line,
            hint="The first line must name each column, with distinct names.",
        )
    return cells


def _malformed(path: Path, line: int, error: csv.Error) -> DataError:
    if "unexpected end of data" in str(error):
        return DataError("a cell that begins with a quote is never closed", path=path, line=line)
    if "new-line character" in str(error):
        return DataError(
            "a carriage return outside quotes without a line feed after it",
            path=path,
            line=line,
            hint="If every line ends that way (as on old Macs), convert it: tr '\\r' '\\n'.",
        )
    return DataError(
        f"is not CSV ({error})",
        path=path,
        line=line,
        hint='Quote a cell that holds a quote, and double the quote: "She said ""no""".',
    )


def _wrong_number(path: Path, line: int, cells: list[str], header: list[str]) -> DataError:
    return DataError(
        f"has {len(cells)} cells, but the header names {len(header)} columns",
        path=path,
        line=line,
        hint="Quote cells that hold the delimiter or a line break.",
    )
