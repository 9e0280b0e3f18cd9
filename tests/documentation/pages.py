"""The pages of the documentation, and the blocks of code on them.

A block is a fence with a language. One that cannot run in a test has the reason in a comment
before it:

    <!-- not run: needs a GPU -->

A fence with a title holds a file of that name, which a later block of the page reads; or the
comment before it names the loader that reads it:

    <!-- read as: recipe -->
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAGES = (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md")))

_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>.*)$")
_COMMENT = re.compile(r"^\s*<!-- (?P<kind>not run|read as): (?P<text>.+) -->$")
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    """Of its first line of code, counted from 1."""
    language: str
    title: str | None
    """The name of the file that it holds."""
    text: str
    reason: str | None = None
    """Why it is not run."""
    loader: str | None = None
    """What reads the file that it holds."""

    @property
    def place(self) -> str:
        return f"{name_of(self.page)}:{self.line}"


def name_of(page: Path) -> str:
    """The path of a page inside the repository."""
    return page.relative_to(REPOSITORY).as_posix()


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    return list(_blocks(page, page.read_text(encoding="utf-8").splitlines()))


def _blocks(page: Path, lines: list[str]) -> Iterator[Block]:
    number = 0
    said: dict[str, str] = {}
    while number < len(lines):
        line = lines[number]
        if (comment := _COMMENT.match(line)) is not None:
            said[comment["kind"]] = comment["text"]
        elif (opened := _FENCE.match(line)) is not None:
            first = number + 1
            number = lines.index(opened["indent"] + "```", first)
            info = opened["info"].strip()
            title = _TITLE.search(info)
            yield Block(
                page=page,
                line=first + 1,
                language=info.split(" ")[0],
                title=title[1] if title else None,
                text="\n".join(
                    inside.removeprefix(opened["indent"]) for inside in lines[first:number]
                )
                + "\n",
                reason=said.get("not run"),
                loader=said.get("read as"),
            )
            said = {}
        elif line.strip():
            said = {}
        number += 1
