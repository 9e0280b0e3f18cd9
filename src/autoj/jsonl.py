"""Reads and appends records of ours, one JSON value a line; `inputs` reads users' files.

A killed writer may leave a last line without its newline: `repair` cuts it off, and `read_records`
skips it. A line that cannot be made again may end in a checksum of itself (`encode_summed`).
"""

import hashlib
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import orjson

from autoj.errors import DataError
from autoj.inputs import cannot_read, local_file
from autoj.system_errors import storage_error

T = TypeVar("T")


def encode(record: Any) -> bytes:
    """The JSON line of a dataclass or of plain values, newline included."""
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


# The checksum is the last field of a line: `,"sum":"75313a3d"}` and the newline.
_SUM = re.compile(rb',"sum":"([0-9a-f]{8})"\}\n')
_SUM_BYTES = 19


def encode_summed(record: Any) -> bytes:
    r"""The JSON line of a record with the CRC-32 of all before it as a last field, `sum`.

    >>> encode_summed({"key": "k"})
    b'{"key":"k","sum":"75313a3d"}\n'
    """
    line = encode(record)[:-2]
    return b'%b,"sum":"%08x"}\n' % (line, zlib.crc32(line))


def sum_agrees(line: bytes) -> bool | None:
    """True where a line is as it was written, by its checksum; None where it has none."""
    # Most lines have none, which their bytes at its place tell faster than the pattern.
    if not line.startswith(b',"sum":"', -_SUM_BYTES):
        return None
    found = _SUM.fullmatch(line, len(line) - _SUM_BYTES)
    if found is None:
        return None
    return int(found[1], 16) == zlib.crc32(line[: found.start()])


def decode(line: bytes) -> Any:
    """The value of one JSON line.

    Raises:
        ValueError: the line is not JSON.
    """
    return orjson.loads(line)


@cache
def _decoder(kind: type[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


# msgspec has no error of its own for text that is not UTF-8, nor for values nested too deeply.
_UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def decode_as(kind: type[T], line: bytes) -> T:
    """Decodes a line that we wrote; fields unknown to the kind are skipped.

    Raises:
        ValueError: the line is not such a record.
    """
    try:
        record: T = _decoder(cast(Any, kind)).decode(line)
    except _UNDECODABLE as error:
        raise ValueError(f"not a {kind.__name__}: {error}") from None
    return record


def whole_lines(path: Path) -> Iterator[bytes]:
    """The complete lines of a file that we wrote; an incomplete last one is skipped.

    A missing file has none.

    Raises:
        DataError: it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            for line in stream:
                if line.endswith(b"\n"):
                    yield line
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def damaged(path: Path, line: int | None, what: object) -> DataError:
    """The error of a damaged file that we wrote, with the command that says more.

    Args:
        path: the file, in a run's folder.
        line: the number of the line, from 1; None for the whole file.
        what: the damage.
    """
    return DataError(
        f"is damaged: {what}",
        path=path,
        line=line,
        hint=f"autoj check {path.parent} says what is whole, and with --repair rebuilds all that "
        "can be rebuilt.",
    )


def read_records(path: Path, kind: type[T]) -> Iterator[T]:
    """The records of a file that we wrote, lazily; a missing file has none.

    Raises:
        DataError: a line is not such a record, or differs from its checksum.
    """
    decode_line = _decoder(cast(Any, kind)).decode
    number = 0
    try:
        for number, line in enumerate(whole_lines(path), start=1):
            if sum_agrees(line) is False:
                raise damaged(path, number, "the line differs from its checksum")
            yield decode_line(line)
    except _UNDECODABLE as error:
        raise damaged(path, number, f"not a {kind.__name__}: {error}") from None


def repair(path: Path) -> None:
    """Cuts off an incomplete last line, which a killed writer leaves.

    Raises:
        DataError: the file cannot be written.
    """
    if not path.exists():
        return
    try:
        stream = path.open("r+b")
    except OSError as error:
        raise storage_error(error, path) from error
    with stream:
        end = stream.seek(0, os.SEEK_END)
        position = end
        while position > 0:
            start = max(0, position - 65536)
            stream.seek(start)
            newline = stream.read(position - start).rfind(b"\n")
            if newline >= 0:
                position = start + newline + 1
                break
            position = start
        if position < end:
            stream.truncate(position)


def count_lines(path: Path) -> int:
    """The number of complete lines of a file; 0 for a missing one.

    Raises:
        DataError: it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def sha256_of(path: Path) -> str:
    """The sha256 (hex) of a file's content.

    Raises:
        DataError: it cannot be read.
    """
    try:
        with local_file(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise cannot_read(error, path) from None


class Appender:
    """Appends records to a file; each reaches the operating system before `append` returns.

    An incomplete last line is cut off first, so that a new record never continues it.
    """

    def __init__(self, path: Path, encode: Callable[[Any], bytes] = encode) -> None:
        """Opens a file, or makes one.

        Args:
            path: the file.
            encode: makes the line of a record, `encode` or `encode_summed`.

        Raises:
            DataError: it cannot be written.
        """
        self._path, self._encode = path, encode
        repair(path)
        try:
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise storage_error(error, path) from error

    def append(self, record: Any) -> int:
        """Writes one record.

        Returns:
            The length of its line in bytes.

        Raises:
            StorageFull: the disk is full; a partly written line is cut off again.
        """
        line = self._encode(record)
        try:
            written = 0
            while written < len(line):
                written += os.write(self._handle, line[written:])
        except OSError as error:
            repair(self._path)
            raise storage_error(error, self._path) from error
        return len(line)

    def sync(self) -> None:
        """Waits until everything written has reached the disk."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise storage_error(error, self._path) from error

    def close(self) -> None:
        """Syncs and closes the file."""
        try:
            self.sync()
        finally:
            os.close(self._handle)


def write_records(
    path: Path, records: Iterable[Any], encode: Callable[[Any], bytes] = encode
) -> int:
    """Writes a whole file atomically: it exists completely or not at all.

    Args:
        path: the file.
        records: its records, read lazily.
        encode: makes the line of a record, `encode` or `encode_summed`.

    Returns:
        The number of records.

    Raises:
        StorageFull: the disk is full.
        DataError: the path cannot be written.
    """
    draft = path.with_name(path.name + ".draft")
    n_records = 0
    try:
        with draft.open("wb") as stream:
            for record in records:
                stream.write(encode(record))
                n_records += 1
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
    except OSError as error:
        # On a path that cannot be written, removing fails as well.
        with suppress(OSError):
            draft.unlink()
        raise storage_error(error, path) from error
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return n_records
