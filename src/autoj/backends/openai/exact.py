"""Exact probabilities of choices, from servers that give them for tokens or texts that are named.

Among the likeliest tokens a choice may be missing, so that only a bound of it is known. Two fields
of vLLM's server leave no choice out:

- `logprob_token_ids` (2026): at each position the server lists these tokens in place of the
  likeliest ones. Their numbers are those of the server's `/tokenize`.
- `prompt_logprobs`: the log-probability of each token of the prompt. The turn is continued by each
  choice in a request of its own, and its tokens are added up.

A server that does not know a field refuses it or ignores it, so each is tried once: the first must
list the named tokens and nothing but the written one besides, and the second must be there. A fault
that may pass decides nothing: the question fails as any other would, and the next one tries again.
Servers that fail on an unknown field are told from busy ones by failing twice, with a plain request
answered after each; a tokenizer is not there only where it is refused (404, 405 or 501, say), or
where the card says so (`options.tokenize`): a proxy that fails for good cannot be told from a busy
one, and a session that guessed would score the rest of a run in another way than its beginning.

**Source:** vLLM, `entrypoints/openai/chat_completion/protocol.py`, and its pull request 43463.
"""

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from typing import Any, Protocol

from autoj.backends.openai.asking import body_of, without_opening
from autoj.backends.openai.attempts import Ended, GivenUpError, RequestCost
from autoj.backends.openai.faults import Fault
from autoj.backends.openai.replies import Reply
from autoj.backends.openai.scoring import Menu, Position, Scores
from autoj.backends.openai.settings import Settings
from autoj.records import Completion, JudgeCard, ScoredBy, ScoredCompletion

MOST_PROMPTS = 5
"""The most choices that are each sent as a prompt: it is read as often as there are choices."""
MOST_TOKENS = 18
"""The most tokens that are named: with one more, they could not be told from the likeliest 20."""

# The probability of a shared beginning below which it is divided without a further request.
_SMALL_MASS = 0.01
MOST_BEGINNINGS = 4
"""The cap on further requests about shared beginnings, per request."""

_ROUNDS = 2
"""So often a request with a field must fail, and be answered without it, to count as refused: an
overload may end between the two."""

# One plain request; one that names tokens and a prompt for each choice, of which each may be
# answered in the second round, after another plain one.
_MOST_TRIED = 1 + _ROUNDS * (1 + MOST_PROMPTS)

_NUMBER = re.compile(rb"token_id:(\d+)")


def readings_beyond(method: ScoredBy | None) -> int:
    """The readings of a prompt beyond its scores by the likeliest tokens, at most.

    Args:
        method: the way in which the server scores choices; None before it is tried.
    """
    if method is None:
        # The plain reply is one of those that the likeliest tokens take.
        return _MOST_TRIED - 1
    # Prompts that cannot be told apart are read for nothing.
    return MOST_PROMPTS if method == "prompt" else 0


def tokens_after(prefix: Sequence[int], whole: Sequence[int]) -> list[int]:
    """The tokens of a text after those that it shares with its beginning alone.

    >>> tokens_after([1, 2], [1, 2, 7, 8]), tokens_after([1, 2], [1, 9, 8])
    ([7, 8], [9, 8])
    """
    return list(whole[_n_common([prefix, whole]) :])


