"""The seam: what a server or the network did wrong, as a fault that says what to do with it.

Messages come from servers, which may repeat the key: `Scrub` takes it out of every one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from autoj.backends.openai.retries import retry_after
from autoj.errors import AutojError, BackendError, ConfigError

__all__ = ["Fault", "Place", "Scrub", "fault_of_connection", "fault_of_status"]

_MOST_CHARACTERS = 300
_ANY_KEY = re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_*.\-]{6,}|(?<=Bearer )\S+")
_TOO_LONG = re.compile(
    r"context (?:length|window|size)|maximum context|context_length|max_model_len|too many tokens"
    r"|prompt is too long|maximum (?:input|prompt|model) length|max_new_tokens` must be",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model\b.{0,80}\b(?:not (?:exist|found)|doesn't exist|unknown|not available|not loaded)"
    r"|(?:invalid|unknown|no such) model|model_not_found",
    re.IGNORECASE | re.DOTALL,
)
_FLAGGED = re.compile(r"content.?(?:filter|policy|management)|moderation|flagged", re.IGNORECASE)
_PARAMETERS = "(?:logprobs|temperature|top_p|seed|max_tokens|stop)"
_NOT_TAKEN = re.compile(
    r"unsupported (?:parameter|value)"
    r"|un(?:known|recognized) (?:request )?(?:parameter|argument|field)"
    r"|extra (?:fields|inputs) (?:are )?not permitted"
    rf"|(?:not|n't) support(?:ed)?\b.{{0,60}}\b{_PARAMETERS}"
    rf"|{_PARAMETERS}\b.{{0,60}}\b(?:not|n't) support",
    re.IGNORECASE | re.DOTALL,
)
_NO_CREDIT = re.compile(r"insufficient.?(?:quota|balance|credit|funds)", re.IGNORECASE)


class Scrub:
    """Makes one clean line of what a server says: no key, no line breaks, not too long."""

    def __init__(self, key: SecretStr | None) -> None:
        self._key = key

    def __call__(self, text: object) -> str:
        """The line."""
        line = " ".join(str(text).split())
        key = "" if self._key is None else self._key.get_secret_value()
        # A key of a few letters is a placeholder, and would be found in words.
        if len(key) >= 6:
            line = line.replace(key, "[key]")
        line = _ANY_KEY.sub("[key]", line)
        return line if len(line) <= _MOST_CHARACTERS else line[:_MOST_CHARACTERS] + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where was asked, for messages."""

    judge: str
    model: str
    base_url: str
    key_variable: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A try that came to nothing."""

    error: str
    """The kind, as `Failure.error` states it."""
    message: str
    retryable: bool = False
    """Whether the same request may succeed later."""
    wait_seconds: float | None = None
    """How long the server asks to wait."""
    unreached: bool = False
    """Whether no connection was made at all."""
    ends: AutojError | None = None
    """Why nothing more needs to be asked; None where only this request is concerned."""


def fault_of_connection(error: BaseException, place: Place, scrub: Scrub) -> Fault:
    """What went wrong before an answer was there: nobody listens, silence, a broken connection.

    The client's own words do not tell these apart (a refused connection is "Request timed out." in
    some of its versions), so the causes behind its exception are looked at.
    """
    import aiohttp

    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            return Fault(
                error="Unreachable",
                message=f"{place.base_url} cannot be reached: {scrub(_why(cause))}",
                retryable=True,
                unreached=True,
            )
    for cause in causes:
        if isinstance(cause, aiohttp.ServerDisconnectedError | ConnectionResetError):
            return Fault(
                error="Disconnected",
                message="the server closed the connection without an answer",
                retryable=True,
            )
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return Fault(error="TimedOut", message="the server did not answer in time", retryable=True)
    deepest = causes[-1]
    said = scrub(deepest)
    name = type(deepest).__name__
    return Fault(
        error="Disconnected",
        message=f"the connection failed: {name}: {said}" if said else f"it failed: {name}",
        retryable=True,
    )


def _why(error: Exception) -> object:
    """The system's own words, without the address that a connector puts before them."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return error


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and what it was raised from, outermost first."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def fault_of_status(
    status: int, headers: Mapping[str, str], body: object, place: Place, scrub: Scrub
) -> Fault:
    """What an answer that is no success means.

    Args:
        status: the HTTP status, or the code that the body states in its place.
        headers: the answer's.
        body: its JSON value, or its text.
        place: where was asked.
        scrub: cleans what the server says.
    """
    code, said = _stated(body)
    told = scrub(said) or f"HTTP {status}"
    about = f"{code} {said}"
    if status in (408, 409, 425, 429) or status >= 500:
        return _passing(status, retry_after(headers), about, told)
    if (ends := _ending(status, about, told, place)) is not None:
        return Fault(error=type(ends).__name__, message=ends.message, ends=ends)
    if status == 413 or _TOO_LONG.search(about):
        return Fault(error="ContextOverflow", message=f"the server refuses the prompt: {told}")
    if _FLAGGED.search(about):
        return Fault(error="Filtered", message=f"the server's filter stopped the prompt: {told}")
    return Fault(error="BadRequest", message=f"the server refuses the request ({status}): {told}")


