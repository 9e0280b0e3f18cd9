"""The manifest of a run in a store: each file of the run as pieces, and who writes it."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from autoj.errors import DataError
from autoj.jsonl import decode_as, encode_summed, sum_agrees
from autoj.runs.files import BAD_ROWS, CASES, FAILURES, FOLLOW, LEDGER, PLAN, TIMINGS, VERDICTS
from autoj.runs.stores.address import StoreAddress, is_name
from autoj.runs.stores.objects import Absent, Objects

GROWING = (LEDGER, FAILURES)
"""Files that only grow, and so have pieces."""
NEEDED = ("run.json", CASES, BAD_ROWS)
"""Files without which a folder is no run, `run.json` first: others may be longer than it says."""
DERIVED = (PLAN, FOLLOW, VERDICTS, TIMINGS)
"""Files that follow from the others."""
SHARDS = "shards.json"
"""The list of a run's shards, in the folder of all of them."""

_PIECE = re.compile(r"[a-z_.]+\.[0-9a-f]{40}")
_NAME = re.compile(r"manifest-(\d{12})\.json")
_SHA256 = re.compile("[0-9a-f]{64}")
_DIGITS = 40
"""Of the digest in the name of an object."""
_KEPT = 3
"""Manifests that stay, for readers that have listed them, and where the last one is cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The content of an object: a whole file, or some bytes of one that grows."""

    n_bytes: int
    n_lines: int
    sha256: str

    @classmethod
    def of(cls, stream: BinaryIO) -> "Piece":
        """The content of a stream."""
        digest, n_bytes, n_lines = hashlib.sha256(), 0, 0
        while block := stream.read(1 << 20):
            digest.update(block)
            n_bytes += len(block)
            n_lines += block.count(b"\n")
        return cls(n_bytes=n_bytes, n_lines=n_lines, sha256=digest.hexdigest())

    def key(self, file: str) -> str:
        """The name of its object."""
        return f"{file}.{self.sha256[:_DIGITS]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """The process that writes a run."""

    id: str
    """Drawn at random."""
    name: str
    """The process and the host, for people."""
    seconds: float
    """It commits at least so often; one that has not for several times as long is dead."""


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


def read_manifest(objects: Objects) -> Manifest:
    """The last manifest of a run; one of no files where there is none.

    One that is cut off was never committed: the one before it counts.

    Raises:
        DataError: none can be read.
    """
    names = manifest_names(objects)
    for name in reversed(names):
        # It may be replaced meanwhile, by a writer that is at work.
        try:
            found = _decoded(objects.read(name))
        except (Absent, ValueError):
            continue
        if manifest_name(found.number) == name:
            return found
    if names:
        raise DataError(
            "is damaged: none of its manifests can be read",
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
    names = manifest_names(objects)
    try:
        if names[-1:] != [name] or objects.read(name) != content:
            return False
    except Absent:
        return False
    for old in names[:-_KEPT]:
        objects.remove(old)
    return True


def manifest_names(objects: Objects) -> list[str]:
    """The names of all manifests that are there, the last one last."""
    return [name for name in objects.names() if _NAME.fullmatch(name)]


def is_piece(name: str) -> bool:
    """True for the name of a piece's object."""
    return _PIECE.fullmatch(name) is not None


def is_run_name(name: str) -> bool:
    """True for a name that may be a run's in a folder of several, and leads nowhere else."""
    return is_name(name) and not is_piece(name) and _NAME.fullmatch(name) is None


def last_number(objects: Objects) -> int:
    """The number of the last manifest, also of one that is cut off; 0 where there is none."""
    return max((int(name[9:21]) for name in manifest_names(objects)), default=0)


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


def _decoded(content: bytes) -> Manifest:
    if sum_agrees(content) is not True:
        raise ValueError("it differs from its checksum")
    found = decode_as(Manifest, content)
    if not set(found.files) <= {*GROWING, *NEEDED, *DERIVED, SHARDS}:
        raise ValueError("it names other files than those of a run")
    if not all(_SHA256.fullmatch(piece.sha256) for piece in _pieces(found)):
        raise ValueError("it has a digest that is none")
    return found


def _pieces(manifest: Manifest) -> Iterator[Piece]:
    for pieces in manifest.files.values():
        yield from pieces
