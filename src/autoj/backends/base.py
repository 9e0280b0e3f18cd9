"""The contract of a backend: requests to completions, in whatever order they finish."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from autoj.records import Completion, Failure, JudgeCard, Request

__all__ = ["Backend", "Limits", "OnText", "Outcome"]

Outcome: TypeAlias = Completion | Failure
OnText: TypeAlias = Callable[[str, str], None]
"""Called with a request's key and the text that was just written for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an engine can do."""

    context_tokens: int
    """The most tokens of prompt and completion together."""
    scores_choices: bool
    """Whether it gives the log-probability of whole strings."""
    streams: bool
    """Whether it calls `on_text` while it writes."""
    readings_per_score: int = 1
    """How often a prompt is read at most where its choices are scored."""


class Backend(Protocol):
    """An engine that answers requests.

    A backend file exports `load(card: JudgeCard, **options) -> Backend`, imports what is heavy
    inside it, and turns foreign exceptions into ours at one seam.
    """

    @property
    def card(self) -> JudgeCard:
        """The judge that it runs."""

    @property
    def limits(self) -> Limits:
        """What it can do."""

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        """Answer requests, each as soon as it is done.

        Args:
            requests: read lazily, a bounded number ahead; keys are distinct.
            on_text: called with what is written, while it is written.

        Yields:
            One completion or failure per request, in any order.

        Raises:
            BackendError: the engine as a whole broke down; what was yielded stays valid.
        """

    def count_tokens(self, text: str) -> int:
        """How many tokens the judge's own tokenizer makes of a rendered text."""

    def close(self) -> None:
        """Free what is heavy; the backend is not used again."""
