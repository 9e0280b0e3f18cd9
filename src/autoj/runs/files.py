"""The files of a run, and the digests that say what they should hold.

`run.json` states for each file a `FileDigest` under `files`: its lines, its bytes, and its sha256.
A file that only grows may be longer than its digest, which then is that of its beginning; a folder
of version 0.1 states none.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson

CASES, PLAN, FOLLOW = "cases.jsonl", "plan.jsonl", "follow.jsonl"
LEDGER, FAILURES = "ledger.jsonl", "failures.jsonl"
VERDICTS, BAD_ROWS, TIMINGS = "verdicts.jsonl", "bad_rows.jsonl", "timings.jsonl"

State: TypeAlias = Literal["whole", "longer", "shorter", "differs", "missing", "no digest"]
""""whole" is as its digest says; "longer" begins so and goes on; "shorter" has fewer bytes;
"differs" has other ones; "missing" is not there although it has a digest."""

_BLOCK = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDigest:
    """The content of a file in short."""

    n_lines: int
    n_bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path, n_bytes: int | None = None) -> "FileDigest | None":
        """The digest of a file, or of its first bytes; None where there is none.

        Args:
            path: the file.
            n_bytes: the length to read; None reads it all.
        """
        digest, n_lines, left = hashlib.sha256(), 0, n_bytes
        try:
            with path.open("rb") as stream:
                n_read = 0
                while block := stream.read(_BLOCK if left is None else min(_BLOCK, left)):
                    digest.update(block)
                    n_lines += block.count(b"\n")
                    n_read += len(block)
                    left = None if left is None else left - len(block)
        except OSError:
            return None
        return cls(n_lines=n_lines, n_bytes=n_read, sha256=digest.hexdigest())

    @classmethod
    def parse(cls, value: Any) -> "FileDigest | None":
        """The digest that `run.json` states; None where it states none that can be read."""
        match value:
            case {"n_lines": int(n_lines), "n_bytes": int(n_bytes), "sha256": str(sha256)}:
                return cls(n_lines=n_lines, n_bytes=n_bytes, sha256=sha256)
        return None


def digests_in(record: Mapping[str, Any]) -> dict[str, FileDigest]:
    """The digests by file name that the content of `run.json` states."""
    files = record.get("files")
    found = {} if not isinstance(files, dict) else files
    parsed = {str(name): FileDigest.parse(value) for name, value in found.items()}
    return {name: digest for name, digest in parsed.items() if digest is not None}


def digests_of(folder: Path) -> dict[str, FileDigest]:
    """The digests that a folder's `run.json` states; none where it cannot be read.

    Readers of single files ask here; that `run.json` is damaged is told by `read_settings`.
    """
    try:
        record = orjson.loads((folder / "run.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return digests_in(record) if isinstance(record, dict) else {}


def with_digests(
    record: Mapping[str, Any], digests: Mapping[str, FileDigest | None]
) -> dict[str, Any]:
    """The content of `run.json` with other digests of some files; None takes one out."""
    files = {name: asdict(digest) for name, digest in digests_in(record).items()}
    for name, digest in digests.items():
        files.pop(name, None)
        if digest is not None:
            files[name] = asdict(digest)
    bare = {name: value for name, value in record.items() if name != "files"}
    return {**bare, "files": files} if files else bare


def state_of(path: Path, digest: FileDigest | None) -> State:
    """Compares a file with its digest.

    Args:
        path: the file.
        digest: what it should hold; None where that is not recorded.
    """
    if digest is None:
        return "no digest"
    found = FileDigest.of(path, digest.n_bytes)
    if found is None:
        return "missing"
    if found.n_bytes < digest.n_bytes:
        return "shorter"
    if found.sha256 != digest.sha256:
        return "differs"
    return "longer" if _has_line_after(path, digest.n_bytes) else "whole"


def _has_line_after(path: Path, n_bytes: int) -> bool:
    """True where a whole line follows; an incomplete one is skipped by all readers."""
    with path.open("rb") as stream:
        stream.seek(n_bytes)
        return any(b"\n" in block for block in iter(lambda: stream.read(_BLOCK), b""))


def describe(state: State, path: Path, digest: FileDigest) -> str:
    """Says how a file differs from its digest."""
    match state:
        case "missing":
            return f"it is missing; run.json records {digest.n_lines:,} lines"
        case "shorter":
            found = FileDigest.of(path)
            n_lines = 0 if found is None else found.n_lines
            return f"it has {n_lines:,} lines, and run.json records {digest.n_lines:,}"
        case "longer":
            return f"it has more than the {digest.n_lines:,} lines that run.json records"
        case "differs":
            return "its content differs from the digest in run.json"
        case _:
            return "it is as run.json records"
