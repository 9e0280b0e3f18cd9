"""Unpacks gzip files, and says of other packings which tool unpacks them."""

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from autoj.errors import DataError

_BLOCK_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_OTHERS = {
    b"(\xb5/\xfd": "zstdcat",
    b"BZh": "bzcat",
    b"\xfd7zXZ\x00": "xzcat",
    b'\x04"M\x18': "lz4cat",
}


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
