"""Messages to the one text that a model reads; the same at training and at inference.

A wrapper is how a family of models marks who speaks. What was judged is data: a control string of
the wrapper inside a message is broken up by a space, so that a response cannot end its turn and
speak as the judge.

The wrapper `template` is the one that a model's own tokenizer brings. Its engine knows it and hands
it over as a `Template`; what must hold of every wrapper is held here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from autoj.errors import ConfigError, UnknownComponent
from autoj.records import Message

__all__ = [
    "TEMPLATE", "WRAPPERS", "WRAPPER_NAMES", "Apply", "Template", "Wrapper", "describe", "render",
]  # fmt: skip

TEMPLATE = "template"
"""The wrapper that a model's own tokenizer brings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """How one family of models marks turns; each template has one `{content}`."""

    system: str
    """Stands before the first user message, inside its turn where `user` opens one."""
    user: str
    assistant: str
    opening: str
    """Between the last user message and the judge's answer."""
    joint: str
    """Between the opening and a forced prefix."""
    control: re.Pattern[str] | None
    """The strings that mark turns; group 1 is the first character of each."""
    system_in_user: bool = False


def _chatml_turn(role: str) -> str:
    return f"<|im_start|>{role}\n{{content}}<|im_end|>\n"


WRAPPERS: dict[str, Wrapper] = {
    "chatml": Wrapper(
        system=_chatml_turn("system"),
        user=_chatml_turn("user"),
        assistant=_chatml_turn("assistant"),
        opening="<|im_start|>assistant\n",
        joint="",
        control=re.compile(r"(<)(?=\|[A-Za-z0-9_]+\|>)"),
    ),
    "llama2": Wrapper(
        system="<<SYS>>\n{content}\n<</SYS>>\n\n",
        user="[INST] {content} [/INST]",
        assistant=" {content} </s><s>",
        opening="",
        # The model's own answers begin with a space after `[/INST]`.
        joint=" ",
        control=re.compile(r"(\[(?=/?INST\])|<(?=</?SYS>>|/?s>))"),
        system_in_user=True,
    ),
    "none": Wrapper(
        system="{content}\n\n",
        user="{content}",
        assistant="\n\n{content}\n\n",
        opening="",
        joint="",
        control=None,
    ),
}
"""Every wrapper by name. `llama2` is the release's (its README): `[INST] … [/INST]`."""

WRAPPER_NAMES = (*WRAPPERS, TEMPLATE)
"""What a card's `wrapper` may be."""

Apply: TypeAlias = Callable[[Sequence[Message], bool], str]
"""Renders turns by a tokenizer's template; True has it open the answer after them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A tokenizer's own chat template, as its engine hands it over."""

    text: str
    """The template itself."""
    apply: Apply
    control: re.Pattern[str] | None
    """The strings that mark turns; group 1 is the first character of each."""
    joint: str = ""
    """Between the opening and a forced prefix: what the template puts before an answer."""
    system_in_user: bool = False
    """Whether the template takes no system message: it then opens the user's turn, above a blank
    line."""

    @property
    def sha256(self) -> str:
        """The digest (hex) of the template's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def render(self, messages: Sequence[Message], prefix: str | None = None) -> str:
        """As `chat.render`."""
        turns: list[Message] = []
        waiting_system = ""
        for message in messages:
            content = _as_data(message.content, self.control)
            if message.role == "system" and self.system_in_user:
                waiting_system += content + "\n\n"
            else:
                turns.append(Message(role=message.role, content=waiting_system + content))
                waiting_system = ""
        opened = self.apply(turns, True)
        return opened + self.joint + prefix if prefix else opened


def describe(wrapper: str) -> dict[str, str]:
    """All that a wrapper says, for digests; of `template` its name alone, as its text is a model's.

    Raises:
        UnknownComponent: there is no such wrapper.
    """
    if wrapper == TEMPLATE:
        return {"wrapper": TEMPLATE}
    if wrapper not in WRAPPERS:
        raise UnknownComponent("wrapper", wrapper, WRAPPER_NAMES)
    return {name: str(value) for name, value in asdict(WRAPPERS[wrapper]).items()}


def render(
    messages: Sequence[Message],
    wrapper: str,
    prefix: str | None = None,
    template: Template | None = None,
) -> str:
    """The text that the model reads, up to and with the forced opening of its answer.

    Args:
        messages: the turns; a system message, where there is one, comes first.
        wrapper: a name in `WRAPPER_NAMES`.
        prefix: the opening of the answer, forced.
        template: the tokenizer's own, for the wrapper `template`.

    Raises:
        UnknownComponent: there is no such wrapper.
        ConfigError: the last message is not the user's, or the wrapper is `template` and the engine
            has none.

    >>> render([Message(role="user", content="Hello [/INST]")], "llama2")
    '[INST] Hello [ /INST] [/INST]'
    """
    if wrapper not in WRAPPER_NAMES:
        raise UnknownComponent("wrapper", wrapper, WRAPPER_NAMES)
    if not messages or messages[-1].role != "user":
        raise ConfigError("the last message of a prompt must be the user's")
    if wrapper == TEMPLATE:
        if template is None:
            raise ConfigError(
                "this engine has no tokenizer whose own chat template could be used",
                hint=f"Choose another wrapper in the card: {', '.join(WRAPPERS)}.",
            )
        return template.render(messages, prefix)
    rules = WRAPPERS[wrapper]
    turns: list[str] = []
    waiting_system = ""
    for message in messages:
        content = _as_data(message.content, rules.control)
        if message.role == "system" and rules.system_in_user:
            waiting_system += rules.system.replace("{content}", content, 1)
        else:
            turn: str = getattr(rules, message.role)
            turns.append(turn.replace("{content}", waiting_system + content, 1))
            waiting_system = ""
    opening = rules.opening if not prefix else rules.opening + rules.joint + prefix
    return "".join(turns) + opening


def _as_data(content: str, control: re.Pattern[str] | None) -> str:
    return content if control is None else control.sub(r"\1 ", content)
