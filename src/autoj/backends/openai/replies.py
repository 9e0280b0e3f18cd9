"""An answer's bytes to what the judge wrote, or to the fault that it is; nothing is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from autoj.backends.openai.faults import Fault, Place, Scrub, fault_of_status
from autoj.backends.openai.scoring import Position

__all__ = ["Reply", "read_reply"]

# How the provider writes a probability of nothing.
_NEVER = -9999.0
# Single precision may leave a certain token a little above 0.
_MOST = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a server answered."""

    text: str
    finish: Literal["stop", "length"]
    prompt_tokens: int | None
    """None where the server does not count."""
    completion_tokens: int | None
    positions: tuple[Position, ...] | None
    """The tokens with their alternatives; None where none were sent."""


def read_reply(content: bytes, place: Place, scrub: Scrub, *, scored: bool) -> Reply | Fault:
    """Read the body of an answer whose status is a success.

    Args:
        content: the body.
        place: where was asked.
        scrub: cleans what the server says.
        scored: whether log-probabilities were asked for.
    """
    try:
        value = orjson.loads(content)
    except ValueError:
        return _malformed(f"no JSON: {scrub(content[:80].decode('utf-8', 'replace'))!r}")
    if not isinstance(value, Mapping):
        return _malformed("no JSON object")
    if not value.get("choices") and value.get("error"):
        return _error_in_disguise(value, place, scrub)
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return _malformed("no choices")
    message = choices[0].get("message")
    if not isinstance(message, Mapping):
        return _malformed("no message")
    stopped = _stopped(choices[0], message, scrub)
    if stopped is not None:
        return stopped
    finish: Literal["stop", "length"] = (
        "length" if choices[0].get("finish_reason") == "length" else "stop"
    )
    text = _text(message.get("content"))
    if text is None:
        return _malformed("a content that is no text")
    try:
        positions = _positions(choices[0].get("logprobs")) if scored else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return _malformed("log-probabilities that cannot be read")
    # A choice's first token may be a space, and the text that is left of it nothing.
    if not text.strip() and positions is None:
        return _empty(finish)
    usage = value.get("usage")
    counts = usage if isinstance(usage, Mapping) else {}
    return Reply(
        text=text,
        finish=finish,
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
        positions=positions,
    )


def _malformed(what: str) -> Fault:
    return Fault(error="Malformed", message=f"the server's answer holds {what}", retryable=True)


def _empty(finish: str) -> Fault:
    if finish == "length":
        # Asked again, it would think as long again.
        said = "the judge wrote nothing before its tokens were used up; --max-tokens gives it more"
        return Fault(error="Empty", message=said)
    return Fault(error="Empty", message="the judge wrote nothing", retryable=True)


def _error_in_disguise(value: Mapping[str, Any], place: Place, scrub: Scrub) -> Fault:
    """Some gateways send a provider's error as a success."""
    inner = value["error"]
    code = inner.get("code") if isinstance(inner, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    return fault_of_status(status, {}, value, place, scrub)


def _stopped(choice: Mapping[str, Any], message: Mapping[str, Any], scrub: Scrub) -> Fault | None:
    """What was written and is not to be read as an answer."""
    if choice.get("finish_reason") == "content_filter":
        return Fault(error="Filtered", message="the server's filter stopped the answer")
    if refusal := message.get("refusal"):
        return Fault(error="Refused", message=f"the judge declined to answer: {scrub(refusal)}")
    if choice.get("finish_reason") in ("tool_calls", "function_call"):
        return _malformed("a call of a tool")
    return None


def _text(content: object) -> str | None:
    """The text of a message: one string, or parts of which some are text; None is no text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        return None
    return "".join(str(part["text"]) for part in content if part.get("type") == "text")


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _positions(logprobs: Any) -> tuple[Position, ...] | None:
    if not isinstance(logprobs, Mapping) or not logprobs.get("content"):
        return None
    return tuple(_position(entry) for entry in logprobs["content"])


def _position(entry: Mapping[str, Any]) -> Position:
    chosen = _token_bytes(entry)
    ranked = {chosen: _logprob(entry)}
    for other in entry.get("top_logprobs") or ():
        ranked.setdefault(_token_bytes(other), _logprob(other))
    return Position(
        token=chosen,
        ranked=tuple((token, logprob) for token, logprob in ranked.items() if logprob > _NEVER),
    )


def _logprob(entry: Mapping[str, Any]) -> float:
    """A token's, checked: beyond 0 by more than rounding, or no number, it is none."""
    logprob = float(entry["logprob"])
    if not logprob <= _MOST:
        raise ValueError(f"{logprob} is no log-probability")
    return logprob


def _token_bytes(entry: Mapping[str, Any]) -> bytes:
    """A token's bytes: a part of a character has no text of its own."""
    if entry.get("bytes"):
        return bytes(entry["bytes"])
    return str(entry["token"]).encode("utf-8", "replace")
