"""Opens users' files: streams (stdin, named pipes, `<(zcat …)`) as files, and gzip files unpacked.

Data are read several times, but a stream only once: it is copied to a temporary file first. The
kind of what it holds is recognised from its first bytes.
"""

import atexit
import gzip
import io
import os
import re
import shutil
import stat
import tempfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, cast

from autoj.errors import DataError, StorageFull
from autoj.inputs.faults import ENDINGS, cannot_read, ending_of
from autoj.inputs.limits import stream_limit
from autoj.system_errors import is_full

_BLOCK_BYTES = 1 << 20
_STDIN = ("-", "/dev/stdin")
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})\Z", re.ASCII)
_LOCK = threading.Lock()
_COPIES: dict[tuple[str, int, int], Path] = {}
"""The copies that this process has made, by the stream's path, device and inode."""
_GZIP = b"\x1f\x8b"
_OTHERS = {
    b"(\xb5/\xfd": "zstdcat",
    b"BZh": "bzcat",
    b"\xfd7zXZ\x00": "xzcat",
    b'\x04"M\x18': "lz4cat",
}


@contextmanager
def open_file(path: Path) -> Iterator[io.BufferedReader]:
    """Opens a file for reading bytes, unpacked if it is a gzip file.

    Raises:
        DataError: there is no such file, it cannot be opened, or, while the block reads, it is
            damaged.
    """
    local = local_file(path)
    try:
        _check_file(local, path)
        with local.open("rb") as raw, unpacked(raw, local.name, path) as stream:
            yield stream
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError("the gzip file is damaged or incomplete", path=path) from None
    except OSError as error:
        raise cannot_read(error, path) from None


def _check_file(local: Path, path: Path) -> None:
    mode = local.stat().st_mode
    is_device = stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode)
    # A device such as /dev/zero has no end; the null device is an empty file.
    if is_device and local != Path(os.devnull):
        raise DataError("is a device or a socket, not a file", path=path)


def skip_blank_lines(stream: io.BufferedReader) -> int:
    """Passes over lines without content, quickly, and returns their number."""
    n_lines = 0
    while head := stream.peek(1):
        blank = len(head) - len(head.lstrip())
        end = head.rfind(b"\n", 0, blank) + 1
        if end == 0:
            break
        n_lines += head.count(b"\n", 0, end)
        stream.read(end)
    return n_lines


def skip_line(stream: io.BufferedReader, begun: bytes) -> Iterator[bytes]:
    """Passes over a line, and yields it in parts.

    Args:
        stream: the file.
        begun: what was read of the line.
    """
    part = begun
    while part:
        yield part
        if part.endswith(b"\n"):
            return
        part = stream.readline(_BLOCK_BYTES)


def is_stream(path: Path) -> bool:
    """True where a path names stdin, another open file, or a pipe: it can be read only once."""
    if str(path) in _STDIN or _DESCRIPTOR.match(str(path)):
        return True
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def stream_name(path: Path) -> str:
    """The name of a stream's data in names of runs: the same for the same command."""
    if str(path) in _STDIN:
        return "stdin"
    return "pipe" if _DESCRIPTOR.match(str(path)) else path.name.partition(".")[0]


def local_file(path: Path) -> Path:
    """The file to read for a path: the path itself, or the copy of a stream.

    A stream is copied when it is first asked for, and waits there for its data. The copy is kept
    until the process ends.

    Raises:
        DataError: stdin is a terminal or closed, or a stream is longer than the limit.
        StorageFull: the copy fills the disk.
    """
    if not is_stream(path):
        return path
    number = _descriptor(path)
    with _LOCK:
        try:
            found = path.stat() if number is None else os.fstat(number)
            identity = (str(path), found.st_dev, found.st_ino)
            if identity not in _COPIES:
                with _open_stream(path, number) as stream:
                    _COPIES[identity] = _copied(path, stream)
        except OSError as error:
            raise cannot_read(error, path) from None
        return _COPIES[identity]


@contextmanager
def unpacked(raw: io.BufferedReader, name: str, path: Path) -> Iterator[io.BufferedReader]:
    """The bytes of a file, unpacked if it is a gzip file; else the file itself.

    Args:
        raw: the open file, at its beginning.
        name: its name, which may end in `.gz`.
        path: the path that the user gave, for errors.

    Raises:
        DataError: it is packed in another way.
    """
    head = raw.peek(8)[:8]
    tool = next((tool for magic, tool in _OTHERS.items() if head.startswith(magic)), None)
    if tool is not None:
        raise DataError(
            "is compressed, and only .gz is read",
            path=path,
            hint=f"Unpack it first, or in one go: {tool} FILE | autoj judge -",
        )
    if not name.endswith(".gz") and not head.startswith(_GZIP):
        yield raw
        return
    with gzip.GzipFile(fileobj=raw, mode="rb") as packed:
        # A gzip file reads line by line in Python; a buffer around it does in C.
        yield io.BufferedReader(cast(io.RawIOBase, packed), _BLOCK_BYTES)


def _descriptor(path: Path) -> int | None:
    """The number of the open file that a path names; None for a named pipe."""
    if str(path) in _STDIN:
        return 0
    described = _DESCRIPTOR.match(str(path))
    return None if described is None else int(described[1])


def _open_stream(path: Path, number: int | None) -> IO[bytes]:
    if number is None:
        return path.open("rb", buffering=0)
    if os.isatty(number):
        raise DataError(
            "is a terminal, and no data are piped into it",
            path=path,
            hint="For example: zcat pairs.jsonl.gz | autoj judge -",
        )
    return os.fdopen(number, "rb", buffering=0, closefd=False)


def _copied(path: Path, stream: IO[bytes]) -> Path:
    limit = stream_limit()
    draft = _copies_folder() / f"{len(_COPIES)}"
    n_bytes = 0
    try:
        with draft.open("wb") as out:
            while block := stream.read(_BLOCK_BYTES):
                n_bytes += len(block)
                if n_bytes > limit:
                    raise DataError(
                        f"sends more than {limit / 1e6:,.0f} MB",
                        path=path,
                        hint="Write it to a file first, or raise the limit: "
                        "AUTOJ_MAX_STREAM_MB=N before the command.",
                    )
                out.write(block)
    except OSError as error:
        draft.unlink(missing_ok=True)
        if is_full(error):
            raise StorageFull(
                f"the disk is full: {draft.parent} has no room for a copy of {path}",
                hint="Free some space, or name another folder: TMPDIR=FOLDER before the command.",
            ) from error
        raise
    except DataError:
        draft.unlink()
        raise
    known = "".join(Path(path.name).suffixes[-2:]).lower()
    ending = known if known.removesuffix(".gz") in ENDINGS else _sniffed(draft)
    return draft.rename(draft.with_name(f"{draft.name}{ending}"))


def _sniffed(path: Path) -> str:
    with path.open("rb") as raw, unpacked(raw, path.name, path) as stream:
        packed = ".gz" if stream is not raw else ""
        return ending_of(stream.read(_BLOCK_BYTES)) + packed


@cache
def _copies_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="autoj-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
