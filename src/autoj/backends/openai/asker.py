"""One request until it is answered or given up: tries, waits, and what ends everything."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

from autoj.backends.openai.asking import body_of, without_opening
from autoj.backends.openai.client import Client
from autoj.backends.openai.counting import estimate_tokens
from autoj.backends.openai.faults import Fault, Place
from autoj.backends.openai.replies import Reply
from autoj.backends.openai.retries import Backoff, Pace
from autoj.backends.openai.scoring import Menu, Position, Scores
from autoj.backends.openai.settings import Settings
from autoj.errors import AutojError, BackendError, ConfigError, Unavailable
from autoj.records import Completion, Failure, JudgeCard, Request

__all__ = ["MOST_BEGINNINGS", "Asker", "Ended"]

# Where nothing ever answered, a wrong address is likelier than a server that is about to start.
_FIRST_TRIES = 3
# A shared beginning of less probability than this is divided and not asked about.
_SMALL_MASS = 0.01
MOST_BEGINNINGS = 4
"""How many of them are asked about for one request."""
# What a chat template puts around each message.
_TOKENS_PER_MESSAGE = 8


class Ended:
    """Whether the requests of one call are still wanted; waits end when they are not."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def is_set(self) -> bool:
        """Whether nothing more is to be asked."""
        return self._event.is_set()

    def set(self) -> None:
        """Say that nothing more is to be asked; in the loop's thread."""
        self._event.set()

    async def sleep(self, seconds: float) -> None:
        """Wait, but no longer than requests are wanted."""
        if seconds > 0:
            try:
                await asyncio.wait_for(self._event.wait(), seconds)
            except TimeoutError:
                return


class _GivenUpError(Exception):
    """A request that will get no reply now; without a fault, because it is not wanted any more."""

    def __init__(self, fault: Fault | None) -> None:
        super().__init__()
        self.fault = fault


@dataclass(slots=True, kw_only=True)
class _RequestCost:
    """What one request has cost so far."""

    request: Request
    ended: Ended
    n_tries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(slots=True)
