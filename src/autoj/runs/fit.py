"""Fits cases into the judge's context, by its own tokenizer; nothing is cut silently.

Only responses are cut, from the middle, the longest first: the beginning and end of a text say the
most about it, and a cut query would be another query. Where only the query's scenario is asked for,
the query is cut in the same way.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from autoj.backends.base import Reader
from autoj.chat import Template, render
from autoj.errors import ConfigError
from autoj.protocols.base import RequestBody
from autoj.records import Case, Decoding, Response

OnOverflow: TypeAlias = Literal["error", "truncate"]
Page: TypeAlias = tuple[int, ...]
"""The responses that a page shows, in its order."""
Build: TypeAlias = Callable[[Case, Page], RequestBody]
"""Builds the request for a page."""

_GAP = " … "
# A forced choice is a few words; the context must have room for it after the prompt.
_CHOICE_TOKENS = 32
# A query whose scenario is asked for (paper, Appendix B): the length up to which it is kept, and
# the lengths kept of its ends otherwise. With the 50 tokens that the paper reserves for its prompt
# that is 2,048.
_QUERY_TOKENS = 1998
_HEAD_TOKENS, _TAIL_TOKENS = 999, 1000
_QUERY_GAP = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The requests about a case as they will be sent."""

    bodies: list[RequestBody]
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """The uncut requests about a case that does not fit, and the reason."""

    bodies: list[RequestBody]
    message: str


def check_context(
    case: Case, pages: Sequence[Page], build: Build, reader: Reader, decoding: Decoding
) -> None:
    """Checks that the judge's context has room for a protocol's own text.

    Args:
        case: any of the cases; its texts are left out.
        pages: the pages that show it.
        build: makes the requests about it.
        reader: counts tokens and states the limits.
        decoding: states the tokens that the completion needs.

    Raises:
        ConfigError: it has no room, so no case would fit.
    """
    blank = replace(
        case,
        query="",
        responses=tuple(replace(response, text="") for response in case.responses),
        critiques=("",) * len(case.critiques),
        history=(),
        reference=None if case.reference is None else "",
    )
    bodies = _build_all(blank, pages, build)
    n_answer = _answer_tokens(bodies, decoding)
    budget = reader.limits.context_tokens - n_answer
    n_tokens = _n_tokens(bodies, reader, budget)
    if n_tokens > budget:
        raise ConfigError(
            f"the context of judge {reader.card.name!r} is too short: of its "
            f"{reader.limits.context_tokens:,} tokens an answer may take {n_answer:,}, and the "
            f"prompt without any response has {n_tokens:,}",
            hint="Lower --max-tokens, raise the card's context_tokens if the model allows it, "
            "or use a protocol with a shorter prompt.",
        )


def fit(
    case: Case,
    pages: Sequence[Page],
    build: Build,
    reader: Reader,
    decoding: Decoding,
    on_overflow: OnOverflow,
) -> Fitted | Overflow:
    """Builds the requests about a case, cut where necessary and allowed.

    Args:
        case: the case to judge.
        pages: those that must show the same texts, such as both orders of a pair.
        build: builds the request for a page.
        reader: counts tokens and states the limits.
        decoding: states the tokens that the completion needs.
        on_overflow: "error" refuses a case that is too long, "truncate" cuts it.
    """
    bodies = [build(case, page) for page in pages]
    budget = reader.limits.context_tokens - _answer_tokens(bodies, decoding)
    n_tokens = _n_tokens(bodies, reader, budget)
    if n_tokens <= budget:
        return Fitted(bodies=bodies, truncated=False)
    message = f"the prompt has {n_tokens:,} tokens, and the judge's context has room for {budget:,}"
    if on_overflow == "error":
        hint = "; --on-overflow truncate cuts the longest response"
        return Overflow(bodies=bodies, message=message + hint)
    cut = _cut_to_fit(case, pages, build, reader, budget)
    if cut is None:
        return Overflow(bodies=bodies, message=message + "; the query alone is too long")
    return Fitted(bodies=cut, truncated=True)


