"""The manifest of a run in a store: each file of the run as pieces, and who writes it."""

import hashlib
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from autoj.errors import DataError, Unavailable
from autoj.jsonl import decode_as, encode_summed, sum_agrees
from autoj.runs.files import BAD_ROWS, CASES, FAILURES, FOLLOW, LEDGER, PLAN, TIMINGS, VERDICTS
from autoj.runs.kind import JURY_FILE
from autoj.runs.stores.address import StoreAddress, is_manifest, is_piece
from autoj.runs.stores.objects import Absent, Objects

GROWING = (LEDGER, FAILURES)
"""Files that only grow, and so have pieces."""
NEEDED = ("run.json", CASES, BAD_ROWS)
"""Files without which a folder is no run, `run.json` first: others may be longer than it says."""
DERIVED = (PLAN, FOLLOW, VERDICTS, TIMINGS)
"""Files that follow from the others."""
SHARDS = "shards.json"
"""The list of a run's shards, in the folder of all of them."""

FILES = frozenset({*GROWING, *NEEDED, *DERIVED, SHARDS, JURY_FILE})
"""All files that a stored run, a list of shards or a jury may have."""

# The end is also known with its last byte changed.
_START, _END = b'{"number":', re.compile(rb'\n\Z|,"sum":"[^"]{8}"\}.\Z', re.DOTALL)
_SHA256, _MARK = re.compile("[0-9a-f]{64}"), re.compile("(?:[0-9a-f]{8})?")
_DIGITS = 40
"""Of its writer's mark and of the digest in the name of an object."""
_TRIES = 5
_KEPT = 3
"""Manifests that stay, for readers that have listed them, and where the last one is cut off."""

LONGEST_SECONDS = 3600.0
"""Of a writer's interval: whoever goes on waits for three of them."""
# What is read into memory, and what others wait for, has limits that a damaged manifest keeps.
_MOST_MANIFEST_BYTES, _MOST_BYTES, _MOST_GROWING_BYTES = 64 << 20, 1 << 50, 1 << 30
_LAST_NUMBER = 10**12 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The content of an object: a whole file, or some bytes of one that grows."""

    n_bytes: int
    n_lines: int
    sha256: str
    mark: str = field(default="", compare=False)
    """Eight hex digits of the session that stored it, or none: others store the same content under
    other names, and so remove nothing that this one has stored."""

    @classmethod
    def of(cls, stream: BinaryIO, most_bytes: int = sys.maxsize) -> "Piece":
        """The content of a stream from where it is, of at most so many bytes."""
        digest, n_bytes, n_lines = hashlib.sha256(), 0, 0
        while block := stream.read(min(1 << 20, most_bytes - n_bytes)):
            digest.update(block)
            n_bytes += len(block)
            n_lines += block.count(b"\n")
        return cls(n_bytes=n_bytes, n_lines=n_lines, sha256=digest.hexdigest())

    def key(self, file: str) -> str:
        """The name of its object."""
        return f"{file}.{self.mark}{self.sha256}"[: len(file) + 1 + _DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """The process that writes a run."""

    id: str
    """Drawn at random."""
    name: str
    """The process and the host, for people."""
    seconds: float
    """It commits at least so often, up to an hour; one that has not for several times as long is
    dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The state of a run after a commit."""

    number: int = 0
    """Commits so far; 0 where there is nothing."""
    writer: Writer | None = None
    """None once its writer has ended in order."""
    files: Mapping[str, tuple[Piece, ...]] = field(default_factory=dict)
    """Of each file that is there, its pieces in order."""

    def keys(self) -> set[str]:
        """The names of all its objects."""
        return {piece.key(name) for name, pieces in self.files.items() for piece in pieces}


def read_manifest(objects: Objects, known: int = 0) -> Manifest:
    """The last manifest of a run; one of no files where there is none.

    One that is cut off was never committed: the one before it counts, under the number of the last
    name that is there, so that the number after it is free.

    Args:
        objects: the run.
        known: the number of a manifest that was committed, which a list may not show yet; 0 for
            none.

    Raises:
        DataError: it is damaged, or all are cut off where there are pieces.
        Unavailable: manifests are replaced faster than they can be read.
    """
    for _ in range(_TRIES):
        # One that is listed may be replaced before it is read, by a writer that is at work.
        with suppress(Absent):
            names = manifest_names(objects)
            last = manifest_name(known)
            if known and names[-1:] < [last] and objects.holds(last):
                names.append(last)
            return _last_of(objects, names)
    raise Unavailable(
        f"{objects.address}: its manifests are listed, and not there", hint="Try again."
    )


def _last_of(objects: Objects, names: list[str]) -> Manifest:
    for name in reversed(names):
        content = objects.read(name, _MOST_MANIFEST_BYTES)
        if len(content) < _MOST_MANIFEST_BYTES and _is_cut_off(content):
            continue
        try:
            found = _decoded(content)
            if manifest_name(found.number) != name:
                raise ValueError("it has another number than its name")
            if _number(names[-1]) == _LAST_NUMBER:
                raise ValueError("there is no number after its own")
        except ValueError as error:
            raise DataError(
                f"is damaged: {error}",
                path=f"{objects.address}/{name}",
                hint=restoring(objects.address),
            ) from None
        return replace(found, number=_number(names[-1]))
    if names and not any(map(is_piece, objects.names())):
        # Claims of a run that has no files yet were cut off.
        return Manifest(number=_number(names[-1]))
    if names:
        raise DataError(
            "is damaged: none of its manifests is whole",
            path=f"{objects.address}/{names[-1]}",
            hint=restoring(objects.address),
        )
    return Manifest()


def commit(objects: Objects, manifest: Manifest) -> bool:
    """Makes a manifest the last one; False where another writer has committed since.

    Raises:
        Unavailable: the store is down; it may be committed or not, and the next one is another.
    """
    name, content = manifest_name(manifest.number), encode_summed(manifest)
    objects.create(name, content)
    # A list may lack what was made just now.
    names = sorted({*manifest_names(objects), name})
    try:
        if names[-1] != name or objects.read(name, _MOST_MANIFEST_BYTES) != content:
            return False
    except Absent:
        return False
    for old in names[:-_KEPT]:
        objects.remove(old)
    return True


def manifest_names(objects: Objects) -> list[str]:
    """The names of all manifests that are there, the last one last."""
    return [name for name in objects.names() if is_manifest(name)]


def manifest_name(number: int) -> str:
    """The name of a manifest's object."""
    return f"manifest-{number:012}.json"