class Asker:
    """Asks one server; lives in one event loop."""

    card: JudgeCard
    settings: Settings
    place: Place
    client: Client
    draw: random.Random = field(default_factory=random.Random)
    n_contacts: int = 0
    """Tries in which the server was there, whatever it said."""
    resume_at: float = 0.0
    """The loop's time before which the server wants no request."""
    slots: asyncio.Semaphore = field(init=False)
    backoff: Backoff = field(init=False)
    paces: tuple[Pace | None, Pace | None] = field(init=False)
    """Of requests and of tokens."""

    def __post_init__(self) -> None:
        given = self.settings
        self.slots = asyncio.Semaphore(given.concurrency)
        self.backoff = Backoff(
            first_seconds=given.first_wait_seconds, longest_seconds=given.longest_wait_seconds
        )
        self.paces = (
            Pace(given.requests_per_minute) if given.requests_per_minute else None,
            Pace(given.tokens_per_minute) if given.tokens_per_minute else None,
        )

    async def answer(
        self, request: Request, ended: Ended
    ) -> Completion | Failure | AutojError | None:
        """What becomes of a request.

        Args:
            request: one question.
            ended: whether it is still wanted.

        Returns:
            An answer, a failure, an error where nothing more needs to be asked, or None where it
            was not wanted any more.
        """
        asking = _RequestCost(request=request, ended=ended)
        try:
            async with self.slots:
                if request.choices is None:
                    return await self._written(asking)
                return await self._scored(asking)
        except _GivenUpError as given_up:
            fault = given_up.fault
            # Others that met the same have nothing to add.
            if fault is None or (fault.ends is not None and ended.is_set):
                return None
            if fault.ends is not None:
                ended.set()
                return await self._with_models(fault.ends)
            return Failure(
                key=request.key,
                error=fault.error,
                message=fault.message,
                retryable=fault.retryable,
                attempts=max(asking.n_tries, 1),
            )

    async def _written(self, asking: _RequestCost) -> Completion:
        request = asking.request
        reply = await self._reply(asking)
        return Completion(
            key=request.key,
            text=without_opening(reply.text, request),
            finish=reply.finish,
            prompt_tokens=asking.prompt_tokens,
            completion_tokens=asking.completion_tokens,
        )

    async def _scored(self, asking: _RequestCost) -> Completion:
        request = asking.request
        choices = request.choices or ()
        forced = self.settings.scoring == "prefill"
        menu = Menu(choices, request.prefix, forced=forced)
        reply = await self._reply(asking)
        scores = menu.read(_positions(reply))
        if forced:
            scores = await self._followed(menu, scores, asking)
        logprobs = scores.logprobs()
        # Off the menu: the protocol reads what was written, as it would without probabilities.
        likeliest = None if logprobs is None else max(zip(logprobs, choices, strict=True))[1]
        return Completion(
            key=request.key,
            text=without_opening(reply.text, request) if likeliest is None else likeliest,
            finish="stop" if likeliest is not None else reply.finish,
            prompt_tokens=asking.prompt_tokens,
            completion_tokens=asking.completion_tokens,
            choice_logprobs=logprobs,
        )

    async def _followed(self, menu: Menu, scores: Scores, asking: _RequestCost) -> Scores:
        """Ask how beginnings go on that several choices share and that were not written."""
        for _ in range(MOST_BEGINNINGS):
            open_ones = [item for item in scores.shared if len(item.choices) > 1]
            shared = max(open_ones, key=lambda item: item.mass, default=None)
            if shared is None or shared.mass < _SMALL_MASS:
                break
            reply = await self._reply(asking, begun=shared.text)
            scores.shared.remove(shared)
            scores = menu.read(_positions(reply), shared, scores)
        return scores

    async def _reply(self, asking: _RequestCost, begun: str = "") -> Reply:
        """Try until there is a reply; what it cost is added up.

        Raises:
            _GivenUpError: there is none.
        """
        request = asking.request
        body = body_of(request, self.card.model, self.settings, begun)
        n_before = self.n_contacts
        for n_tries in range(1, self.settings.attempts + 1):
            n_reserved = await self._wait_for_turn(body, asking.ended)
            if asking.ended.is_set:
                raise _GivenUpError(None)
            asking.n_tries += 1
            got = await self.client.ask(body, scored=request.choices is not None)
            self.n_contacts += not (isinstance(got, Fault) and got.unreached)
            if isinstance(got, Reply):
                self._count(got, body, asking, n_reserved)
                return got
            fault = self._judged(got, n_tries, n_before)
            if fault.ends is not None or not fault.retryable or n_tries == self.settings.attempts:
                raise _GivenUpError(fault)
            await self._wait_to_retry(fault, n_tries, asking.ended)
        raise AssertionError("there is at least one try")

    def _judged(self, fault: Fault, n_tries: int, n_before: int) -> Fault:
        """A fault in the light of what else was heard of the server."""
        wait = fault.wait_seconds
        if wait is not None and wait > self.settings.longest_wait_seconds:
            ends: AutojError = BackendError(
                f"the server asks to wait {wait:,.0f} seconds ({fault.message}), and "
                f"options.longest_wait_seconds is {self.settings.longest_wait_seconds:g}",
                retryable=True,
            )
        elif not fault.unreached:
            return fault
        elif self.n_contacts == 0 and n_tries >= min(_FIRST_TRIES, self.settings.attempts):
            ends = ConfigError(
                fault.message,
                hint=f"Start the server of judge {self.place.judge!r}, or set options.base_url.",
            )
        elif self.n_contacts == n_before and n_tries == self.settings.attempts:
            ends = Unavailable(f"the server is gone: {fault.message}")
        else:
            return fault
        return Fault(error=fault.error, message=fault.message, retryable=True, ends=ends)

    async def _wait_for_turn(self, body: dict[str, Any], ended: Ended) -> int:
        """Wait for the paces; returns how many tokens are reserved."""
        requests, tokens = self.paces
        now, n_tokens = asyncio.get_running_loop().time(), 0
        wait = self.resume_at - now
        if requests is not None:
            wait = max(wait, requests.take(1, now))
        if tokens is not None:
            n_tokens = _most_tokens(body, self.settings)
            wait = max(wait, tokens.take(n_tokens, now))
        await ended.sleep(wait)
        return n_tokens

    async def _wait_to_retry(self, fault: Fault, n_tries: int, ended: Ended) -> None:
        if fault.error == "RateLimited" and fault.wait_seconds is not None:
            # The account is meant and not the request: what has not started yet waits, too.
            now = asyncio.get_running_loop().time()
            self.resume_at = max(self.resume_at, now + fault.wait_seconds)
        await ended.sleep(self.backoff.seconds(n_tries, fault.wait_seconds, self.draw))

    def _count(
        self, reply: Reply, body: dict[str, Any], asking: _RequestCost, n_reserved: int
    ) -> None:
        """Add up tokens; estimated where the server does not count them."""
        n_prompt, n_written = reply.prompt_tokens, reply.completion_tokens
        if n_prompt is None:
            n_prompt = _prompt_tokens(body)
        if n_written is None:
            n_written = estimate_tokens(reply.text)
        asking.prompt_tokens += n_prompt
        asking.completion_tokens += n_written
        if (pace := self.paces[1]) is not None:
            pace.correct(n_reserved - n_prompt - n_written)

    async def _with_models(self, error: AutojError) -> AutojError:
        """An error about the model's name, with the names that there are."""
        if "has no model" in error.message and (names := await self.client.model_names()):
            error.hint = (
                f"It serves {', '.join(names)}: one of these belongs into the card's model."
            )
        return error


def _positions(reply: Reply) -> tuple[Position, ...]:
    if reply.positions is None:
        raise _GivenUpError(
            Fault(
                error="NoLogprobs",
                message="the server sent no log-probabilities, which the card promises "
                "(options.scoring); protocols that write a critique need none",
            )
        )
    return reply.positions


def _prompt_tokens(body: dict[str, Any]) -> int:
    turns = body["messages"]
    texts = "\n".join(turn["content"] for turn in turns)
    return estimate_tokens(texts) + _TOKENS_PER_MESSAGE * len(turns)


def _most_tokens(body: dict[str, Any], settings: Settings) -> int:
    """What a request may cost, as servers reckon it when they let it in."""
    return _prompt_tokens(body) + int(body[settings.max_tokens_parameter])
