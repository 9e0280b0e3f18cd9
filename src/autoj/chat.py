"""Renders messages as the text that a model reads; the same at training and at inference.

A wrapper is the chat format of a family of models: its marks for who speaks. Judged text is data: a
control string of the wrapper inside a message is broken up by a space, so that a response cannot
end its turn and speak as the judge.

The wrapper `template` is the chat template of a model's own tokenizer, which the engine hands over
as a `Template`. The checks that hold for every wrapper are made here.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from autoj.errors import ConfigError, UnknownComponent
from autoj.records import Message

TEMPLATE = "template"
"""The wrapper that a model's own tokenizer brings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """The chat format of one family of models; each template has one `{content}`."""

    system: str
    """Precedes the first user message, inside its turn where `user` opens one."""
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
"""All wrappers by name. `llama2` is the one of the release (its README): `[INST] … [/INST]`."""

WRAPPER_NAMES = (*WRAPPERS, TEMPLATE)
"""The names that a card's `wrapper` may have."""

Apply: TypeAlias = Callable[[Sequence[Message], bool], str]
"""Renders turns with a tokenizer's template; with True it also opens the answer after them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The chat template of an engine's tokenizer."""

    text: str
    """The template's source text."""
    apply: Apply
    control: re.Pattern[str] | None
    """The strings that mark turns; group 1 is the first character of each."""
    joint: str = ""
    """Between the opening and a forced prefix: the text that the template puts before an answer."""
    system_in_user: bool = False
    """True where the template takes no system message: it then opens the user's turn, above a blank
    line."""

    @property
    def sha256(self) -> str:
        """The digest (hex) of the template's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def render(self, messages: Sequence[Message], prefix: str | None = None) -> str:
        """Renders messages; arguments as of `chat.render`."""
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
    """A wrapper's strings, for digests; `template` has its name alone, as its text is the model's.

    Raises:
        UnknownComponent: no wrapper has this name.
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
    """The text that the model reads, including the forced opening of its answer.

    Args:
        messages: the turns; a system message, where there is one, comes first.
        wrapper: a name in `WRAPPER_NAMES`.
        prefix: the opening of the answer, forced.
        template: the tokenizer's chat template, for the wrapper `template`.

    Raises:
        UnknownComponent: there is no such wrapper.
        ConfigError: the last message is not the user's, or the wrapper is `template` and the engine
            has no chat template.

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
                "this engine's tokenizer has no chat template",
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
