"""The gate before every endpoint: host, key, size and time of a body, and clients that leave.

It is plain ASGI and reads the whole body before an endpoint is called, so that a limit holds for a
body that states no length, and so that a client that leaves cancels its work.
"""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

import orjson

from autoj.serve.problems import MEDIA_TYPE, Problem
from autoj.serve.settings import ServiceSettings

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN_PATHS = ("/healthz", "/readyz", "/", "/page.js", "/page.css")
"""Paths that need no key: they tell nothing but that the service is there."""
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
)


class OnRequest(Protocol):
    """Told of each request that is over."""

    def __call__(self, path: str, status: int, seconds: float) -> None:
        """Notes it; the path is that of the route, and `(other)` for one that is none."""


class Gate:
    """Lets requests through that may pass.

    Args:
        app: the endpoints.
        settings: limits and the key.
        on_request: told of each request that is over.
    """

    def __init__(self, app: App, settings: ServiceSettings, on_request: OnRequest) -> None:
        self._app, self._settings, self._on_request = app, settings, on_request
        key = settings.api_key
        self._key = hashlib.sha256(key.encode()).digest() if key else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or answers it with a problem."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        started, status = time.monotonic(), 499

        async def told(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_SAFE_HEADERS]
            await send(message)

        try:
            await self._pass(scope, receive, told)
        finally:
            route = getattr(scope.get("route"), "path", "(other)")
            self._on_request(route, status, time.monotonic() - started)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        try:
            self._check(scope["path"], headers)
            body = await self._body(headers, receive)
            if body is not None and scope["method"] == "POST":
                _check_json(headers, body)
        except Problem as problem:
            await send_problem(problem, send)
            return
        if body is not None:
            await self._run(scope, body, receive, send)

    def _check(self, path: str, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if self._settings.is_local and name not in (*_LOCAL_HOSTS, self._settings.host):
            # A page elsewhere may have its name resolve to this machine.
            raise Problem(status=421, detail="this service answers to localhost alone")
        if self._key is None or path in OPEN_PATHS:
            return
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer":
            given = headers.get(b"x-api-key", b"")
        # Digests are of one length, so that the time of a comparison tells nothing.
        if not hmac.compare_digest(hashlib.sha256(given.strip()).digest(), self._key):
            raise Problem(
                status=401,
                detail="send the service's API key as `Authorization: Bearer KEY`",
                headers={"WWW-Authenticate": "Bearer"},
            )

    async def _body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes | None:
        """The whole body; None where the client has left."""
        most = self._settings.most_body_bytes
        stated = headers.get(b"content-length", b"0")
        if stated.isdigit() and len(stated) < 20 and int(stated) > most:
            raise _too_large(most)
        parts: list[bytes] = []
        n_bytes = 0
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    parts.append(message.get("body", b""))
                    n_bytes += len(parts[-1])
                    if n_bytes > most:
                        raise _too_large(most)
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            raise Problem(
                status=408,
                detail=f"the body did not arrive in {self._settings.body_seconds:g} s",
                headers={"Connection": "close"},
            ) from None

    async def _run(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Calls the endpoint, and cancels it when the client leaves."""
        left = asyncio.create_task(_left(receive))
        unread: list[bytes] = [body]

        async def replay() -> MutableMapping[str, Any]:
            if unread:
                return {"type": "http.request", "body": unread.pop(), "more_body": False}
            await asyncio.shield(left)
            return {"type": "http.disconnect"}

        work = asyncio.ensure_future(self._app(scope, replay, send))
        try:
            await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                work.cancel()
                await asyncio.wait({work})
            if not work.cancelled():
                work.result()
        finally:
            work.cancel()
            left.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _too_large(most: int) -> Problem:
    return Problem(
        status=413,
        detail=f"the body has more than {most:,} bytes",
        field="(body)",
        headers={"Connection": "close"},
    )


def _check_json(headers: dict[bytes, bytes], body: bytes) -> None:
    """Checks that a body is strict JSON: no NaN, no half of a character, not nested too deeply."""
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise Problem(status=415, detail="send Content-Type: application/json")
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Problem(
            status=400,
            detail=f"the body is no JSON: {error.msg} (line {error.lineno}, column {error.colno})",
            field="(body)",
        ) from None


async def send_problem(problem: Problem, send: Send) -> None:
    """Sends a problem document."""
    body = problem.body
    headers = {"content-type": MEDIA_TYPE, "content-length": str(len(body)), **problem.headers}
    await send(
        {
            "type": "http.response.start",
            "status": problem.status,
            "headers": [(k.lower().encode(), v.encode()) for k, v in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": body})
