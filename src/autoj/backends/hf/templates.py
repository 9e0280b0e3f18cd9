"""Prepares a tokenizer's own chat template for judging.

A template is a program that comes with a model. Its behaviour is found by rendering turns of known
contents: the strings that mark turns, whether it takes a system message, and the text that it puts
before an answer.

- Its marks, and every special token of its tokenizer, are broken up in messages, so that judged
  text cannot end its turn.
- A template that refuses a system message, or leaves it out, gets it at the head of the user's
  turn.
- A template that asks for today's date is given a fixed day: a prompt must not change overnight.
- A template that can make its model reason first is told not to: the verdict is read from the
  beginning of the answer.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from autoj.backends._control import any_of, control_tokens
from autoj.backends._loading import in_short
from autoj.chat import Apply, Template
from autoj.errors import ConfigError
from autoj.records import JudgeCard, Message

PIN = "template_sha256"
"""The option of a card that pins the judge's chat template. It is part of a request's key: another
rendering of a question is another question."""

# The day that Llama 3.1's template names where it cannot ask for one.
_TODAY = datetime(2024, 7, 26)
# Templates call this name. transformers passes no function of ours, but a macro works, too.
_CLOCK = "strftime_now"
_CODES = ("%Y", "%y", "%m", "%d", "%b", "%B", "%a", "%A", "%H", "%I", "%M", "%S", "%p", "%j")
_SYSTEM, _USER, _ANSWER = "qSYSTEMq", "qUSERq", "qANSWERq"
# Marks in brackets, such as [/INST], <|user|> and <end_of_turn>.
_BRACKETED = re.compile(r"<<[^<>\n]{1,40}>>|<\|?[^<>\s|]{1,40}\|?>|\[[^\[\]\s]{1,40}\]")
_LEAST_CHARACTERS = 3


def read_template(tokenizer: Any) -> Template:
    """Reads the chat template of a tokenizer.

    Args:
        tokenizer: one of transformers.

    Raises:
        ConfigError: it has none, or one that cannot render a user's message.
    """
    text = _text_of(tokenizer)
    apply = _applied(tokenizer, text)
    user = Message(role="user", content=_USER)
    system = Message(role="system", content=_SYSTEM)
    opened = apply([user], True)
    if _USER not in opened:
        raise ConfigError(
            f"the chat template of {_name(tokenizer)} leaves out the user's message", hint=_HINT
        )
    refuses = _refuses_system(apply, system, user)
    answered = _answered(apply, user)
    pieces = opened.split(_USER)
    if answered is not None:
        pieces.append(answered.rpartition(_ANSWER)[2])
    if not refuses:
        pieces += re.split(f"{_SYSTEM}|{_USER}", apply([system, user], True))
    return Template(
        text=text,
        apply=apply,
        control=any_of([*control_tokens(tokenizer), *_marks(pieces)]),
        joint="" if answered is None else _joint(opened, answered),
        system_in_user=refuses,
    )


def pin_template(card: JudgeCard, template: Template | None) -> JudgeCard:
    """Adds the digest of the tokenizer's chat template to a card's options.

    Args:
        card: the judge's.
        template: None with another wrapper.

    Raises:
        ConfigError: the card pins another template.
    """
    if template is None:
        return card
    pinned = card.options.get(PIN, template.sha256)
    if pinned != template.sha256:
        raise ConfigError(
            f"judge {card.name!r}: its tokenizer's chat template is not the one that the card "
            f"pins: expected sha256 {pinned}, found {template.sha256}",
            hint="The model's files have changed since; pin their revision in the card.",
        )
    return replace(card, options={**card.options, PIN: template.sha256})


_HINT = "Write a card for it and choose its wrapper there: chatml, llama2 or none."


def _text_of(tokenizer: Any) -> str:
    try:
        text: str | None = tokenizer.get_chat_template()
    except (AttributeError, ValueError):
        text = None
    if not text:
        raise ConfigError(f"the tokenizer of {_name(tokenizer)} has no chat template", hint=_HINT)
    return text


def _name(tokenizer: Any) -> str:
    return repr(tokenizer.name_or_path) if tokenizer.name_or_path else "this model"


def _applied(tokenizer: Any, text: str) -> Apply:
    program = _stopped_clock() + text if _CLOCK in text else text

    def apply(messages: Sequence[Message], opens_answer: bool) -> str:
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            rendered: str = tokenizer.apply_chat_template(
                turns,
                chat_template=program,
                tokenize=False,
                add_generation_prompt=opens_answer,
                enable_thinking=False,
            )
        except Exception as error:  # a template is a program, and raises anything
            said = f"the chat template of {_name(tokenizer)} cannot render these turns"
            raise ConfigError(f"{said}: {in_short(error)}", hint=_HINT) from None
        return rendered

    return apply


def _stopped_clock() -> str:
    days = {code: _TODAY.strftime(code) for code in _CODES}
    # "%-d" is a day without its zero.
    short = {code.replace("%", "%-"): day.lstrip("0") for code, day in days.items()}
    filters = "".join(f" | replace('{code}', '{day}')" for code, day in {**days, **short}.items())
    return f"{{%- macro {_CLOCK}(format) -%}}{{{{ format{filters} }}}}{{%- endmacro -%}}"


def _refuses_system(apply: Apply, system: Message, user: Message) -> bool:
    try:
        rendered = apply([system, user], True)
    except ConfigError:
        return True
    return _SYSTEM not in rendered


def _answered(apply: Apply, user: Message) -> str | None:
    """The user's message with an answer; None where the template renders no answers."""
    try:
        return apply([user, Message(role="assistant", content=_ANSWER)], False)
    except ConfigError:
        return None


def _joint(opened: str, answered: str) -> str:
    """The blank that a template puts between the opening of an answer and the answer."""
    between = answered.removeprefix(opened).partition(_ANSWER)[0]
    return between if answered.startswith(opened) and not between.strip() else ""


def _marks(pieces: Sequence[str]) -> set[str]:
    """The strings that mark turns in the text between contents.

    >>> sorted(_marks(["<s>[INST] ", " [/INST]", "<|im_start|>user" + chr(10), "### Response:"]))
    ['### Response:', '<s>', '<|im_start|>', '[/INST]', '[INST]']
    """
    found: set[str] = set()
    for piece in pieces:
        found.update(_BRACKETED.findall(piece))
        # A mark in plain letters, such as "ASSISTANT:"; a bare name of a role is not a mark.
        plain = (line.strip() for rest in _BRACKETED.split(piece) for line in rest.splitlines())
        found.update(line for line in plain if not line.isalnum() and any(map(str.isalpha, line)))
    return {mark for mark in found if len(mark) >= _LEAST_CHARACTERS}
