"""Replies read from a server's answer, or faults; nothing in it is trusted."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from autoj.backends.openai.faults import Fault, Place, Scrub, fault_of_status
from autoj.backends.openai.scoring import Position

# The provider's log-probability for a probability of 0.
_NEVER = -9999.0
# In single precision the log-probability of a certain token may be slightly above 0.
_MOST = 1e-3
_MOST_TOKENS = 100_000_000
# A choice is decided within its first tokens; a server may list any number of them, of any length,
# and each alternative is compared with all that is written before it.
_MOST_POSITIONS = 64
_MOST_ALTERNATIVES = 40
_LONGEST_TOKEN_BYTES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer of a server."""

    text: str
    finish: Literal["stop", "length"]
    prompt_tokens: int | None
    """None if the server does not count."""
    completion_tokens: int | None
    positions: tuple[Position, ...] | None
    """The tokens with their alternatives; None if none were sent, or none were asked for."""
    logprob: float | None = None
    """The log-probability of a written text; None if the server sent none."""
    prompt: tuple[tuple[int, float], ...] | None = None
    """The number and the log-probability of each token of the prompt but the first; None if the
    server sent none."""


def read_reply(content: bytes, place: Place, scrub: Scrub, *, scored: bool) -> Reply | Fault:
    """Reads the body of a successful answer.

    Args:
        content: the body.
        place: the server, for messages.
        scrub: cleans the server's message.
        scored: whether log-probabilities were asked for.
    """
    try:
        value = orjson.loads(content)
    except ValueError:
        return _malformed(f"is not JSON: {scrub(content[:80].decode('utf-8', 'replace'))!r}")
    if not isinstance(value, Mapping):
        return _malformed("is not a JSON object")
    if not value.get("choices") and value.get("error"):
        return _error_in_disguise(value, place, scrub)
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return _malformed("has no choices")
    message = choices[0].get("message")
    if not isinstance(message, Mapping):
        return _malformed("has no message")
    stopped = _stopped(choices[0], message, scrub)
    if stopped is not None:
        return stopped
    finish: Literal["stop", "length"] = (
        "length" if choices[0].get("finish_reason") == "length" else "stop"
    )
    text = _text(message.get("content"))
    if text is None:
        return _malformed("has a content that is not text")
    try:
        positions = _positions(choices[0].get("logprobs")) if scored else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return _malformed("has log-probabilities that cannot be read")
    prompt = _prompt(value.get("prompt_logprobs")) if scored else None
    # A choice's first token may be a space, so that its stripped text is empty.
    if not text.strip() and positions is None and prompt is None:
        return _empty(finish)
    usage = value.get("usage")
    counts = usage if isinstance(usage, Mapping) else {}
    return Reply(
        text=text,
        finish=finish,
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
        positions=positions,
        logprob=None if scored else _text_logprob(choices[0].get("logprobs")),
        prompt=prompt,
    )


def _malformed(what: str) -> Fault:
    return Fault(error="Malformed", message=f"the server's answer {what}", retryable=True)


def _empty(finish: str) -> Fault:
    if finish == "length":
        # A retry would reason for as long again.
        said = "the judge used up its tokens without writing an answer; raise --max-tokens"
        return Fault(error="Empty", message=said)
    return Fault(error="Empty", message="the judge wrote nothing", retryable=True)


def _error_in_disguise(value: Mapping[str, Any], place: Place, scrub: Scrub) -> Fault:
    """Makes a fault of a provider's error that a gateway sends as a success."""
    inner = value["error"]
    code = inner.get("code") if isinstance(inner, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    return fault_of_status(status, {}, value, place, scrub)


def _stopped(choice: Mapping[str, Any], message: Mapping[str, Any], scrub: Scrub) -> Fault | None:
    """Makes a fault of a text that is not an answer; None for an answer."""
    if choice.get("finish_reason") == "content_filter":
        return Fault(error="Filtered", message="the server's filter stopped the answer")
    if refusal := message.get("refusal"):
        return Fault(error="Refused", message=f"the judge declined to answer: {scrub(refusal)}")
    if choice.get("finish_reason") in ("tool_calls", "function_call"):
        return _malformed("is a call of a tool")
    return None


def _text(content: object) -> str | None:
    """The text of a message, one string or several parts; None if it is not text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        return None
    return "".join(str(part["text"]) for part in content if part.get("type") == "text")


def _count(value: object) -> int | None:
    """A number of tokens; None for anything else, and for more than any model reads or writes."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def _text_logprob(logprobs: Any) -> float | None:
    """The log-probability of a whole text; None where a token's is missing or cannot be read."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list) or not content:
        return None
    try:
        found = [_logprob(entry) for entry in content]
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return None if min(found) <= _NEVER else min(0.0, math.fsum(found))


def _prompt(listed: Any) -> tuple[tuple[int, float], ...] | None:
    """The tokens of a prompt; None where there are none, or one cannot be read."""
    if not isinstance(listed, list) or len(listed) < 2:
        return None
    try:
        # The token itself comes first, before likelier ones in its place.
        first = [next(iter(place.items())) for place in listed[1:]]
        return tuple((int(number), _logprob(entry)) for number, entry in first)
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
        return None


def _positions(logprobs: Any) -> tuple[Position, ...] | None:
    if not isinstance(logprobs, Mapping) or not logprobs.get("content"):
        return None
    return tuple(_position(entry) for entry in logprobs["content"][:_MOST_POSITIONS])


def _position(entry: Mapping[str, Any]) -> Position:
    chosen = _token_bytes(entry)
    ranked = {chosen: _logprob(entry)}
    for other in (entry.get("top_logprobs") or [])[:_MOST_ALTERNATIVES]:
        ranked.setdefault(_token_bytes(other), _logprob(other))
    return Position(
        token=chosen,
        ranked=tuple((token, logprob) for token, logprob in ranked.items() if logprob > _NEVER),
    )


def _logprob(entry: Mapping[str, Any]) -> float:
    """Reads a token's log-probability; raises for a non-number or one above 0 beyond rounding."""
    logprob = float(entry["logprob"])
    if not logprob <= _MOST:
        raise ValueError(f"{logprob} is not a log-probability")
    return logprob


def _token_bytes(entry: Mapping[str, Any]) -> bytes:
    """Reads a token's bytes, since a part of a character has no text; raises for a long one."""
    # Of a number `bytes` would make as many zeros.
    if entry.get("bytes") and isinstance(entry["bytes"], list):
        token = bytes(entry["bytes"])
    else:
        token = str(entry["token"]).encode("utf-8", "replace")
    if len(token) > _LONGEST_TOKEN_BYTES:
        raise ValueError(f"a token of {len(token):,} bytes")
    return token