def _n_common(sequences: Sequence[Sequence[int]]) -> int:
    columns = zip(*sequences, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def named(tokens: Sequence[int], *, trial: bool = False) -> dict[str, Any]:
    """The fields that name tokens.

    Args:
        tokens: their numbers.
        trial: True has the server write tokens as numbers, so that `lists_named` can tell.
    """
    fields: dict[str, Any] = {"logprob_token_ids": list(tokens), "top_logprobs": 20}
    return fields | {"return_tokens_as_token_ids": True} if trial else fields


def lists_named(reply: Reply, tokens: Sequence[int]) -> bool:
    """True where a server has listed the named tokens, and not its likeliest ones."""
    if not reply.positions:
        return False
    listed = [_NUMBER.fullmatch(token) for token, _ in reply.positions[0].ranked]
    numbers = {int(found[1]) for found in listed if found is not None}
    return set(tokens) <= numbers and len(listed) <= len(set(tokens)) + 1


def ended_by(body: Mapping[str, Any], choice: str, most_tokens: str) -> dict[str, Any]:
    """The body of a prompt whose open turn of the assistant ends in a choice.

    Args:
        body: that of the open turn.
        choice: the choice.
        most_tokens: the server's name for the most tokens to write.
    """
    *before, last = body["messages"]
    return {
        **body,
        "messages": [*before, {**last, "content": last["content"] + choice}],
        "prompt_logprobs": 0,
        most_tokens: 1,
    }


def joint_logprobs(replies: Sequence[Reply]) -> tuple[float, ...] | None:
    """The log-probability of each choice, from prompts that differ in it alone.

    Tokens that all prompts share are left out: they add the same to each.

    Returns:
        None where a server has sent none, or cannot tell two choices apart.
    """
    prompts = [reply.prompt for reply in replies]
    known = [prompt for prompt in prompts if prompt]
    if len(known) < len(prompts):
        return None
    n_shared = _n_common([[number for number, _ in prompt] for prompt in known])
    if any(len(prompt) <= n_shared for prompt in known):
        return None
    return tuple(math.fsum(logprob for _, logprob in prompt[n_shared:]) for prompt in known)


class AskReply(Protocol):
    """Asks a server until there is a reply (`asker.Asker`)."""

    async def __call__(
        self, asking: RequestCost, begun: str = "", fields: dict[str, Any] | None = None
    ) -> Reply:
        """The reply to a request with further fields, whose answer has begun with a text."""


class AskTokens(Protocol):
    """Asks a server's tokenizer until there is an answer (`asker.Asker`)."""

    async def __call__(self, text: str, ended: Ended) -> list[int] | None:
        """The numbers of a text's tokens; None where the server refuses to say them."""


@dataclass(slots=True)
class ChoiceScorer:
    """Scores the choices of requests by the best way that a server knows; of one event loop."""

    card: JudgeCard
    settings: Settings
    reply: AskReply
    token_ids: AskTokens
    method: ScoredBy | None = None
    """The way in which the server scores choices after a forced opening; None before it is
    tried."""
    trying: asyncio.Lock = field(default_factory=asyncio.Lock)
    tokens: dict[tuple[str, tuple[str, ...]], tuple[int, ...] | None] = field(default_factory=dict)
    """The numbers of the tokens of choices after a prefix; None where the server does not say."""

    async def scored(self, asking: RequestCost) -> Completion:
        """A completion with the scores of its choices.

        Raises:
            GivenUpError: there was no reply.
        """
        reply: Reply | None = None
        if self.settings.scoring == "prefill":
            async with self.trying:
                if self.method is None:
                    # What goes wrong with this one has other reasons than an unknown field.
                    reply = await self.reply(asking)
                    self.method, scored = await self._tried(asking)
                    if scored is not None:
                        return scored
            if self.method == "prompt":
                found = await self._by_prompts(asking, trial=False)
                if found is not None:
                    return found
        return await self._by_tokens(asking, reply if self.method == "likeliest" else None)

    async def _tried(self, asking: RequestCost) -> tuple[ScoredBy, Completion | None]:
        """The best way in which the server scores choices, by trying each with one request.

        Scores that the trial gave come along.
        """
        tokens = await self._tokens(asking)
        if tokens:
            reply = await self._attempt(asking, named(tokens, trial=True), trial=True)
            if reply is not None and lists_named(reply, tokens):
                return "token ids", None
        found = await self._by_prompts(asking, trial=True)
        return ("likeliest", None) if found is None else ("prompt", found)

    async def _attempt(
        self, asking: RequestCost, fields: dict[str, Any], *, trial: bool
    ) -> Reply | None:
        """A reply to a request with further fields; None where the server refuses them.

        Args:
            asking: the request.
            fields: the fields.
            trial: True where it is tried whether the server knows the fields: some servers fail on
                one that they do not know.

        Raises:
            GivenUpError: there was no reply for a reason that may pass, or that is no refusal.
        """
        for _ in range(_ROUNDS):
            try:
                return await self.reply(asking, fields=fields)
            except GivenUpError as given_up:
                fault = given_up.fault
                if fault is None or (fault.ends is not None and not fault.refuses):
                    raise
                if not fault.retryable:
                    return None
                if not trial or fault.error == "RateLimited" or not await self._is_up(asking):
                    raise
        return None

    async def _is_up(self, asking: RequestCost) -> bool:
        """True where the server answers the same request without further fields."""
        try:
            await self.reply(asking)
        except GivenUpError:
            return False
        return True

    async def _tokens(self, asking: RequestCost) -> tuple[int, ...] | None:
        """The numbers of the tokens of a request's choices; None if the server does not say.

        Raises:
            GivenUpError: the tokenizer does not answer, for a reason that may pass.
        """
        if not self.settings.tokenize:
            return None
        prefix, choices = asking.request.prefix or "", asking.request.choices or ()
        if (prefix, choices) not in self.tokens:
            texts = [prefix, *(prefix + choice for choice in choices)]
            known: list[list[int]] = []
            for text in texts:
                if (its := await self.token_ids(text, asking.ended)) is None:
                    break
                known.append(its)
            whole = len(known) == len(texts)
            after = [tokens_after(known[0], tokens) for tokens in known[1:]] if whole else []
            numbers = tuple(dict.fromkeys(chain.from_iterable(after)))
            fits = all(after) and 0 < len(numbers) <= MOST_TOKENS
            self.tokens[prefix, choices] = numbers if fits else None
        return self.tokens[prefix, choices]

    async def _by_prompts(self, asking: RequestCost, *, trial: bool) -> Completion | None:
        """The scores of the choices as ends of prompts; None where the server gives none."""
        request = asking.request
        choices = request.choices or ()
        if len(choices) > MOST_PROMPTS:
            return None
        body = body_of(request, self.card.model, self.settings)
        replies = []
        for choice in choices:
            fields = ended_by(body, choice, self.settings.max_tokens_parameter)
            reply = await self._attempt(asking, fields, trial=trial)
            if reply is None or reply.prompt is None:
                return None
            replies.append(reply)
        logprobs = joint_logprobs(replies)
        if logprobs is None:
            return None
        return ScoredCompletion(
            key=request.key,
            text=max(zip(logprobs, choices, strict=True))[1],
            finish="stop",
            prompt_tokens=asking.prompt_tokens,
            completion_tokens=asking.completion_tokens,
            choice_logprobs=logprobs,
            scored_by="prompt",
        )

    async def _by_tokens(self, asking: RequestCost, reply: Reply | None) -> Completion:
        """The scores of the choices from the tokens that are listed at each position.

        Args:
            asking: the request.
            reply: the reply to it, if there is one.
        """
        request = asking.request
        choices = request.choices or ()
        forced = self.settings.scoring == "prefill"
        menu = Menu(choices, request.prefix, forced=forced)
        tokens = await self._tokens(asking) if self.method == "token ids" else None
        fields = named(tokens) if tokens else {}
        reply = reply or await self.reply(asking, fields=fields)
        scores = menu.read(_positions(reply))
        if forced:
            scores = await self._followed(menu, scores, asking, fields)
        logprobs = scores.logprobs()
        # None of the choices: the protocol reads the text, as it would without probabilities.
        likeliest = None if logprobs is None else max(zip(logprobs, choices, strict=True))[1]
        return ScoredCompletion(
            key=request.key,
            text=without_opening(reply.text, request) if likeliest is None else likeliest,
            finish="stop" if likeliest is not None else reply.finish,
            prompt_tokens=asking.prompt_tokens,
            completion_tokens=asking.completion_tokens,
            choice_logprobs=logprobs,
            scored_by="token ids" if tokens else "likeliest",
        )

    async def _followed(
        self, menu: Menu, scores: Scores, asking: RequestCost, fields: dict[str, Any]
    ) -> Scores:
        """Requests the continuations of shared beginnings that were not written."""
        for _ in range(MOST_BEGINNINGS):
            open_ones = [item for item in scores.shared if len(item.choices) > 1]
            shared = max(open_ones, key=lambda item: item.mass, default=None)
            if shared is None or shared.mass < _SMALL_MASS:
                break
            reply = await self.reply(asking, begun=shared.text, fields=fields)
            scores.shared.remove(shared)
            scores = menu.read(_positions(reply), shared, scores)
        return scores


def _positions(reply: Reply) -> tuple[Position, ...]:
    if reply.positions is None:
        raise GivenUpError(
            Fault(
                error="NoLogprobs",
                message="the server sent no log-probabilities, although options.scoring says that "
                "it does; protocols that write a critique do not need them",
            )
        )
    return reply.positions
