"""Caps on what a run may cost: money and requests, counted over all sessions of its folder.

What a request may cost at most is set aside before it is sent: its prompt, and all tokens that its
answer may have. So a cap is not passed by answers that are long, and requests under way can always
finish. Where too much is set aside for another request, the run waits until what is under way is
paid for by what it did cost, and goes on; it stops where even then there is no room.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeAlias

from autoj.backends.base import Limits
from autoj.errors import ConfigError
from autoj.records import Completion, Failure, JudgeCard, Request

__all__ = ["Budget", "Caps", "price_usd"]

Caps: TypeAlias = tuple[float | None, int | None]
"""The most US dollars, and the most requests; None sets no limit."""

# A forced choice is scored, not written; a server that is asked for it in words writes a few words.
_CHOICE_TOKENS = 32
# What a chat template puts around each message.
_TOKENS_PER_MESSAGE = 8


class _Reader(Protocol):
    """Who is paid; every backend is one."""

    @property
    def card(self) -> JudgeCard:
        """The judge."""

    @property
    def limits(self) -> Limits:
        """How often it reads a prompt."""

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has."""


def price_usd(card: JudgeCard, prompt_tokens: int, completion_tokens: int) -> float | None:
    """What tokens cost by a judge's card, in US dollars; None where it states no prices.

    >>> card = JudgeCard(name="j", title="j", backend="openai", model="m",
    ...                  usd_per_million_prompt_tokens=30, usd_per_million_completion_tokens=60)
    >>> price_usd(card, 1_000_000, 500_000)
    60.0
    """
    read, written = card.usd_per_million_prompt_tokens, card.usd_per_million_completion_tokens
    if read is None or written is None:
        return None
    return (prompt_tokens * read + completion_tokens * written) / 1e6


class Budget:
    """What may be spent, what was, and what is set aside for requests under way.

    One budget may serve several judges and several runs; each answer is paid by its judge's prices.
    What failed requests cost is not known and not counted.
    """

    def __init__(self, max_usd: float | None = None, max_requests: int | None = None) -> None:
        """Make a budget.

        Args:
            max_usd: the most US dollars, above 0; None sets no limit.
            max_requests: the most requests, above 0; None sets no limit.

        Raises:
            ConfigError: a cap is not above 0.
        """
        for flag, cap in (("--max-usd", max_usd), ("--max-requests", max_requests)):
            if cap is not None and not cap > 0:
                raise ConfigError(f"{flag} must be above 0, found {cap}")
        self.max_usd = max_usd
        self.max_requests = max_requests
        self.spent_usd = 0.0
        """Known costs, of earlier sessions too."""
        self.n_requests = 0
        """Answers of earlier sessions, and requests of this one."""
        self.stopped = False
        """Whether a request was held back for good."""
        self._set_aside: dict[str, float] = {}
        self._next_usd = 0.0

    def check(self, card: JudgeCard) -> None:
        """Refuse a judge without prices where money is capped.

        Raises:
            ConfigError: the card has no prices.
        """
        if self.max_usd is not None and price_usd(card, 0, 0) is None:
            raise ConfigError(
                f"--max-usd needs prices, and the card of judge {card.name!r} has none",
                hint="Set usd_per_million_prompt_tokens and usd_per_million_completion_tokens in "
                "the card, or use --max-requests.",
            )

    def count_earlier(self, card: JudgeCard, answers: Iterable[Completion]) -> None:
        """Count what earlier sessions were answered.

        Args:
            card: by which judge.
            answers: a run's ledger.
        """
        for answer in answers:
            self.n_requests += 1
            self.spent_usd += _cost(card, answer)

    def take(self, request: Request, reader: _Reader) -> bool:
        """Set aside what a request may cost.

        Args:
            request: what is to be sent.
            reader: counts its tokens and states the prices.

        Returns:
            Whether it may be sent. If not, either `stopped` is set, or there will be room once
            something that is under way is settled.
        """
        if self.max_requests is not None and self.n_requests >= self.max_requests:
            self.stopped = True
            return False
        if self.max_usd is not None:
            most = _most(request, reader)
            if self.spent_usd + sum(self._set_aside.values()) + most > self.max_usd:
                self.stopped = not self._set_aside
                self._next_usd = most
                return False
            self._set_aside[request.key] = most
        self.n_requests += 1
        return True

    def settle(self, outcome: Completion | Failure, card: JudgeCard) -> None:
        """Put what a request did cost in the place of what it might have.

        Args:
            outcome: what became of it.
            card: by which judge.
        """
        self._set_aside.pop(outcome.key, None)
        if isinstance(outcome, Completion):
            self.spent_usd += _cost(card, outcome)

    def summary(self) -> str:
        """What was spent, and how to go on; one line."""
        spent = f"{self.n_requests:,} requests"
        if self.max_usd is not None:
            spent += f" and ${self.spent_usd:,.4f}"
        if not self.stopped:
            return f"spent {spent}"
        if self.max_requests is not None and self.n_requests >= self.max_requests:
            why, flag = f"--max-requests {self.max_requests} is reached", "--max-requests"
        else:
            why = (
                f"the next request may cost ${self._next_usd:,.4f}, which --max-usd "
                f"{self.max_usd:g} leaves no room for"
            )
            flag = "--max-usd"
        return f"stopped: {why}; spent {spent}. The same command with a higher {flag} goes on"


def _cost(card: JudgeCard, answer: Completion) -> float:
    return price_usd(card, answer.prompt_tokens, answer.completion_tokens) or 0.0


def _most(request: Request, reader: _Reader) -> float:
    texts = [*(message.content for message in request.messages), request.prefix or ""]
    if request.choices is None:
        n_written = request.decoding.max_tokens
    else:
        n_written = _CHOICE_TOKENS
        # Where a server is asked in words, it is told the choices.
        texts += [*request.choices, *request.choices]
    n_prompt = reader.count_tokens("\n".join(texts)) + _TOKENS_PER_MESSAGE * (
        len(request.messages) + 4
    )
    n_readings = 1 if request.choices is None else reader.limits.readings_per_score
    return n_readings * (price_usd(reader.card, n_prompt, n_written) or 0.0)
