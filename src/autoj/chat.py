"""Messages to the one text that a model reads; the same at training and at inference.

A wrapper is how a family of models marks who speaks. What was judged is data: a control string of
the wrapper inside a message is broken up by a space, so that a response cannot end its turn and
speak as the judge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autoj.errors import ConfigError, UnknownComponent
from autoj.records import Message

__all__ = ["WRAPPERS", "Wrapper", "render"]


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


def render(messages: Sequence[Message], wrapper: str, prefix: str | None = None) -> str:
    """The text that the model reads, up to and with the forced opening of its answer.

    Args:
        messages: the turns; a system message, where there is one, comes first.
        wrapper: a name in `WRAPPERS`.
        prefix: the opening of the answer, forced.

    Raises:
        UnknownComponent: there is no such wrapper.
        ConfigError: the last message is not the user's.

    >>> render([Message(role="user", content="Hello [/INST]")], "llama2")
    '[INST] Hello [ /INST] [/INST]'
    """
    if wrapper not in WRAPPERS:
        raise UnknownComponent("wrapper", wrapper, WRAPPERS)
    if not messages or messages[-1].role != "user":
        raise ConfigError("the last message of a prompt must be the user's")
    rules = WRAPPERS[wrapper]
    turns: list[str] = []
    waiting_system = ""
    for message in messages:
        content = _as_data(message.content, rules)
        if message.role == "system" and rules.system_in_user:
            waiting_system += rules.system.replace("{content}", content, 1)
        else:
            template: str = getattr(rules, message.role)
            turns.append(template.replace("{content}", waiting_system + content, 1))
            waiting_system = ""
    opening = rules.opening if not prefix else rules.opening + rules.joint + prefix
    return "".join(turns) + opening


def _as_data(content: str, rules: Wrapper) -> str:
    return content if rules.control is None else rules.control.sub(r"\1 ", content)
