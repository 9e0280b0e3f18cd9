"""Run folders as version 0.1 left them, and ways to damage the files of a folder."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path


def without_digests(path: Path) -> None:
    """Take the digests out of a folder's `run.json`, which version 0.1 did not write."""
    record = json.loads((path / "run.json").read_bytes())
    for name in ("sha256", "files"):
        record.pop(name, None)
    (path / "run.json").write_text(json.dumps(record))


# From a file's content and a random generator to other content; None deletes the file.
Damage = Callable[[bytes, random.Random], bytes | None]


def _flip(content: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]


def _flip_late_in_a_key(content: bytes, draw: random.Random) -> bytes:
    starts = [place for place in range(len(content)) if content.startswith(b'"key":"', place)]
    if not starts:
        return _flip(content, draw)
    place = draw.choice(starts) + 7 + draw.randrange(56, 65)
    return content[:place] + bytes([content[place] ^ 1 << draw.randrange(7)]) + content[place + 1 :]


def _lines(change: Callable[[list[bytes], int], list[bytes]]) -> Damage:
    def damage(content: bytes, draw: random.Random) -> bytes:
        lines = content.splitlines(keepends=True)
        return b"".join(change(lines, draw.randrange(len(lines))))

    return damage


def _other_value(content: bytes, draw: random.Random) -> bytes:
    """One value of a line, or of the file, becomes one of another type."""
    lines = content.splitlines(keepends=True)
    place = draw.randrange(len(lines))
    try:
        record = json.loads(lines[place])
    except ValueError:
        return _flip(content, draw)
    if not isinstance(record, dict):
        return _flip(content, draw)
    values = (None, -1, 10**30, 0.5, "", "x", [], {}, [9, 9], True, [[]], {"a": [None]})
    record[draw.choice(sorted(record))] = draw.choice(values)
    lines[place] = json.dumps(record).encode() + b"\n"
    return b"".join(lines)


DAMAGES: Mapping[str, Damage] = {
    "a bit flipped": _flip,
    "a bit of a key flipped": _flip_late_in_a_key,
    "a byte doubled": lambda content, draw: (
        content[: (place := draw.randrange(len(content))) + 1] + content[place:]
    ),
    "a byte gone": lambda content, draw: (
        content[: (place := draw.randrange(len(content)))] + content[place + 1 :]
    ),
    "a block of zeros": lambda content, draw: (
        content[: (place := draw.randrange(len(content)))] + bytes(64) + content[place + 64 :]
    ),
    "cut": lambda content, draw: content[: draw.randrange(len(content))],
    "a line gone": _lines(lambda lines, at: lines[:at] + lines[at + 1 :]),
    "a line doubled": _lines(lambda lines, at: lines[: at + 1] + lines[at:]),
    "a line repeated at the end": _lines(lambda lines, at: [*lines, lines[at]]),
    "a line moved to the end": _lines(lambda lines, at: [*lines[:at], *lines[at + 1 :], lines[at]]),
    "lines from here on gone": _lines(lambda lines, at: lines[:at]),
    "half of a line gone": _lines(
        lambda lines, at: [*lines[:at], lines[at][: len(lines[at]) // 2] + b"\n", *lines[at + 1 :]]
    ),
    "two lines joined": _lines(
        lambda lines, at: [*lines[:at], lines[at].rstrip(b"\n"), *lines[at + 1 :]]
    ),
    "reversed": lambda content, draw: b"".join(reversed(content.splitlines(keepends=True))),
    "doubled": lambda content, draw: content + content,
    "empty": lambda content, draw: b"",
    "gone": lambda content, draw: None,
    "another value": _other_value,
}


def damage_file(path: Path, name: str, draw: random.Random) -> bool:
    """Damage a file.

    Returns:
        True where it is another file now.
    """
    content = path.read_bytes()
    found = DAMAGES[name](content, draw) if content else None
    if found is None:
        path.unlink()
        return bool(content)
    path.write_bytes(found)
    return found != content
