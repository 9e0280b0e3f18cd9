"""Reads CSV and TSV: a header, then one record a row; cells are texts, except known numbers.

Cells are quoted as spreadsheets and pandas do it (RFC 4180), so a text may hold the delimiter,
quotes and line ends. A record with more or fewer cells than the header is a bad row, as is one
that is not UTF-8: cells are never shifted or guessed.

**Source**: RFC 4180.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

from autoj.errors import DataError

__all__ = ["NUMBERS", "read_delimited"]

NUMBERS = frozenset({
    "annotator1", "annotator2", "annotator3", "annotator_index", "gt_label", "idx", "label", "pid",
    "pred_score", "preference",
})  # fmt: skip
"""Columns of numbers in the known formats; none of them is ever a judged text."""

# Python refuses cells above 128 KiB by default, and responses are longer; C's long is the limit.
_LONGEST_CELL = 2**31 - 1
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
    try:
        with _open(path) as stream:
            for line, row in _read(path, stream, delimiter):
                if isinstance(row, dict):
                    row |= {name: _number(row[name]) for name in numbers if name in row}
                yield line, row
    except FileNotFoundError:
        raise DataError("there is no such file", path=path) from None
    except IsADirectoryError:
        raise DataError("is a folder, not a file", path=path) from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError("the gzip file is damaged or incomplete", path=path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def _open(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _read(
    path: Path, stream: IO[bytes], delimiter: str
) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    lines = _Lines(path, stream)
    if delimiter == "," and "," not in lines.first:
        found = (other for other in _OTHER_DELIMITERS if other in lines.first)
        delimiter = next(found, delimiter)
    csv.field_size_limit(_LONGEST_CELL)
    records = csv.reader(lines, delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        begins = records.line_num + 1
        lines.fault = None
        try:
            cells = next(records)
        except StopIteration:
            return
        except csv.Error as error:
            yield begins, _malformed(path, begins, error)
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


class _Lines:
    """The lines of a file as texts; keeps the last one that is not UTF-8, for its error."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        head = stream.readline()
        if head.startswith(_UTF16_MARKS):
            raise DataError(
                "is UTF-16, not UTF-8",
                path=path,
                hint="Convert the file, for example with: iconv -f utf-16 -t utf-8",
            )
        head = head.removeprefix(_UTF8_MARK)
        self.first = head.decode("utf-8", "replace")
        self.fault: DataError | None = None
        self._path = path
        self._numbered = enumerate(chain([head] if head else [], stream), start=1)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        number, line = next(self._numbered)
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            self.fault = DataError(
                f"is not UTF-8 (byte {error.start + 1} of the line is {line[error.start]:#04x})",
                path=self._path,
                line=number,
                hint="Convert the file, for example with: iconv -f latin1 -t utf-8",
            )
            return line.decode("utf-8", "replace")


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