def _passing(status: int, wait_seconds: float | None, about: str, told: str) -> Fault:
    """Troubles that pass, save for an empty account."""
    if status == 429 and _NO_CREDIT.search(about):
        ends = BackendError(
            f"the account has no credit left: {told}",
            retryable=True,
            hint="Add credit; the same command goes on.",
        )
        return Fault(error="RateLimited", message=ends.message, retryable=True, ends=ends)
    return Fault(
        error="RateLimited" if status == 429 else "Unavailable",
        message=f"the server asks to slow down: {told}"
        if status == 429
        else f"the server failed ({status}): {told}",
        retryable=True,
        wait_seconds=wait_seconds,
    )


def _ending(status: int, about: str, told: str, place: Place) -> AutojError | None:
    """What every other request would meet, too."""
    if status == 401:
        held = place.key_variable
        return ConfigError(
            f"{place.base_url} does not take the key of judge {place.judge!r} (401): {told}",
            hint=f"The key is read from the environment variable {held}."
            if held
            else "options.api_key_variable names the environment variable that holds a key.",
        )
    if status == 402:
        return BackendError(
            f"the account has no credit left (402): {told}",
            retryable=True,
            hint="Add credit; the same command goes on.",
        )
    if status in (400, 403, 404, 422) and _NO_MODEL.search(about):
        return ConfigError(
            f"{place.base_url} has no model {place.model!r} ({status}): {told}",
            hint="The card's `model` must be a name that the server knows.",
        )
    if status == 404:
        return ConfigError(
            f"{place.base_url} has no chat completions (404): {told}",
            hint="options.base_url is the address before /chat/completions; it often ends in /v1.",
        )
    if status == 403 and not _FLAGGED.search(about):
        return ConfigError(f"{place.base_url} refuses judge {place.judge!r} (403): {told}")
    if status in (400, 422) and _NOT_TAKEN.search(about):
        return ConfigError(
            f"model {place.model!r} does not take what judge {place.judge!r} sends: {told}",
            hint="options.omit leaves parameters out, options.max_tokens_parameter renames one, "
            "and options.scoring says what the server has of log-probabilities and prefilling.",
        )
    return None


def _stated(body: object) -> tuple[str, str]:
    """The code and the message in an error's body, in any of the usual layouts."""
    if not isinstance(body, Mapping):
        return "", str(body or "")
    inner = body.get("error", body)
    if not isinstance(inner, Mapping):
        return "", str(inner)
    codes = " ".join(str(inner[name]) for name in ("code", "type") if inner.get(name) is not None)
    said: Any = inner.get("message") or inner.get("detail") or inner.get("msg") or ""
    return codes, str(said)
