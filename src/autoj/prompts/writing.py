"""Writes a prompt in the layout of its file."""

from collections.abc import Sequence
from typing import Any

import yaml

from autoj.errors import ConfigError
from autoj.prompts.answers import Answer, Choices, JsonField, Like, Patterns
from autoj.prompts.layout import MARK, Prompt


def write_prompt(prompt: Prompt, notes: Sequence[str] = ()) -> str:
    """The text of a prompt's file, which `read_prompt` reads as the same prompt.

    Args:
        prompt: the prompt.
        notes: lines of comment below its answer, each without the `#`.

    Raises:
        ConfigError: a text has something that a file would not keep: an empty line at an end, or a
            line that begins a message.
    """
    for what, text in (("system", prompt.system), ("user", prompt.user)):
        if text is not None and (fault := _fault(text)) is not None:
            raise ConfigError(
                f"the {what} message of prompt {prompt.name!r} {fault}",
                hint="Change the text: a prompt's file would be read as another one.",
            )
    facts: dict[str, Any] = {"name": prompt.name, "kind": prompt.kind}
    if prompt.language != "en":
        facts["language"] = prompt.language
    facts["answer"] = _answer_facts(prompt.answer)
    if prompt.values:
        facts["answer"]["values"] = dict(prompt.values)
    if prompt.scale != (1.0, 10.0):
        facts["answer"]["scale"] = [_short(limit) for limit in prompt.scale]
    front = yaml.safe_dump(facts, sort_keys=False, allow_unicode=True, width=10_000)
    comments = "".join(f"# {note}".rstrip() + "\n" for note in notes)
    body = prompt.user if prompt.system is None else _two_messages(prompt.system, prompt.user)
    return f"---\n{front}{comments}---\n{body}\n"


def _fault(text: str) -> str | None:
    """The reason for which a message would be read as another one; None where it would not."""
    if not text:
        return "is empty"
    if text != text.strip("\n"):
        return "begins or ends with an empty line, which is no part of a message in its file"
    if (mark := MARK.search(text)) is not None:
        return f"has the line {mark[0].strip()!r}, which begins a message in its file"
    return "has a carriage return, which a file does not keep" if "\r" in text else None


def _two_messages(system: str, user: str) -> str:
    return f"<!-- system -->\n{system}\n\n<!-- user -->\n{user}"


def _answer_facts(answer: Answer) -> dict[str, Any]:
    match answer:
        case Like():
            return {"like": answer.protocol}
        case JsonField():
            return {"field": ".".join(answer.path)}
        case Choices():
            opening = {} if answer.prefix is None else {"prefix": answer.prefix}
            return {**opening, "choices": dict(answer.choices)}
        case Patterns():
            which = {} if answer.which == "last" else {"which": answer.which}
            (first, *_) = answer.rules
            if first.value is None:
                return {"pattern": first.pattern, **which}
            found = {str(rule.value): rule.pattern for rule in answer.rules}
            return {"patterns": found, **which}


def _short(number: float) -> int | float:
    return int(number) if number == int(number) else number
