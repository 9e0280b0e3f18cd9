"""Ways to read a judge's answer: by regular expressions, from a field of JSON, or by its choices.

Each finds the answers that a text states, in order; `decide` makes one reading of them. Regular
expressions are RE2's: they take time in proportion to the text, whatever a judge writes. They have
no lookaround and no back-references, which cannot be had in such time.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

import re2

Which: TypeAlias = Literal["last", "first", "only"]

LONGEST_READ = 100_000
"""Characters at the end of a text that patterns and JSON are looked for in."""
_LONGEST_PATTERN = 2000
_MOST_OBJECTS = 100
_END = re.compile(r"(?<!\\)((?:\\\\)*)\\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Like:
    """Reads as a shipped protocol does, which also gives a forced opening and choices."""

    protocol: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A regular expression for an answer."""

    pattern: str
    value: str | None = None
    """The answer where it matches; None takes the text of its first group, or of the match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patterns:
    """Reads by regular expressions."""

    rules: tuple[Rule, ...]
    which: Which = "last"
    """The match that counts. "only": a text with several matches states no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonField:
    """Reads a field of the last JSON object that has it."""

    path: tuple[str, ...]
    """The field's name, after those of the objects that it is in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Scores the possible answers; where an engine cannot, the text must begin with one."""

    choices: tuple[tuple[str, str], ...]
    """Each choice, character by character, and its value."""
    prefix: str | None = None
    """The opening of the answer, forced; the choices continue it."""


Answer: TypeAlias = Like | Patterns | JsonField | Choices


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An answer that a text states."""

    stated: str
    """The text that is looked up in the prompt's values, such as "A" or "4"."""
    start: int
    """Its place in the text."""
    end: int


def statements(answer: Patterns | JsonField, text: str) -> Iterator[Statement]:
    """The answers that a text states, in order; never raises.

    Args:
        answer: the way to find them.
        text: the judge's text; only its end is read where it is very long.
    """
    offset = max(0, len(text) - LONGEST_READ)
    end = text[offset:]
    found = _matches(answer, end) if isinstance(answer, Patterns) else _fields(answer, end)
    for each in found:
        yield Statement(stated=each.stated, start=each.start + offset, end=each.end + offset)


def chosen(answer: Choices, text: str) -> str | None:
    """The value of the choice that a text begins with, after the forced opening; None without.

    >>> chosen(Choices(choices=((" 1", "1"), (" 10", "10"))), "10 of 10")
    '10'
    """
    written = text.strip()
    opening = (answer.prefix or "").strip()
    if opening and written.startswith(opening):
        written = written[len(opening) :].lstrip()
    for choice, value in sorted(answer.choices, key=lambda each: -len(each[0])):
        wanted = choice.strip()
        after = written[len(wanted) : len(wanted) + 1]
        if written.startswith(wanted) and not (after.isalnum() and wanted[-1:].isalnum()):
            return value
    return None


def look_up(stated: str, values: Mapping[str, str]) -> str | None:
    """The value of what a judge stated: exactly as written, else whatever its case.

    Args:
        stated: the judge's words.
        values: what they mean; empty where they are the value themselves.

    >>> look_up(" tie ", {"A": "1", "Tie": "tie"})
    'tie'
    """
    bare = stated.strip()
    if not values:
        return bare.casefold()
    if bare in values:
        return values[bare]
    found = {value for key, value in values.items() if key.casefold() == bare.casefold()}
    return found.pop() if len(found) == 1 else None


@cache
def compile_pattern(pattern: str) -> Any:
    """A pattern of RE2.

    Raises:
        ValueError: it is none; the message says why.
    """
    if len(pattern) > _LONGEST_PATTERN:
        raise ValueError(f"the regular expression is longer than {_LONGEST_PATTERN:,} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        # Python's \Z is \z in RE2.
        return re2.compile(_END.sub(r"\1\\z", pattern), options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else error
        said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"the regular expression {pattern!r} is not one of RE2: {said}") from None


def _matches(answer: Patterns, text: str) -> Iterator[Statement]:
    # A lone surrogate, which JSON can hold, is no text to RE2.
    safe = text.encode("utf-8", "replace").decode("utf-8")
    found = [
        Statement(stated=_stated(rule, match), start=match.start(), end=match.end())
        for rule in answer.rules
        for match in compile_pattern(rule.pattern).finditer(safe)
    ]
    # Of patterns that match at one place the first one counts, as it would alone.
    found.sort(key=lambda each: each.start)
    reached = -1
    for each in found:
        if each.start >= reached:
            yield each
            reached = max(each.end, each.start + 1)


def _stated(rule: Rule, match: Any) -> str:
    if rule.value is not None:
        return rule.value
    groups = [group for group in match.groups() if group is not None]
    return str(groups[0] if groups else match.group(0))


def _fields(answer: JsonField, text: str) -> Iterator[Statement]:
    decoder = json.JSONDecoder()
    position, n_tried = 0, 0
    while n_tried < _MOST_OBJECTS and (start := text.find("{", position)) >= 0:
        n_tried += 1
        try:
            found, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        if (stated := _as_text(_inside(found, answer.path))) is not None:
            yield Statement(stated=stated, start=start, end=position)


def _inside(found: Any, path: Sequence[str]) -> Any:
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _as_text(found: Any) -> str | None:
    match found:
        case bool():
            return "true" if found else "false"
        case int() if abs(found) < 10**9:
            return str(found)
        case float():
            return f"{found:g}"
        case str():
            return found
    return None
