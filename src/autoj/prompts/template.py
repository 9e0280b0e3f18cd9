"""Placeholders of a prompt's text, checked before it is used and filled in one pass.

`{query}` is a placeholder. `{{name}}` stands for the characters `{name}`; braces around anything
but a name, as in `{"winner": 1}`, are left alone.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["pairwise", "single"]

_ANYWHERE = ("reference", "criteria", "scenario")
REQUIRED: dict[Kind, tuple[str, ...]] = {
    "pairwise": ("query", "response_1", "response_2"),
    "single": ("query", "response"),
}
"""The placeholders that a prompt of each kind must have."""
KNOWN: dict[Kind, tuple[str, ...]] = {
    kind: (*required, *_ANYWHERE) for kind, required in REQUIRED.items()
}
"""All placeholders of each kind. `reference` is a row's reference answer, `scenario` the
description of its scenario, `criteria` the list of that scenario's criteria."""

_MOST_TIMES = 20
_FIELD = re.compile(r"\{\{(?P<literal>[A-Za-z_]\w*)\}\}|\{(?P<name>[A-Za-z_]\w*)\}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Puts values into a template in one pass; braces inside a value are left alone.

    >>> fill("{{answer}} to {query}", {"query": "What is {query}?"})
    '{answer} to What is {query}?'
    """
    return _FIELD.sub(
        lambda field: f"{{{field['literal']}}}" if field["literal"] else values[field["name"]],
        template,
    )


def literal(text: str) -> str:
    """A text as a template that gives the text itself.

    >>> fill(literal("Answer {yes} or {no}."), {})
    'Answer {yes} or {no}.'
    """
    return re.sub(r"\{([A-Za-z_]\w*)\}", r"{{\1}}", text)


def placeholders(template: str) -> set[str]:
    """The names of the placeholders in a template."""
    return {field["name"] for field in _FIELD.finditer(template) if field["name"]}


class Misplaced(ValueError):
    """A fault of a template.

    Args:
        message: the fault.
        line: the line of the template that has it, from 0; None for the template as a whole.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def check(template: str, kind: Kind) -> Iterator[Misplaced]:
    """The faults of a template: unknown placeholders, doubled braces, one too many times there."""
    n_times = Counter[str]()
    for field in _FIELD.finditer(template):
        line = template.count("\n", 0, field.start())
        if (doubled := field["literal"]) in KNOWN[kind]:
            yield Misplaced(f"write {{{doubled}}} with single braces, not {field[0]}", line)
        elif field["name"] and field["name"] not in KNOWN[kind]:
            yield Misplaced(_unknown(field["name"], kind), line)
        elif field["name"]:
            n_times[field["name"]] += 1
            if n_times[field["name"]] == _MOST_TIMES + 1:
                # A stranger's could fill memory with one long response.
                yield Misplaced(f"{field[0]} stands there more than {_MOST_TIMES} times", line)


def missing(templates: Iterator[str], kind: Kind) -> list[str]:
    """The required placeholders that no part of a prompt has."""
    found = set[str]().union(*map(placeholders, templates))
    return [name for name in REQUIRED[kind] if name not in found]


def _unknown(name: str, kind: Kind) -> str:
    other: Kind = "single" if kind == "pairwise" else "pairwise"
    known = ", ".join(f"{{{each}}}" for each in KNOWN[kind])
    if name in KNOWN[other]:
        return f"{{{name}}} belongs to a {other} prompt; a {kind} one has {known}"
    near = difflib.get_close_matches(name.casefold(), KNOWN[kind], n=1, cutoff=0.5)
    advice = f"did you mean {{{near[0]}}}?" if near else f"known are {known}"
    return f"there is no placeholder {{{name}}}: {advice} ({{{{{name}}}}} is the word in braces)"
