"""Opens users' files and passes over parts of them, quickly and with little memory."""

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autoj.errors import DataError
from autoj.inputs.faults import cannot_read
from autoj.inputs.packing import unpacked
from autoj.inputs.streams import local_file

_BLOCK_BYTES = 1 << 20


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