def restoring(address: StoreAddress) -> str:
    """The way out where an object is damaged."""
    return (
        "Restore the object, if the bucket keeps versions. Else remove "
        f"{address} and repeat the command: a machine with a copy stores it again, and what no "
        "copy has is asked again."
    )


def _number(name: str) -> int:
    return int(name[len("manifest-") : -len(".json")])


def _is_cut_off(content: bytes) -> bool:
    """True for a beginning of a manifest, as a writer leaves it that is killed meanwhile."""
    return content[: len(_START)] == _START[: len(content)] and _END.search(content) is None


def _decoded(content: bytes) -> Manifest:
    if sum_agrees(content) is not True:
        raise ValueError("it differs from its checksum")
    found = decode_as(Manifest, content)
    if not FILES.issuperset(found.files):
        raise ValueError("it names other files than those of a run")
    if not all(_SHA256.fullmatch(piece.sha256) for piece in _pieces(found)):
        raise ValueError("it has a digest that is none")
    if not all(_MARK.fullmatch(piece.mark) for piece in _pieces(found)):
        raise ValueError("it has a mark that no session has")
    if found.writer is not None and not 0 < found.writer.seconds <= LONGEST_SECONDS:
        raise ValueError(f"its writer commits every {found.writer.seconds:g} s")
    for name, pieces in found.files.items():
        most = _MOST_GROWING_BYTES if name in GROWING else _MOST_BYTES
        if not all(0 <= its.n_lines <= its.n_bytes <= most for its in pieces):
            raise ValueError(f"it has a piece of {name} with a size that none has")
    return found


def _pieces(manifest: Manifest) -> Iterator[Piece]:
    for pieces in manifest.files.values():
        yield from pieces
