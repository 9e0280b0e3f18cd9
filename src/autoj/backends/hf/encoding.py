"""Tokenises rendered requests, in the one way that training and inference share.

A judge's input begins as its tokenizer begins any text: the release of Auto-J sends plain text
through its tokenizer, and Llama's prepends `<s>`. ChatML marks its own start: where `<|im_start|>`
is one token of the tokenizer, as in all models trained on ChatML, nothing is prepended. Tokens that
a tokenizer would append to a text are left out.

Judged text is data: every control token of the tokenizer is broken up by a space in it
(`backends._control`), as `autoj.chat` breaks up the wrapper's own marks, so that no response ends
its turn.

With the wrapper `template` the tokenizer's own chat template renders the turns, and nothing is
prepended: a template writes the tokens that begin a text itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from autoj.backends._choices import ChoiceTrie, build_trie
from autoj.backends._control import any_of, broken_up, control_tokens, normaliser
from autoj.backends.hf.templates import read_template
from autoj.chat import TEMPLATE, WRAPPER_NAMES, WRAPPERS, Template, render
from autoj.errors import ConfigError, UnknownComponent
from autoj.records import Message

# Wrappers that mark the start of a text themselves, with their start token.
_START_MARKS = {"chatml": "<|im_start|>"}


class RequestBodyLike(Protocol):
    """The encoded parts of a request: a protocol's body, or a run's request made from it."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The turns."""

    @property
    def prefix(self) -> str | None:
        """The opening of the answer, forced."""

    @property
    def choices(self) -> tuple[str, ...] | None:
        """The possible continuations of the prefix, to be scored."""


class Encoder:
    """Tokenises rendered requests: the same for training and inference."""

    def __init__(self, tokenizer: Any, wrapper: str) -> None:
        """Determines how a tokenizer begins a text and which of its tokens must be broken up.

        Args:
            tokenizer: one of transformers.
            wrapper: a name in `chat.WRAPPER_NAMES`.

        Raises:
            UnknownComponent: there is no such wrapper.
            ConfigError: the tokenizer has no token that ends a text, or no chat template where the
                wrapper is `template`.
        """
        if wrapper not in WRAPPER_NAMES:
            raise UnknownComponent("wrapper", wrapper, WRAPPER_NAMES)
        if tokenizer.eos_token_id is None:
            raise ConfigError("the judge's tokenizer names no token that ends an answer")
        self.end_token: int = tokenizer.eos_token_id
        """The token that ends an answer."""
        self._tokenizer = tokenizer
        self._wrapper = wrapper
        self.template: Template | None = None
        """The tokenizer's own chat template, where the wrapper is `template`."""
        special = control_tokens(tokenizer)
        self._normalise = normaliser(tokenizer)
        if wrapper == TEMPLATE:
            self.template = read_template(tokenizer)
            # In a rendered text, forged marks look like the template's: contents are broken up
            # before, so all special tokens in the text are the template's.
            self._opening, foreign = [], None
            self._marks = special
            self._special = self.template.control
        else:
            self._opening = self._find_opening()
            rules = WRAPPERS[wrapper]
            own = rules.system + rules.user + rules.assistant + rules.opening
            foreign = any_of([token for token in special if token not in own])
            self._marks = [token for token in special if token in own]
            self._special = any_of(special)
        self._foreign = foreign

    def prompt(self, body: RequestBodyLike) -> list[int]:
        """The tokens of all that the judge reads before it generates, including the prefix."""
        return self._encode_prompt(self._render(body))

    def trie(self, body: RequestBodyLike) -> ChoiceTrie:
        """The prompt and its choices, each tokenised together with the prompt.

        Raises:
            ConfigError: two choices become the same tokens, or there are no choices.
        """
        choices = body.choices or ()
        try:
            return build_trie(self._encode_choices(self._render(body), choices))
        except ValueError as error:
            raise ConfigError(f"the choices {choices!r} cannot be scored: {error}") from None

    def completion(self, text: str) -> list[int]:
        """The tokens of the judge's text, and the token that ends it."""
        return [*self._encode(broken_up(text, self._special, self._normalise)), self.end_token]

    def count(self, text: str) -> int:
        """The number of tokens of a rendered text, including prepended ones."""
        return len(self._encode_prompt(text))

    def _render(self, body: RequestBodyLike) -> str:
        messages = [
            replace(turn, content=broken_up(turn.content, self._special, self._normalise))
            for turn in body.messages
        ]
        return render(messages, self._wrapper, body.prefix, self.template)

    def _encode_choices(self, text: str, choices: Sequence[str]) -> list[list[int]]:
        """The tokens of a prompt followed by each of its choices.

        A special token divides a text: the tokens before it do not depend on the text after it. So
        the long part of a prompt is tokenised once, if the first choice shows that this tokenizer
        divides texts that way.
        """
        whole = [self._encode_prompt(text + choice) for choice in choices[:1]]
        at = max((text.rfind(mark) + len(mark) for mark in self._marks if mark in text), default=0)
        head = self._encode_prompt(text[:at])
        if not whole or not at or whole[0] != head + self._encode(text[at:] + choices[0]):
            return whole + [self._encode_prompt(text + choice) for choice in choices[1:]]
        return whole + [head + self._encode(text[at:] + choice) for choice in choices[1:]]

    def _encode_prompt(self, text: str) -> list[int]:
        tokens = self._encode(broken_up(text, self._foreign))
        n_opening = len(self._opening)
        return tokens if tokens[:n_opening] == self._opening else self._opening + tokens

    def _encode(self, text: str) -> list[int]:
        encoded = self._tokenizer(text, add_special_tokens=False, verbose=False)
        tokens: list[int] = encoded["input_ids"]
        return tokens

    def _find_opening(self) -> list[int]:
        """The tokens that the tokenizer prepends to a text."""
        mark = _START_MARKS.get(self._wrapper)
        if mark is not None and len(self._encode(mark)) == 1:
            return []
        bare = self._encode("a")
        whole: list[int] = self._tokenizer("a", verbose=False)["input_ids"]
        starts = range(len(whole) - len(bare) + 1)
        first = next((start for start in starts if whole[start : start + len(bare)] == bare), 0)
        return whole[:first]
