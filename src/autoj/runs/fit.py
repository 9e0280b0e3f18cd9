"""Make a case fit the judge's context: counted with the judge's own tokenizer, never silently cut.

Only responses are cut, from the middle, the longest first: what begins and ends a text says most
about it, and a query that was cut would be another query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from autoj.backends.base import Limits
from autoj.chat import Template, render
from autoj.protocols.base import RequestBody
from autoj.records import Case, Decoding, JudgeCard, Response

__all__ = ["Build", "Fitted", "OnOverflow", "Overflow", "Reader", "fit"]

OnOverflow: TypeAlias = Literal["error", "truncate"]
Build: TypeAlias = Callable[[Case], list[RequestBody]]
"""All requests that the same texts of a case must fit into."""

_GAP = " … "
# A forced choice is a few words; what is left of the context after the prompt must hold it.
_CHOICE_TOKENS = 32


class Reader(Protocol):
    """How much a judge reads; every backend is one, and training makes one without a model."""

    @property
    def card(self) -> JudgeCard:
        """The judge."""

    @property
    def limits(self) -> Limits:
        """How many tokens there may be."""

    def count_tokens(self, text: str) -> int:
        """How many tokens the judge's own tokenizer makes of a rendered text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The requests about a case as they can be sent."""

    bodies: list[RequestBody]
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """The requests about a case that does not fit, uncut, and why."""

    bodies: list[RequestBody]
    message: str


def fit(
    case: Case, build: Build, reader: Reader, decoding: Decoding, on_overflow: OnOverflow
) -> Fitted | Overflow:
    """The requests about a case, cut where they must be and may be.

    Args:
        case: what is judged.
        build: makes all requests about it, so that both orders show the same texts.
        reader: counts tokens and says how many there may be.
        decoding: says how many tokens the completion needs.
        on_overflow: "error" refuses a case that is too long, "truncate" cuts it.
    """
    bodies = build(case)
    budget = reader.limits.context_tokens - max(
        _CHOICE_TOKENS if body.choices is not None else decoding.max_tokens for body in bodies
    )
    n_tokens = _n_tokens(bodies, reader, budget)
    if n_tokens <= budget:
        return Fitted(bodies=bodies, truncated=False)
    message = (
        f"the prompt has {n_tokens:,} tokens, and the judge's context leaves {budget:,} for it"
    )
    if on_overflow == "error":
        hint = "; --on-overflow truncate cuts the longest response"
        return Overflow(bodies=bodies, message=message + hint)
    cut = _cut_to_fit(case, build, reader, budget)
    if cut is None:
        return Overflow(bodies=bodies, message=message + "; the query alone is too long")
    return Fitted(bodies=cut, truncated=True)


def _n_tokens(bodies: list[RequestBody], reader: Reader, budget: int) -> int:
    """Tokens of the longest request; an upper bound where that already fits."""
    texts = [_text(body, reader) for body in bodies]
    # A token stands for a byte at least, so a text of few bytes needs no count. Half the budget is
    # more than any engine puts around a text.
    n_bytes = max(len(text.encode()) for text in texts)
    if n_bytes <= budget // 2:
        return n_bytes
    return max(reader.count_tokens(text) for text in texts)


def _text(body: RequestBody, reader: Reader) -> str:
    # A request that ends with the assistant's turn is read and not answered: its engine, a reward
    # model, puts the turns together and counts what that adds.
    if body.messages[-1].role == "assistant":
        return "\n\n".join(message.content for message in body.messages)
    # Only engines that read a tokenizer of transformers have a template of its own.
    template: Template | None = getattr(reader, "template", None)
    return render(body.messages, reader.card.wrapper, body.prefix, template)


def _cut_to_fit(case: Case, build: Build, reader: Reader, budget: int) -> list[RequestBody] | None:
    """The requests with every response cut to the largest limit that fits; None where none does."""
    lowest, highest = 0, max(len(response.text) for response in case.responses)
    best: list[RequestBody] | None = None
    while lowest <= highest:
        limit = (lowest + highest) // 2
        bodies = build(
            replace(case, responses=tuple(_cut(response, limit) for response in case.responses))
        )
        if _n_tokens(bodies, reader, budget) <= budget:
            best, lowest = bodies, limit + 1
        else:
            highest = limit - 1
    return best


def _cut(response: Response, limit: int) -> Response:
    """A response with its middle cut out, so that `limit` characters and a gap are left."""
    if len(response.text) <= limit:
        return response
    head, tail = (limit + 1) // 2, limit // 2
    kept = response.text[:head] + _GAP + (response.text[-tail:] if tail else "")
    return replace(response, text=kept)
