"""Damages files at random, repeatably: bytes, lines, encodings, and the values of JSON rows."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from typing import Any

Mutation = Callable[[random.Random, bytes], bytes]

MARKER = "\u0000here\u0000"
"""Stands in a row for a value that cannot be written by `json.dumps`."""
RAW_VALUES = [
    "NaN", "Infinity", "-Infinity", "1e999", "-0", "1" * 5000, "-" + "9" * 5000, "0." + "3" * 5000,
    '"\\ud800"', '"\\u0000"', '"\\udc00\\ud83d"', "[" * 300 + "]" * 300, "[" * 90 + "]" * 90,
    '{"a":' * 300 + "1" + "}" * 300, "[" * 2000 + "]" * 2000, "[" * 100_000, '{"a":1,"a":2}',
    "18446744073709551616", "9223372036854775808", "tru", "1.", '"' + "x" * 70_000 + '"',
    '"\\u202e\\u001b[2J"', '[{"role":"user","content":[]}]', '[[["x"]]]', '"[\\"\\\\ud83d\\"]"',
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, 1, 2, -1, 1.5, 1e300, "", " ", "a", "tie", "C", "1", "x", [], {}, [None],
    ["x"], ["x", "y"], [["x"]], {"x": 1}, {"": None}, [{"role": "user"}], [{"text": 5}],
    [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}], "[1]", '["x"]',
    "\ufeff", "\u2028", "é" * 10, "0" * 5000,
]  # fmt: skip


def mutate(random_: random.Random, content: bytes) -> bytes:
    """Damages a file in one to three ways."""
    for _ in range(random_.choice([1, 1, 1, 2, 3])):
        content = random_.choice(MUTATIONS)(random_, content)
    return content


def flip_byte(random_: random.Random, content: bytes) -> bytes:
    if not content:
        return b"\xff"
    at = random_.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << random_.randrange(8))]) + content[at + 1 :]


def cut(random_: random.Random, content: bytes) -> bytes:
    return content[: random_.randrange(len(content) + 1)]


def drop_part(random_: random.Random, content: bytes) -> bytes:
    start = random_.randrange(len(content) + 1)
    return content[:start] + content[start + random_.randrange(1, 30) :]


def double_part(random_: random.Random, content: bytes) -> bytes:
    start = random_.randrange(len(content) + 1)
    end = start + random_.randrange(1, 200)
    return content[:end] + content[start:end] + content[end:]


def double_line(random_: random.Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True) or [b"\n"]
    at = random_.randrange(len(lines))
    return b"".join([*lines[: at + 1], *lines[at:]])


def shuffle_lines(random_: random.Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    random_.shuffle(lines)
    return b"".join(lines)


def insert_junk(random_: random.Random, content: bytes) -> bytes:
    junk = random_.choice(
        [b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n\n \n", b"\x1a", b'"', b"\\", b"{", b"]",
         b"\xed\xa0\x80", b"\x0c\n", b"\xe2\x80\xa8", b",", b";", b"\t"]
    )  # fmt: skip
    at = random_.randrange(len(content) + 1)
    return content[:at] + junk + content[at:]


def encode_otherwise(random_: random.Random, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    encoding = random_.choice(["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-8-sig"])
    return text.encode(encoding, "replace")


def end_lines_otherwise(random_: random.Random, content: bytes) -> bytes:
    return content.replace(b"\n", random_.choice([b"\r\n", b"\r", b"\n\r\n", b" \n"]))


def change_value(random_: random.Random, content: bytes) -> bytes:
    """Puts another value into a row of JSON lines, anywhere; else damages bytes."""
    lines = content.splitlines()
    at = random_.randrange(len(lines)) if lines else 0
    try:
        row = json.loads(lines[at])
    except (ValueError, IndexError, RecursionError):
        return flip_byte(random_, content)
    raw = random_.random() < 0.5
    row = _changed(random_, row, MARKER if raw else random_.choice(VALUES))
    text = json.dumps(row)
    if raw:
        text = text.replace(json.dumps(MARKER), random_.choice(RAW_VALUES))
    lines[at] = text.encode("utf-8", "surrogatepass")
    return b"\n".join(lines) + b"\n"


def _changed(random_: random.Random, value: Any, new: Any) -> Any:
    if isinstance(value, dict) and value and random_.random() < 0.85:
        name = random_.choice(list(value))
        kind = random_.random()
        if kind < 0.1:
            return {key: item for key, item in value.items() if key != name}
        if kind < 0.15:
            return {**value, random_.choice(["id", "label", "meta", "responses", ""]): new}
        return {**value, name: _changed(random_, value[name], new)}
    if isinstance(value, list) and value and random_.random() < 0.7:
        at = random_.randrange(len(value))
        return [*value[:at], _changed(random_, value[at], new), *value[at + 1 :]]
    return new


def damage_packing(random_: random.Random, content: bytes) -> bytes:
    packed = gzip.compress(content, mtime=0)
    return random_.choice([flip_byte, cut, double_part])(random_, packed)


MUTATIONS: list[Mutation] = [
    flip_byte, cut, drop_part, double_part, double_line, shuffle_lines, insert_junk,
    encode_otherwise, end_lines_otherwise, change_value, change_value, change_value, change_value,
    change_value, change_value,
]  # fmt: skip
