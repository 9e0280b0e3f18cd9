"""Stores the files of a local folder as pieces: each whole file as one, and new lines of a ledger.

Pieces are named after the session that stores them and their content, and never change. What is
stored counts once a manifest names it, which is the work of `ownership`.
"""

import io
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from autoj.errors import DataError
from autoj.runs.stores.manifest import GROWING, Manifest, Piece
from autoj.runs.stores.objects import Objects

_MOST_BYTES = 32 << 20
"""Of a piece of several lines."""


class LocalFiles:
    """The files of a run in a local folder, of which what is new is stored."""

    def __init__(self, folder: Path, objects: Objects) -> None:
        """Names the folder, and where its files are stored; nothing is read yet."""
        self._folder, self._objects = folder, objects
        self._mark = secrets.token_hex(4)
        self._written: dict[str, tuple[tuple[int, int, int], Piece]] = {}
        """Of each whole file its inode, time and size when it was stored, and the piece."""

    def store(self, whole: Sequence[str], found: Manifest) -> Mapping[str, tuple[Piece, ...]]:
        """Stores what is new, and leaves out what is not here any more, as old verdicts.

        Args:
            whole: the files that are stored if they have changed, beside those that grow.
            found: the state that is stored.

        Returns:
            The pieces of all files, for the next manifest.

        Raises:
            DataError: a file that grows has lost lines.
            Unavailable: the store is down.
            OSError: a file cannot be read.
        """
        kept = {
            name: pieces
            for name, pieces in found.files.items()
            if name in GROWING or (self._folder / name).exists()
        }
        # The settings first: other files may then be longer than these say, and not shorter.
        files = {name: self._store_whole(name, found) for name in whole}
        files |= {name: self._store_lines(name, found) for name in GROWING}
        return kept | {name: pieces for name, pieces in files.items() if pieces}

    def _store_whole(self, name: str, found: Manifest) -> tuple[Piece, ...]:
        """Stores a file that is replaced as a whole, if it has changed."""
        try:
            stream = (self._folder / name).open("rb")
        except FileNotFoundError:
            return ()
        # A file that is replaced meanwhile stays the same under this handle.
        with stream:
            status = os.fstat(stream.fileno())
            mark = (status.st_ino, status.st_mtime_ns, status.st_size)
            if name not in self._written or self._written[name][0] != mark:
                piece = replace(Piece.of(stream), mark=self._mark)
                if found.files.get(name) == (piece,):
                    # Perhaps under another session's mark.
                    piece = found.files[name][0]
                else:
                    stream.seek(0)
                    self._objects.write(piece.key(name), stream)
                self._written[name] = (mark, piece)
        return (self._written[name][1],)

    def _store_lines(self, name: str, found: Manifest) -> tuple[Piece, ...]:
        """Stores the lines that a file has got."""
        pieces = found.files.get(name, ())
        start = sum(piece.n_bytes for piece in pieces)
        try:
            stream = (self._folder / name).open("rb")
        except FileNotFoundError:
            return pieces
        with stream:
            n_new = os.fstat(stream.fileno()).st_size - start
            if n_new < 0:
                raise DataError(
                    "has fewer lines than are stored",
                    path=self._folder / name,
                    hint="Leave the local copy to autoj; the same command fetches it again.",
                )
            if not _lines_at(stream, start):
                return pieces
            kept = _large_enough(pieces, n_new)
            return (*kept, *self._store_pieces(name, stream, sum(its.n_bytes for its in kept)))

    def _store_pieces(self, name: str, stream: BinaryIO, start: int) -> list[Piece]:
        pieces = []
        while content := _lines_at(stream, start):
            piece = replace(Piece.of(io.BytesIO(content)), mark=self._mark)
            self._objects.write(piece.key(name), io.BytesIO(content))
            pieces.append(piece)
            start += piece.n_bytes
        return pieces


def _large_enough(pieces: tuple[Piece, ...], n_new: int) -> tuple[Piece, ...]:
    """The pieces that stay as they are when so many bytes are added.

    Small ones at the end are stored again with what is new, each about as often as the logarithm of
    the file's size: so the pieces stay few and the manifest short.
    """
    kept = [*pieces]
    while kept and kept[-1].n_bytes <= n_new <= _MOST_BYTES - kept[-1].n_bytes:
        n_new += kept.pop().n_bytes
    return tuple(kept)


def _lines_at(stream: BinaryIO, start: int) -> bytes:
    """The whole lines from a position on, as many as a piece may have, or one that is longer."""
    stream.seek(start)
    content = stream.read(_MOST_BYTES)
    if len(content) == _MOST_BYTES and b"\n" not in content:
        content += stream.readline()
    return content[: content.rfind(b"\n") + 1]
