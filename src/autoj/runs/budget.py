"""Budget caps of a run: money and requests, counted over all sessions of its folder.

The most that a request may cost is reserved before it is sent: its prompt, and all tokens that its
answer may have. So long answers cannot exceed a cap, and requests in flight can always finish.
Where too much is reserved for another request, the run waits until requests in flight are settled
at their actual cost; it stops where there is no room even then.
"""

from collections.abc import Iterable
from threading import Lock
from typing import Protocol, TypeAlias

from autoj.backends.base import Limits
from autoj.errors import ConfigError
from autoj.records import Completion, Failure, JudgeCard, Request

Caps: TypeAlias = tuple[float | None, int | None]
"""The cap in US dollars and the cap on requests; None sets no limit."""

# A forced choice is scored, not written; a server that is asked in words writes a few tokens.
_CHOICE_TOKENS = 32
# Tokens that a chat template puts around each message.
_TOKENS_PER_MESSAGE = 8


class _Reader(Protocol):
    """The paid engine; every backend is one."""

    @property
    def card(self) -> JudgeCard:
        """The judge."""

    @property
    def limits(self) -> Limits:
        """Limits, with the number of times it reads a prompt."""

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text."""


def price_usd(card: JudgeCard, prompt_tokens: int, completion_tokens: int) -> float | None:
    """The price of tokens by a judge's card, in US dollars; None where it states no prices.

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
    """The caps, the amount spent, and the amount reserved for requests in flight.

    One budget may serve several judges and several runs; each answer is priced by its judge's card.
    The cost of failed requests is unknown and not counted.
    """

    def __init__(self, max_usd: float | None = None, max_requests: int | None = None) -> None:
        """Makes a budget.

        Args:
            max_usd: the cap in US dollars, above 0; None sets no limit.
            max_requests: the cap on requests, above 0; None sets no limit.

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
        """True where a request was held back for good."""
        self._set_aside: dict[str, float] = {}
        self._next_usd = 0.0
        # Requests are taken in one thread and settled in another.
        self._changing = Lock()

    def check(self, card: JudgeCard) -> None:
        """Refuses a judge without prices where money is capped.

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
        """Counts the answers of earlier sessions.

        Args:
            card: the judge that gave them.
            answers: a run's ledger.
        """
        for answer in answers:
            self.n_requests += 1
            self.spent_usd += _cost(card, answer)

    def take(self, request: Request, reader: _Reader) -> bool:
        """Reserves the cost of a request.

        Args:
            request: the request to send.
            reader: counts its tokens and states the prices.

        Returns:
            True where it may be sent. If not, either `stopped` is set, or there will be room once a
            request in flight is settled.
        """
        most = 0.0 if self.max_usd is None else _most(request, reader)
        with self._changing:
            return self._take(request, most)

    def _take(self, request: Request, most: float) -> bool:
        if self.max_requests is not None and self.n_requests >= self.max_requests:
            self.stopped = True
            return False
        if self.max_usd is not None:
            if self.spent_usd + sum(self._set_aside.values()) + most > self.max_usd:
                self.stopped = not self._set_aside
                self._next_usd = most
                return False
            self._set_aside[request.key] = most
        self.n_requests += 1
        return True

    def settle(self, outcome: Completion | Failure, card: JudgeCard) -> None:
        """Replaces the reserved cost of a request by its actual cost.

        Args:
            outcome: the request's outcome.
            card: the judge that gave it.
        """
        with self._changing:
            self._set_aside.pop(outcome.key, None)
            if isinstance(outcome, Completion):
                self.spent_usd += _cost(card, outcome)

    def summary(self) -> str:
        """One line on the amount spent, and on the way to continue."""
        spent = f"{self.n_requests:,} requests"
        if self.max_usd is not None:
            spent += f" and ${self.spent_usd:,.4f}"
        if not self.stopped:
            return f"spent {spent}"
        if self.max_requests is not None and self.n_requests >= self.max_requests:
            why, flag = f"--max-requests {self.max_requests} is reached", "--max-requests"
        else:
            why = (
                f"the next request may cost ${self._next_usd:,.4f}, more than --max-usd "
                f"{self.max_usd:g} leaves"
            )
            flag = "--max-usd"
        return f"stopped: {why}; spent {spent}. Repeat the command with a higher {flag} to go on"


def _cost(card: JudgeCard, answer: Completion) -> float:
    return price_usd(card, answer.prompt_tokens, answer.completion_tokens) or 0.0


def _most(request: Request, reader: _Reader) -> float:
    texts = [*(message.content for message in request.messages), request.prefix or ""]
    if request.choices is None:
        n_written = request.decoding.max_tokens
    else:
        n_written = _CHOICE_TOKENS
        # A server that is asked in words is told the choices.
        texts += [*request.choices, *request.choices]
    n_prompt = reader.count_tokens("\n".join(texts)) + _TOKENS_PER_MESSAGE * (
        len(request.messages) + 4
    )
    limits = reader.limits
    n_scored = limits.readings_per_score + limits.readings_beyond
    n_readings = 1 if request.choices is None else n_scored
    return n_readings * (price_usd(reader.card, n_prompt, n_written) or 0.0)
