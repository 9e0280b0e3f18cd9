"""A mock of an OpenAI-compatible server on loopback, with faults on demand; no package needed.

As a program it serves in a process of its own, and says where on its first line:

    python tests/backends/openai_server.py --latency 0.1 --faults
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Literal

REASONS = {200: "OK", 429: "Too Many Requests"}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server does with a request."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    act: Literal["send", "drop", "hang"] = "send"


Decide = Callable[[dict[str, Any], int], Answer]
"""From a request's body, and how often it came before, to what is done."""


# Answers.


def completion(
    content: object,
    *,
    finish: str = "stop",
    logprobs: object = None,
    prompt_tokens: int = 100,
    completion_tokens: int = 20,
    **message: object,
) -> Answer:
    """A chat completion in the provider's layout."""
    value = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "mock",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish,
                "logprobs": logprobs,
            }
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }
    return Answer(body=json.dumps(value).encode())


def scored(places: Sequence[Mapping[str, float]], **settings: Any) -> Answer:
    """A chat completion with log-probabilities: per place the tokens, the first one written."""
    content = [
        {
            "token": next(iter(place)),
            "bytes": list(next(iter(place)).encode()),
            "logprob": next(iter(place.values())),
            "top_logprobs": [
                {"token": token, "bytes": list(token.encode()), "logprob": logprob}
                for token, logprob in place.items()
            ],
        }
        for place in places
    ]
    text = "".join(next(iter(place)) for place in places)
    return completion(text, logprobs={"content": content}, **settings)


def error(status: int, message: str, code: str | None = None, **headers: str) -> Answer:
    """An error in the provider's layout."""
    value = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(status=status, body=json.dumps(value).encode(), headers=named)


# Deciding.


def digest_of(body: Mapping[str, Any]) -> bytes:
    """What a request is known by: its messages."""
    return hashlib.sha256(json.dumps(body["messages"]).encode()).digest()


def by_hash(body: dict[str, Any], n_before: int = 0) -> Answer:
    """A readable verdict that follows from the messages alone."""
    letter = "ABC"[digest_of(body)[2] % 3]
    return completion(f"Assistant A is brief, B is long.\n\nMy verdict: [[{letter}]]")


FAULTS: dict[str, Callable[[], Answer]] = {
    "seconds": lambda: error(429, "Slow down.", "rate_limit_exceeded", retry_after="0.02"),
    "date": lambda: error(429, "Slow down.", "rate_limit_exceeded", retry_after=formatdate(
        usegmt=True), date=formatdate(usegmt=True)),
    "500": lambda: error(500, "Internal error."),
    "503": lambda: error(503, "Overloaded.", retry_after="0.01"),
    "hang": lambda: Answer(act="hang"),
    "drop": lambda: Answer(act="drop"),
    "half": lambda: Answer(body=completion("[[A]]").body[:60]),
    "empty": lambda: Answer(body=b'{"id":"1","object":"chat.completion","choices":[]}'),
    "null": lambda: completion(None),
    "filter": lambda: completion("Assistant A is", finish="content_filter"),
}  # fmt: skip


def fault_of(body: Mapping[str, Any]) -> str | None:
    """Which fault a request meets: 30 % of them meet one."""
    digest = digest_of(body)
    return list(FAULTS)[digest[1] % len(FAULTS)] if digest[0] < 77 else None


def with_faults(body: dict[str, Any], n_before: int) -> Answer:
    """`by_hash` behind faults: each is met once, the content filter always."""
    name = fault_of(body)
    if name is not None and (n_before == 0 or name == "filter"):
        return FAULTS[name]()
    return by_hash(body)


# Serving.


class MockServer:
    """Listens on a free port of loopback in a thread of its own."""

    def __init__(
        self, decide: Decide, *, latency: float = 0.0, key: str | None = None, keep: bool = True
    ) -> None:
        self.decide = decide
        self.latency = latency
        self.key = key
        self.bodies: list[dict[str, Any]] = []
        """What was asked, in order; empty unless it is kept."""
        self.headers: list[dict[str, str]] = []
        self.n_requests = 0
        self.n_now = 0
        self.most_at_once = 0
        self.port = 0
        self.on_sent: Callable[[Answer], object] = lambda answer: None
        """Told of each answer as it is sent."""
        self.tokenize: Callable[[str], object] | None = None
        """The answer of `/tokenize` about a text, as vLLM's server has it; None has none."""
        self._keep = keep
        self._seen: Counter[bytes] = Counter()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def hang_up(self) -> None:
        """Break all connections."""
        self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        for connection in list(self._connections):
            connection.transport.abort()

    async def _listen(self) -> int:
        self._connections: set[_Connection] = set()
        self._server = await self._loop.create_server(lambda: _Connection(self), "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _close(self) -> None:
        self._server.close()
        self._abort()
        await asyncio.sleep(0)

    def answer(self, path: str, headers: dict[str, str], content: bytes) -> Answer:
        """What is done with a request."""
        if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
            given = headers.get("authorization", "nothing")
            return error(401, f"Incorrect API key provided: {given}.", "invalid_api_key")
        if path.endswith("/models"):
            return Answer(body=json.dumps({"object": "list", "data": [{"id": "mock"}]}).encode())
        if path == "/tokenize" and self.tokenize is not None:
            found = self.tokenize(json.loads(content)["prompt"])
            return found if isinstance(found, Answer) else Answer(body=json.dumps(found).encode())
        if not path.endswith("/v1/chat/completions"):
            return Answer(status=404, body=b'{"detail":"Not Found"}')
        body = json.loads(content)
        self.n_requests += 1
        if self._keep:
            self.bodies.append(body)
            self.headers.append(headers)
        digest = digest_of(body)
        n_before = self._seen[digest]
        self._seen[digest] += 1
        return self.decide(body, n_before)


class _Connection(asyncio.Protocol):
    """Reads one request after the other; answers each after the latency."""

    transport: asyncio.Transport

    def __init__(self, server: MockServer) -> None:
        self.server = server
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server._connections.discard(self)

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, found, rest = self.received.partition(b"\r\n\r\n")
        if not found:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): text.strip()
            for name, _, text in (line.partition(":") for line in lines)
        }
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        self.received = rest[length:]
        answer = self.server.answer(first.split(" ")[1], headers, rest[:length])
        self.server.n_now += 1
        self.server.most_at_once = max(self.server.most_at_once, self.server.n_now)
        if self.server.latency:
            asyncio.get_running_loop().call_later(self.server.latency, self._act, answer)
        else:
            self._act(answer)

    def _act(self, answer: Answer) -> None:
        self.server.n_now -= 1
        if answer.act == "drop":
            self.transport.close()
        elif answer.act == "send":
            named = {"content-type": "application/json", **answer.headers}
            lines = "".join(f"{name}: {text}\r\n" for name, text in named.items())
            status = f"{answer.status} {REASONS.get(answer.status, 'Status')}"
            head = f"HTTP/1.1 {status}\r\n{lines}content-length: {len(answer.body)}\r\n\r\n"
            self.transport.write(head.encode() + answer.body)
            self.server.on_sent(answer)


@contextmanager
def serving(decide: Decide = by_hash, **settings: Any) -> Iterator[MockServer]:
    """A server while the block runs."""
    server = MockServer(decide, **settings)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--faults", action="store_true", help="30 %% of requests meet a fault")
    given = parser.parse_args()
    decide = with_faults if given.faults else by_hash
    with serving(decide, latency=given.latency, keep=False) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        sys.stdin.read()  # until whoever started this closes it, or is gone


if __name__ == "__main__":
    main()
