"""Docstrings name a thing or say what it does: no first line begins with a question word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import autoj

PACKAGE = Path(autoj.__file__).parent
_WORDS = r"(What|How|Whether|Where|Which|Who|When|Why)\b"
QUESTION = re.compile(_WORDS)
QUOTED = re.compile(r"""["']\s*""" + _WORDS)
"""A text that begins with such a word: of files without one, none is parsed."""


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The docstrings of a file and the texts under its fields and constants, with their lines."""
    for node in ast.walk(tree):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            for statement in block if isinstance(block, list) else ():
                match statement:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        yield statement.lineno, text


def test_no_docstring_begins_with_a_question_word() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text.strip().splitlines()[0]}"
        for path, source in sources.items()
        if QUOTED.search(source)
        for line, text in _docstrings(ast.parse(source))
        if QUESTION.match(text.strip())
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        '"""What it is."""',
        'def f():\n    """How it works."""',
        'class C:\n    x: int\n    """Whether it is."""',
        'N = 3\n"""Where it lies."""',
        'async def f():\n    r"""Which one."""',
        'def f():\n    """\n    When it is.\n    """',
    ],
)
def test_every_place_of_a_docstring_is_looked_at(source: str) -> None:
    assert QUOTED.search(source)
    assert [text for _, text in _docstrings(ast.parse(source)) if QUESTION.match(text.strip())]
