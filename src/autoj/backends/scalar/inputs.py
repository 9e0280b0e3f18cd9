"""Tokenises a query and a response for a reward model; their texts cannot mark turns."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autoj.backends._control import any_of, broken_up, control_tokens, normaliser
from autoj.errors import ConfigError
from autoj.records import JudgeCard

# Placeholders of a query and a response where only the text around them matters.
_QUERY, _RESPONSE = "\ue000", "\ue001"
# Marks of turns in plain text are short: "### Response:", "[/INST]", "ASSISTANT:".
_MARK_WORDS = 2


@dataclass(frozen=True, slots=True)
class Encoded:
    """A query and a response as the model reads them."""

    ids: list[int]
    types: list[int] | None
    """The segment of each token, where the model needs it."""


class Inputs:
    """Tokenises queries and responses; their texts are data and cannot mark turns.

    A special token of the tokenizer, or a mark of turns that the template writes in plain text,
    is broken up by a space where a judged text holds one, as `autoj.chat` does. A text without
    any is encoded exactly as the model's makers do it.
    """

    def __init__(self, card: JudgeCard, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        has_template = bool(getattr(tokenizer, "chat_template", None))
        self.kind = str(card.options.get("input", "chat" if has_template else "pair"))
        self._pieces = re.split(r"\{query\}|\{response\}", str(card.options.get("template", "")))
        if self.kind == "chat" and not has_template:
            raise ConfigError(
                f"judge {card.name!r}: input is chat, and {card.model} has no template"
            )
        special = {*control_tokens(tokenizer)}
        # Characters unknown to a vocabulary become this token in any text; it marks no turn.
        unknown = {tokenizer.unk_token} - {tokenizer.bos_token, tokenizer.eos_token}
        self._special_ids = set(tokenizer.convert_tokens_to_ids(sorted(special - unknown)))
        self._control = any_of(special.union(self._plain_marks(special)))
        self._normalise = normaliser(tokenizer)
        # With a letter for each text, since a text's first token may be one more on its own.
        self._frame = self._encode("a", "b")
        self._n_special = self._count_special(self._frame)

    def encode(self, query: str, response: str) -> Encoded | None:
        """The tokens of both; None where a text still becomes a special token."""
        encoded = self._encode(self._as_data(query), self._as_data(response))
        # Fewer is not a forgery: tokenizers leave out the mark of an empty segment.
        return encoded if self._count_special(encoded) <= self._n_special else None

    def count(self, text: str) -> int:
        """The number of tokens of a text and of everything around it; never too low."""
        alone = self._tokenizer(self._as_data(text), add_special_tokens=False, verbose=False)
        return len(alone["input_ids"]) + len(self._frame.ids)

    def _encode(self, query: str, response: str) -> Encoded:
        if self.kind == "pair":
            encoded = self._tokenizer(query, response, verbose=False)
        elif self.kind == "text":
            encoded = self._tokenizer(self._render(query, response), verbose=False)
        else:
            # The template writes the special tokens itself.
            text = self._render(query, response)
            encoded = self._tokenizer(text, add_special_tokens=False, verbose=False)
        return Encoded(encoded["input_ids"], encoded.get("token_type_ids"))

    def _render(self, query: str, response: str) -> str:
        if self.kind == "text":
            before, between, after = self._pieces
            return before + query + between + response + after
        turns = [
            {"role": "user", "content": query},
            {"role": "assistant", "content": response},
        ]
        return str(self._tokenizer.apply_chat_template(turns, tokenize=False))

    def _plain_marks(self, special: set[str]) -> Iterator[str]:
        """Marks next to a text that are not special tokens, such as "### Response:"."""
        if self.kind == "pair":
            return
        around = re.split(f"{_QUERY}|{_RESPONSE}", self._render(_QUERY, _RESPONSE))
        if len(around) != 3:
            raise ConfigError(
                "the chat template does not show the query and the response once each"
            )
        breaks = "|".join([r"\n", *map(re.escape, special)])
        lines = [
            [line.split() for line in re.split(breaks, piece) if line.strip()] for piece in around
        ]
        before, between, after = lines
        for line in before[-1:] + between[-1:]:
            yield from _mark(line if len(line) <= _MARK_WORDS else line[-1:])
        for line in between[:1] + after[:1]:
            yield from _mark(line[:_MARK_WORDS])

    def _as_data(self, text: str) -> str:
        return broken_up(text, self._control, self._normalise)

    def _count_special(self, encoded: Encoded) -> Counter[int]:
        return Counter(token for token in encoded.ids if token in self._special_ids)


def _mark(words: list[str]) -> Iterator[str]:
    """Words next to a text as a mark; bare ones, such as a role's name, do not count."""
    mark = " ".join(words)
    if not mark.replace(" ", "").isalnum():
        yield mark
