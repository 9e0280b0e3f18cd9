"""Mutated YAML files: shipped ones with odd values, deep nesting, aliases, and damaged bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import autoj

SOURCE = Path(autoj.__file__).parent
RECIPES = Path(__file__).parents[2] / "recipes"

ODD = [
    "2024-02-30", "2024-01-01", "2001-12-14t21:59:43.10-05:00", "12:30:45", "-1:60", "1:30.5",
    "0777", "0x1F", "0b", "0b1", "0o17", "1__0", "1_", "+", "-", ".", "._", ".5", "5.", "1e5",
    "1.e+9999", ".inf", "-.INF", ".nan", "9" * 5000, "-" + "9" * 40, "1" * 19, "1.5e-400", "yes",
    "No", "on", "Y", "~", "null", "''", '""', "[]", "{}", "[[[[]]]]", "- - - a", "<<",
    "{<<: {a: 1}}", "{<<: 3}", "{<<: [1]}", "{1: 2}", "{true: 1}", "{[a]: b}", "{{a: b}: c}",
    "{~: 1}", "? a", "{a: 1, a: 2}", "=", "!!binary aGk=", "!!set {a}", "!!omap [a: 1]",
    "!!timestamp x", "!!int x", "!!float x", "!!bool x", "!!null x", "!!str 5", "!!seq {a: 1}",
    "!!map [1]", "!!python/object/apply:os.system [true]", "!!python/name:os.system ''",
    "!include x", "!include autoj:shared/basic", "!include ../../../../etc/passwd", "!t x", "! 5",
    "*a", "&a b", "&a [*a]", "&a {b: *a}", '"\\0"', '"\\e[2J"', '"\\ud800"', '"\\U0010FFFF"',
    "'\u202e'", "x" * 3000, "\u00e9\u4e2d", "|\n  text", ">-\n  text", "{" * 40, "[" * 400,
    "[" * 40 + "]" * 40, "@", "`", "%", "#", "os.path", "posixpath", "../..", "/", "~/x", "a\tb",
    "18446744073709551616", "-9223372036854775808", "1e400", '"1e400"', '"nan"',
    '"' + "9" * 30 + '"', "http://u:p@h/v1?key=sk-123456789", "http://h:99999/v1",
]  # fmt: skip
"""Values that a field may get."""

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{below}'] * 9)}]\n"
    for below, name in zip("abcdefgh", "bcdefghi", strict=True)
)
DEEP = [
    "[" * 100_000,
    "{a: " * 3000,
    "\n".join(" " * depth + "a:" for depth in range(1000)),
    "- " * 900,
]


def shipped() -> dict[str, list[str]]:
    """The texts of shipped cards, recipes and scenarios, which mutants are made of."""
    cards = sorted((SOURCE / "judges").glob("*.yaml"))
    scenarios = sorted((SOURCE / "scenarios" / "data" / "criteria").glob("*.yaml"))
    recipes = sorted(RECIPES.glob("*.yaml"))
    kinds = {"card": cards, "recipe": recipes, "scenario": scenarios}
    return {kind: [path.read_text("utf-8") for path in paths] for kind, paths in kinds.items()}


def mutants(texts: list[str], n: int, seed: int) -> Iterator[bytes]:
    """Draws mutants: most have an odd value or two, some are damaged, the first are bombs."""
    draw = random.Random(seed)
    for special in (BOMB, *DEEP, ""):
        yield special.encode()
        yield (draw.choice(texts) + "\nnotes2:\n  " + special).encode()
    for _ in range(n):
        text = draw.choice(texts)
        for _ in range(draw.choice((1, 1, 2, 4))):
            text = draw.choice((_with_odd_value, _with_odd_value, _with_odd_key, _with_line))(
                text, draw
            )
        data = text.encode("utf-8", "surrogatepass")
        yield _damaged(data, draw) if draw.random() < 0.2 else data


def _with_odd_value(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    number = draw.randrange(len(lines))
    key, colon, _ = lines[number].partition(":")
    lines[number] = f"{key}{colon} {draw.choice(ODD)}" if colon else draw.choice(ODD)
    return "\n".join(lines)


def _with_odd_key(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    number = draw.randrange(len(lines))
    key, colon, value = lines[number].partition(":")
    indent = key[: len(key) - len(key.lstrip())]
    lines[number] = f"{indent}{draw.choice(ODD)}{colon}{value}"
    return "\n".join(lines)


def _with_line(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    number = draw.randrange(len(lines))
    line = lines.pop(number)
    changed = ["", line + "\n" + line, "  " + line, line[: len(line) // 2], line.replace(":", "")]
    lines.insert(draw.randrange(len(lines) + 1), draw.choice(changed))
    return "\n".join(lines)


def _damaged(data: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(data) + 1)
    return draw.choice((
        data[:place],
        data[:place] + bytes([draw.randrange(256)]) + data[place + 1 :],
        data[:place] + draw.randbytes(draw.randrange(1, 40)) + data[place:],
        data[:place] + data[place : place + 40] * draw.choice((2, 200)) + data[place + 40 :],
    ))  # fmt: skip
