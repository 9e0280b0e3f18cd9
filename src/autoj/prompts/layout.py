"""The file of a prompt: facts between two lines `---`, then the words that the judge reads.

```
---
name: politeness                 # of your choice
kind: pairwise                   # two responses; single: one
answer:                          # how the answer is read
  pattern: 'Verdict: ([12]|tie)'
---
<!-- system -->
You compare how polite two replies are.
<!-- user -->
Request: {query}
First reply: {response_1}
Second reply: {response_2}
End with "Verdict: 1", "Verdict: 2" or "Verdict: tie".
```

Without the line `<!-- system -->` all of the text is the user's message. Empty lines around a
message are not part of it; every other character is.
"""

import difflib
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from autoj.errors import DataError
from autoj.prompts.answers import Answer
from autoj.prompts.facts import Facts, read_facts
from autoj.prompts.template import Kind, check, missing, placeholders

MOST_BYTES = 256 * 1024
"""The longest file of a prompt."""
_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
MARK = re.compile(r"^<!--[ \t]*(?P<name>[A-Za-z]+)[ \t]*-->[ \t]*$", re.MULTILINE)
"""A line that begins a message."""
_SECTIONS = ("system", "user")
_HINT = "autoj prompts show pairwise prints a file to start from."


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt of a user's own."""

    name: str
    kind: Kind
    language: Literal["en", "zh"] = "en"
    system: str | None = None
    """The template of the system message; None without one."""
    user: str
    """The template of the user's message."""
    answer: Answer
    values: tuple[tuple[str, str], ...] = ()
    """Meanings of the judge's words: "1", "2", "tie", or a number. Empty: they mean themselves."""
    scale: tuple[float, float] = (1.0, 10.0)
    """The lowest and the highest rating that the judge may give."""

    @property
    def placeholders(self) -> set[str]:
        """The names of the placeholders in its texts."""
        return placeholders((self.system or "") + self.user)


def read_text(path: Path, what: str = "prompt", hint: str | None = _HINT) -> str:
    """The text of a prompt's file, or of another one that it is made of, whatever its line ends.

    Args:
        path: the file.
        what: the file's content in a word, for messages.
        hint: the way to one, if it is missing.

    Raises:
        DataError: there is none, or it is no text.
    """
    # False where a name is too long or cannot be one, too.
    if not os.path.isfile(path):
        raise DataError(f"there is no such {what}", path=path, hint=hint)
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    except UnicodeDecodeError:
        raise DataError("is not text in UTF-8", path=path) from None
    if len(content) > MOST_BYTES:
        raise DataError(f"is longer than a {what} may be ({MOST_BYTES:,} bytes)", path=path)
    return text.replace("\r\n", "\n").replace("\r", "\n")


@lru_cache(maxsize=256)
def read_prompt(text: str, path: Path) -> Prompt:
    """Reads the text of a prompt's file.

    Args:
        text: the text, as `read_text` gives it.
        path: the file, for messages.

    Raises:
        DataError: it has a fault; the message says where and what was expected.
    """
    fences = list(_FENCE.finditer(text))[:2]
    if len(fences) < 2 or text[: fences[0].start()].strip():
        raise DataError(
            "has no front matter: a prompt begins with a line ---, its name, kind and answer, and "
            "another line ---",
            path=path,
            line=1,
            hint=_HINT,
        )
    first = fences[0].end() + 1
    facts = read_facts(text[first : fences[1].start()], path, _line_of(text, first))
    sections = _sections(text, fences[1].end(), path)
    _check_templates(sections, facts, path)
    system, user = sections.get("system"), sections["user"]
    return Prompt(
        name=facts.name,
        kind=facts.kind,
        language=facts.language,
        system=None if system is None else system.text,
        user=user.text,
        answer=facts.answer,
        values=facts.values,
        scale=facts.scale,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """A message of a prompt, and the line of the file that it begins in."""

    text: str
    line: int


def _sections(text: str, start: int, path: Path) -> dict[str, _Section]:
    marks = list(MARK.finditer(text, start))
    first = marks[0].start() if marks else len(text)
    if not marks:
        marks, places = [], {"user": (start, len(text))}
    else:
        if text[start:first].strip():
            raise DataError(
                f"there is text before {marks[0][0].strip()}: the judge would not read it",
                path=path,
                line=_line_of(text, start + len(text[start:]) - len(text[start:].lstrip())),
            )
        places = _places(text, marks, path)
    found = {name: _section(text, *place) for name, place in places.items()}
    if "user" not in found or not found["user"].text.strip():
        raise DataError(
            "has no text for the judge",
            path=path,
            hint="Write the prompt below the second line ---, or below <!-- user -->.",
        )
    return {name: section for name, section in found.items() if section.text}


def _places(text: str, marks: list[re.Match[str]], path: Path) -> dict[str, tuple[int, int]]:
    """The beginning and end of each section."""
    places: dict[str, tuple[int, int]] = {}
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        name, line = mark["name"], _line_of(text, mark.start())
        if name not in _SECTIONS:
            near = difflib.get_close_matches(name.casefold(), _SECTIONS, n=1)
            advice = f"did you mean <!-- {near[0]} -->?" if near else "there are system and user"
            raise DataError(
                f"there is no section {mark[0].strip()}: {advice}", path=path, line=line
            )
        if name in places or (name == "system" and places):
            raise DataError(
                f"{mark[0].strip()} stands there twice, or after <!-- user -->: a prompt has one "
                "system message at most, and then one of the user",
                path=path,
                line=line,
            )
        places[name] = (mark.end(), end)
    return places


def _section(text: str, start: int, end: int) -> _Section:
    content = text[start:end]
    bare = content.lstrip("\n")
    return _Section(text=bare.rstrip("\n"), line=_line_of(text, start + len(content) - len(bare)))


def _line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _check_templates(sections: dict[str, _Section], facts: Facts, path: Path) -> None:
    for section in sections.values():
        for fault in check(section.text, facts.kind):
            line = section.line + (fault.line or 0)
            raise DataError(str(fault), path=path, line=line)
    lacking = missing((section.text for section in sections.values()), facts.kind)
    if lacking:
        named = " and ".join(f"{{{name}}}" for name in lacking)
        raise DataError(
            f"a {facts.kind} prompt shows the judge {named}, and this one does not",
            path=path,
            line=sections["user"].line,
        )