def fit_query(
    case: Case, pages: Sequence[Page], build: Build, reader: Reader, decoding: Decoding
) -> Fitted | Overflow:
    """Builds the requests about a query alone, cut in its middle where it is too long.

    A query of more than 1,998 tokens keeps its first 999 and its last 1,000, with "…" between them.
    With the paper's prompt that is within its 2,048 tokens. In a shorter context both ends are cut
    further by equal parts.

    Args:
        case: the case whose query is asked about.
        pages: the one page that shows no response.
        build: builds the request for it.
        reader: counts tokens and states the limits.
        decoding: states the tokens that the completion needs.

    **Source:** paper, Appendix B. The release's classifier counted Llama-2's tokens; here they are
    the judge's own.
    """
    budget = reader.limits.context_tokens - decoding.max_tokens
    bodies = _build_all(case, pages, build)
    if _n_tokens(bodies, reader, budget) <= budget and (
        not may_be_cut(case.query) or reader.count_tokens(case.query) <= _QUERY_TOKENS
    ):
        return Fitted(bodies=bodies, truncated=False)
    lowest, highest = 0, _HEAD_TOKENS
    best: Fitted | None = None
    # The paper's own limits come first, and fit nearly always.
    limit = highest
    while lowest <= highest:
        cut = replace(case, query=_cut_query(case.query, limit, reader))
        bodies = _build_all(cut, pages, build)
        if _n_tokens(bodies, reader, budget) <= budget:
            best = Fitted(bodies=bodies, truncated=cut.query != case.query)
            lowest = limit + 1
        else:
            highest = limit - 1
        limit = (lowest + highest) // 2
    if best is not None:
        return best
    message = f"the prompt leaves no room for a query in the {budget:,} tokens available to it"
    return Overflow(bodies=_build_all(case, pages, build), message=message)


def may_be_cut(query: str) -> bool:
    """True where a query whose scenario is asked for may be longer than is kept of it."""
    # A token is at least one byte.
    return len(query.encode("utf-8", "replace")) > _QUERY_TOKENS


def _cut_query(query: str, n_tokens: int, reader: Reader) -> str:
    """The first tokens of a query and its last ones, one more of these, as in the paper."""
    n_head = _longest(lambda n: query[:n], len(query), n_tokens, reader)
    n_tail = n_tokens + _TAIL_TOKENS - _HEAD_TOKENS
    n_tail = _longest(lambda n: query[len(query) - n :], len(query) - n_head, n_tail, reader)
    if n_head + n_tail >= len(query):
        return query
    return query[:n_head] + _QUERY_GAP + query[len(query) - n_tail :]


def _longest(part: Callable[[int], str], most: int, n_tokens: int, reader: Reader) -> int:
    """The length in characters, up to `most`, of the longest part within `n_tokens` tokens."""
    # Parts grow from few characters on: a whole book is never counted for its first page.
    low, high = 0, min(most, n_tokens)
    while high < most and reader.count_tokens(part(high)) <= n_tokens:
        low, high = high, min(most, 2 * high + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if reader.count_tokens(part(middle)) <= n_tokens:
            low = middle
        else:
            high = middle - 1
    return low


def _answer_tokens(bodies: list[RequestBody], decoding: Decoding) -> int:
    """The tokens that the context must reserve for the longest answer."""
    return max(
        _CHOICE_TOKENS if body.choices is not None else decoding.max_tokens for body in bodies
    )


def _n_tokens(bodies: list[RequestBody], reader: Reader, budget: int) -> int:
    """Tokens of the longest request; an upper bound where that already fits."""
    texts = [_text(body, reader) for body in bodies]
    # A token is at least one byte, so a text of few bytes needs no count. Half the budget is more
    # than any engine puts around a text.
    n_bytes = max(len(text.encode()) for text in texts)
    if n_bytes <= budget // 2:
        return n_bytes
    return max(reader.count_tokens(text) for text in texts)


def _text(body: RequestBody, reader: Reader) -> str:
    # A request that ends with the assistant's turn gets no answer: its engine, a reward model,
    # renders the turns and counts what that adds.
    if body.messages[-1].role == "assistant":
        return "\n\n".join(message.content for message in body.messages)
    # Only engines that read a tokenizer of transformers have a template of its own.
    template: Template | None = getattr(reader, "template", None)
    return render(body.messages, reader.card.wrapper, body.prefix, template)


def _build_all(case: Case, pages: Sequence[Page], build: Build) -> list[RequestBody]:
    return [build(case, page) for page in pages]


def _cut_to_fit(
    case: Case, pages: Sequence[Page], build: Build, reader: Reader, budget: int
) -> list[RequestBody] | None:
    """The requests with responses cut to the largest limit that fits; None where none does."""
    lowest, highest = 0, max(len(response.text) for response in case.responses)
    best: list[RequestBody] | None = None
    while lowest <= highest:
        limit = (lowest + highest) // 2
        cut = replace(case, responses=tuple(_cut(response, limit) for response in case.responses))
        bodies = _build_all(cut, pages, build)
        if _n_tokens(bodies, reader, budget) <= budget:
            best, lowest = bodies, limit + 1
        else:
            highest = limit - 1
    return best


def _cut(response: Response, limit: int) -> Response:
    """A response with its middle cut out, leaving `limit` characters and a gap."""
    if len(response.text) <= limit:
        return response
    head, tail = (limit + 1) // 2, limit // 2
    kept = response.text[:head] + _GAP + (response.text[-tail:] if tail else "")
    return replace(response, text=kept)
