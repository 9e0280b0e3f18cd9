"""The contract of a backend: from requests to completions, in any order."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from autoj.records import Completion, Failure, JudgeCard, Request

Outcome: TypeAlias = Completion | Failure
OnText: TypeAlias = Callable[[str, str], None]
"""Called with a request's key and the text that was just generated for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The abilities of an engine."""

    context_tokens: int
    """The most tokens of prompt and completion together."""
    scores_choices: bool
    """True where it gives the log-probability of whole strings."""
    streams: bool
    """True where it calls `on_text` while it generates."""
    readings_per_score: int = 1
    """The most times that a prompt is read where its choices are scored."""
    readings_beyond: int = 0
    """Further times for which the next prompt may be read, as while it is not known yet how a
    server scores choices; no plan counts on them."""
    scores_texts: bool = False
    """True where a choice may be a text of any length, such as a whole response."""


class Reader(Protocol):
    """The part of a backend that counts tokens; training has one without a model."""

    @property
    def card(self) -> JudgeCard:
        """The judge."""

    @property
    def limits(self) -> Limits:
        """Limits, with the context length."""

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a rendered text by the judge's own tokenizer."""


class Backend(Protocol):
    """An engine that answers requests.

    A backend file exports `load(card: JudgeCard, **options) -> Backend`, imports heavy libraries
    inside it, and converts foreign exceptions into ours in one place.
    """

    @property
    def card(self) -> JudgeCard:
        """The judge that it runs."""

    @property
    def limits(self) -> Limits:
        """Its abilities."""

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        """Answers requests, each as soon as it is done.

        Args:
            requests: read lazily, a bounded number ahead, and in another thread where an outcome
                could come while one is read; keys are distinct. Its `stop`, if it has one, says
                that no more are wanted.
            on_text: called with generated text, while it is generated.

        Yields:
            One completion or failure per request, in any order.

        Raises:
            BackendError: the engine as a whole broke down; earlier outcomes stay valid.
        """

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a rendered text by the judge's own tokenizer."""

    def close(self) -> None:
        """Frees models and memory; the backend is not used again."""
