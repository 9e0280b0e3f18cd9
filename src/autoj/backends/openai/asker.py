"""One request until it is answered or given up: attempts, waits, and errors that end the run."""

import asyncio
import random
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from autoj.backends.openai.asking import body_of, without_opening
from autoj.backends.openai.attempts import Ended, GivenUpError, RequestCost
from autoj.backends.openai.client import Client
from autoj.backends.openai.exact import ChoiceScorer
from autoj.backends.openai.faults import Fault, Place
from autoj.backends.openai.planning import estimate_tokens
from autoj.backends.openai.replies import Reply
from autoj.backends.openai.retries import Backoff, RateLimiter, WaitLog, duration
from autoj.backends.openai.settings import Settings
from autoj.errors import AutojError, BackendError, ConfigError, Unavailable
from autoj.records import (
    Completion,
    Failure,
    JudgeCard,
    Request,
    WrittenCompletion,
)

# If nothing ever answered, a wrong address is likelier than a server that is starting.
_FIRST_TRIES = 3
_AT_TOKENIZE = (
    "at /tokenize; where the server has none, put tokenize: false under options of the card"
)
# Tokens that a chat template puts around each message.
_TOKENS_PER_MESSAGE = 8


@dataclass(slots=True)
class Asker:
    """Sends requests to one server, within one event loop."""

    card: JudgeCard
    settings: Settings
    place: Place
    client: Client
    draw: random.Random = field(default_factory=random.Random)
    n_contacts: int = 0
    """Attempts in which the server answered, with success or not."""
    resume_at: float = 0.0
    """The loop's time before which the server asked for no requests."""
    scorer: ChoiceScorer = field(init=False)
    wait_log: WaitLog = field(init=False)
    slots: asyncio.Semaphore = field(init=False)
    backoff: Backoff = field(init=False)
    limiters: tuple[RateLimiter | None, RateLimiter | None] = field(init=False)
    """The rate limits of requests and of tokens."""

    def __post_init__(self) -> None:
        given = self.settings
        self.scorer = ChoiceScorer(self.card, given, self._reply, self._token_ids)
        self.slots = asyncio.Semaphore(given.concurrency)
        self.backoff = Backoff(
            first_seconds=given.first_wait_seconds, longest_seconds=given.longest_wait_seconds
        )
        self.wait_log = WaitLog(self.place.judge)
        self.limiters = (
            RateLimiter(given.requests_per_minute) if given.requests_per_minute else None,
            RateLimiter(given.tokens_per_minute) if given.tokens_per_minute else None,
        )

    async def answer(
        self, request: Request, ended: Ended
    ) -> Completion | Failure | AutojError | None:
        """Answers a request.

        Args:
            request: the request.
            ended: whether its call is cancelled.

        Returns:
            A completion, a failure, an error that ends the run, or None for a cancelled
            request.
        """
        asking = RequestCost(request=request, ended=ended)
        try:
            async with self.slots:
                if request.choices is None:
                    return await self._written(asking)
                return await self.scorer.scored(asking)
        except GivenUpError as given_up:
            fault = given_up.fault
            # Other requests that failed likewise have nothing to add.
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

    async def _written(self, asking: RequestCost) -> Completion:
        request = asking.request
        reply = await self._reply(asking)
        written = Completion(
            key=request.key,
            text=without_opening(reply.text, request),
            finish=reply.finish,
            prompt_tokens=asking.prompt_tokens,
            completion_tokens=asking.completion_tokens,
        )
        if reply.logprob is None:
            return written
        return WrittenCompletion(**asdict(written), logprob=reply.logprob)

    async def _reply(
        self, asking: RequestCost, begun: str = "", fields: dict[str, Any] | None = None
    ) -> Reply:
        """Retries until there is a reply, and adds up the cost.

        Args:
            asking: the request.
            begun: the beginning of the answer, after the prefix.
            fields: further fields of the body, in place of those of the same name.

        Raises:
            GivenUpError: there was no reply.
        """
        request = asking.request
        body = body_of(request, self.card.model, self.settings, begun) | (fields or {})
        n_before = self.n_contacts
        for n_tries in range(1, self.settings.attempts + 1):
            n_reserved = await self._wait_for_turn(body, asking.ended)
            if asking.ended.is_set:
                raise GivenUpError(None)
            asking.n_tries += 1
            got = await self.client.ask(body, scored=request.choices is not None)
            self.n_contacts += not (isinstance(got, Fault) and got.unreached)
            if isinstance(got, Reply):
                self._count(got, body, asking, n_reserved)
                return got
            await self._wait_to_retry(got, n_tries, n_before, asking.ended)
        raise AssertionError("at least one attempt is made")

    async def _token_ids(self, text: str, ended: Ended) -> list[int] | None:
        """The numbers of a text's tokens; None where the server refuses to say them.

        Raises:
            GivenUpError: the server did not answer, for a reason that may pass.
        """
        n_before = self.n_contacts
        for n_tries in range(1, self.settings.attempts + 1):
            got = await self.client.token_ids(text)
            self.n_contacts += not (isinstance(got, Fault) and got.unreached)
            if not isinstance(got, Fault):
                return got
            fault = replace(got, message=f"{got.message} ({_AT_TOKENIZE})")
            await self._wait_to_retry(fault, n_tries, n_before, ended)
            if ended.is_set:
                raise GivenUpError(None)
        raise AssertionError("at least one attempt is made")

    def _judged(self, fault: Fault, n_tries: int, n_before: int) -> Fault:
        """Adjusts a fault by earlier contact with the server."""
        wait = fault.wait_seconds
        if wait is not None and wait > self.settings.longest_wait_seconds:
            ends: AutojError = BackendError(
                f"the server asks to wait {duration(wait)} ({fault.message}), longer than "
                f"options.longest_wait_seconds ({duration(self.settings.longest_wait_seconds)})",
                retryable=True,
            )
        elif not fault.unreached:
            return fault
        elif self.n_contacts == 0 and n_tries >= min(_FIRST_TRIES, self.settings.attempts):
            ends = ConfigError(fault.message, hint=_advice(self.place))
        elif self.n_contacts == n_before and n_tries == self.settings.attempts:
            ends = Unavailable(f"the server no longer answers: {fault.message}")
        else:
            return fault
        return Fault(error=fault.error, message=fault.message, retryable=True, ends=ends)

    async def _wait_for_turn(self, body: dict[str, Any], ended: Ended) -> int:
        """Waits for the rate limits; returns the number of reserved tokens."""
        requests, tokens = self.limiters
        now, n_tokens = asyncio.get_running_loop().time(), 0
        wait = self.resume_at - now
        if requests is not None:
            wait = max(wait, requests.take(1, now))
        if tokens is not None:
            n_tokens = _most_tokens(body, self.settings)
            wait = max(wait, tokens.take(n_tokens, now))
        await ended.sleep(wait)
        return n_tokens

    async def _wait_to_retry(self, fault: Fault, n_tries: int, n_before: int, ended: Ended) -> None:
        """Waits before a further attempt.

        Args:
            fault: the fault of the last one.
            n_tries: attempts so far.
            n_before: the contacts with the server before the first of them.
            ended: ends the wait.

        Raises:
            GivenUpError: there is no further attempt.
        """
        fault = self._judged(fault, n_tries, n_before)
        if fault.ends is not None or not fault.retryable or n_tries == self.settings.attempts:
            raise GivenUpError(fault)
        if fault.error == "RateLimited" and fault.wait_seconds is not None:
            # A rate limit concerns the account: requests that have not started wait, too.
            now = asyncio.get_running_loop().time()
            self.resume_at = max(self.resume_at, now + fault.wait_seconds)
        wait = self.backoff.seconds(n_tries, fault.wait_seconds, self.draw)
        self.wait_log.tell(wait, fault.message, asyncio.get_running_loop().time())
        await ended.sleep(wait)

    def _count(
        self, reply: Reply, body: dict[str, Any], asking: RequestCost, n_reserved: int
    ) -> None:
        """Adds up tokens; estimated if the server does not count them."""
        n_prompt, n_written = reply.prompt_tokens, reply.completion_tokens
        if n_prompt is None:
            n_prompt = _prompt_tokens(body)
        if n_written is None:
            n_written = estimate_tokens(reply.text)
        asking.prompt_tokens += n_prompt
        asking.completion_tokens += n_written
        if (limiter := self.limiters[1]) is not None:
            limiter.correct(n_reserved - n_prompt - n_written)

    async def _with_models(self, error: AutojError) -> AutojError:
        """Adds the server's model names to an error about the model's name."""
        if "has no model" in error.message and (names := await self.client.model_names()):
            error.hint = f"It serves {', '.join(names)}. Set the card's model to one of these."
        return error


def _advice(place: Place) -> str:
    """The advice about a server that cannot be reached."""
    if place.is_local:
        return f"Start the server of judge {place.judge!r}, or set options.base_url."
    return "Check the network and its proxy, or set options.base_url in the judge's card."


def _prompt_tokens(body: dict[str, Any]) -> int:
    turns = body["messages"]
    texts = "\n".join(turn["content"] for turn in turns)
    return estimate_tokens(texts) + _TOKENS_PER_MESSAGE * len(turns)


def _most_tokens(body: dict[str, Any], settings: Settings) -> int:
    """The maximum tokens of a request, as servers count it against a rate limit."""
    return _prompt_tokens(body) + int(body[settings.max_tokens_parameter])
