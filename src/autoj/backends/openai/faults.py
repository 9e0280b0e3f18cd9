"""The seam: errors of a server or the network as faults with their consequences.

Messages come from servers, which may repeat the key: `Scrub` removes it from every one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from autoj.backends.openai.bounded import ReplyTooLong
from autoj.backends.openai.retries import retry_after
from autoj.errors import AutojError, BackendError, ConfigError

_MOST_CHARACTERS = 300
# What is read of a server's message at all.
_MOST_READ = 5000
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
    """Cleans a server's message to one line: no key, no line breaks, limited length."""

    def __init__(self, key: SecretStr | None) -> None:
        self._key = key

    def __call__(self, text: object) -> str:
        """Cleans a message."""
        line = " ".join(str(text)[:_MOST_READ].split())
        key = "" if self._key is None else self._key.get_secret_value()
        # A key of a few letters is a placeholder, and would match parts of words.
        if len(key) >= 6:
            line = line.replace(key, "[key]")
        line = _ANY_KEY.sub("[key]", line)
        return line if len(line) <= _MOST_CHARACTERS else line[:_MOST_CHARACTERS] + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The server, model and judge of a request, for messages."""

    judge: str
    model: str
    base_url: str
    key_variable: str | None
    is_local: bool = True
    """True where the server is the user's own to start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A failed attempt."""

    error: str
    """The kind of error, as in `Failure.error`."""
    message: str
    retryable: bool = False
    """True where the same request may succeed later."""
    wait_seconds: float | None = None
    """The wait that the server asks for."""
    unreached: bool = False
    """True where no connection was made."""
    refuses: bool = False
    """True where the server refuses something that the request holds."""
    ends: AutojError | None = None
    """The error that ends the run; None if only this request is affected."""


def fault_of_connection(error: BaseException, place: Place, scrub: Scrub) -> Fault:
    """Makes a fault of a connection error: refused, timed out, or broken.

    The client's messages do not distinguish these (a refused connection is "Request timed out." in
    some of its versions), so the causes of its exception are examined.
    """
    import aiohttp

    causes = list(_causes(error))
    if any(isinstance(cause, ReplyTooLong) for cause in causes):
        # It would be as long again, and be paid for again.
        return Fault(
            error="ReplyTooLong",
            message="the server's answer is longer than options.longest_reply_bytes",
        )
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
    """The reason of a failed connection, without the address that a connector puts before it."""
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "the network knows no such name (DNS)"
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return "no connection was made in time"
    if isinstance(error, aiohttp.ClientConnectorSSLError | aiohttp.ClientConnectorCertificateError):
        return "no secure connection (TLS) could be made"
    said = error.strerror if isinstance(error, OSError) and error.strerror else error
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return f"the proxy {error.host}:{error.port} does not answer ({said})"
    return said


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yields an exception and its causes, outermost first."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def fault_of_status(
    status: int, headers: Mapping[str, str], body: object, place: Place, scrub: Scrub
) -> Fault:
    """Makes a fault of an answer with an error status.

    Args:
        status: the HTTP status, or the code in the body.
        headers: the headers of the answer.
        body: its JSON value, or its text.
        place: the server, for messages.
        scrub: cleans the server's message.
    """
    code, said = _stated(body)
    told = scrub(said) or f"HTTP {status}"
    about = f"{code} {said}"
    if status in (408, 409, 425, 429) or status >= 500:
        return _passing(status, retry_after(headers), about, told)
    if (ends := _ending(status, about, told, place)) is not None:
        # An account, or a server that has moved, says nothing of the request.
        refuses = status >= 400 and status not in (401, 402)
        return Fault(error=type(ends).__name__, message=ends.message, refuses=refuses, ends=ends)
    if status == 413 or _TOO_LONG.search(about):
        error, message = "ContextOverflow", f"the server refuses the prompt: {told}"
    elif _FLAGGED.search(about):
        error, message = "Filtered", f"the server's filter stopped the prompt: {told}"
    else:
        error, message = "BadRequest", f"the server refuses the request ({status}): {told}"
    return Fault(error=error, message=message, refuses=True)


def _passing(status: int, wait_seconds: float | None, about: str, told: str) -> Fault:
    """Makes a fault of a temporary error, or of an empty account."""
    if status == 429 and _NO_CREDIT.search(about):
        ends = BackendError(
            f"the account has no credit left: {told}",
            retryable=True,
            hint="Add credit and repeat the command to resume.",
        )
        return Fault(error="RateLimited", message=ends.message, retryable=True, ends=ends)
    return Fault(
        error="RateLimited" if status == 429 else "Unavailable",
        message=f"the rate limit is reached: {told}"
        if status == 429
        else f"the server failed ({status}): {told}",
        retryable=True,
        wait_seconds=wait_seconds,
    )


def _ending(status: int, about: str, told: str, place: Place) -> AutojError | None:
    """Makes the error that all other requests would get, too; None if they would not."""
    if status == 401:
        held = place.key_variable
        return ConfigError(
            f"{place.base_url} rejects the key of judge {place.judge!r} (401): {told}",
            hint=f"The key is read from the environment variable {held}."
            if held
            else "options.api_key_variable names the environment variable that holds a key.",
        )
    if status == 402:
        return BackendError(
            f"the account has no credit left (402): {told}",
            retryable=True,
            hint="Add credit and repeat the command to resume.",
        )
    if 300 <= status < 400:
        return ConfigError(
            f"{place.base_url} sends requests on to another address ({status})",
            hint="Set options.base_url to that address.",
        )
    if status in (400, 403, 404, 422) and _NO_MODEL.search(about):
        return ConfigError(
            f"{place.base_url} has no model {place.model!r} ({status}): {told}",
            hint="Set the card's `model` to a name of a model on the server.",
        )
    if status == 404:
        return ConfigError(
            f"{place.base_url} has no endpoint for chat completions (404): {told}",
            hint="options.base_url is the URL before /chat/completions; it often ends in /v1.",
        )
    if status == 403 and not _FLAGGED.search(about):
        return ConfigError(f"{place.base_url} refuses judge {place.judge!r} (403): {told}")
    if status in (400, 422) and _NOT_TAKEN.search(about):
        return ConfigError(
            f"model {place.model!r} rejects a parameter that judge {place.judge!r} sends: {told}",
            hint="options.omit leaves parameters out, options.max_tokens_parameter renames one, "
            "and options.scoring states the server's support of log-probabilities and prefilling.",
        )
    return None


def _stated(body: object) -> tuple[str, str]:
    """Reads the code and the message of an error's body, in any of the usual layouts."""
    if not isinstance(body, Mapping):
        return "", str(body or "")[:_MOST_READ]
    inner = body.get("error", body)
    if not isinstance(inner, Mapping):
        return "", str(inner)[:_MOST_READ]
    stated = [inner.get(name) for name in ("code", "type")]
    codes = " ".join(str(each)[:_MOST_CHARACTERS] for each in stated if each is not None)
    said: Any = inner.get("message") or inner.get("detail") or inner.get("msg") or ""
    return codes, str(said)[:_MOST_READ]
