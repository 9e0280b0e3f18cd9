"""Clients that send too much, too slowly or nothing, on a port; and a disk without room."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

uvicorn = pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

from autoj import jsonl  # noqa: E402
from autoj.backends.scripted import ScriptedBackend  # noqa: E402
from autoj.errors import StorageFull  # noqa: E402
from autoj.jsonl import count_lines  # noqa: E402
from autoj.records import Completion  # noqa: E402
from autoj.runs.ledger import Ledger  # noqa: E402
from autoj.serve.app import make_app  # noqa: E402
from autoj.serve.server import impatient  # noqa: E402
from autoj.serve.service import Service  # noqa: E402
from autoj.serve.settings import ServiceSettings  # noqa: E402

from .conftest import CARD, longer_wins  # noqa: E402

PAIR = {"query": "q", "a": "x", "b": "y y"}
SETTINGS = ServiceSettings(body_seconds=0.5)
HEAD = b"POST /v1/compare HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture
def port() -> Iterator[int]:
    """A service whose clients have half a second for what they send."""
    service = Service([CARD], SETTINGS, lambda card: ScriptedBackend(card, longer_wins))
    server = uvicorn.Server(
        uvicorn.Config(
            make_app(service), port=0, log_level="warning",
            http=impatient(SETTINGS.body_seconds), timeout_graceful_shutdown=5,
        )
    )  # fmt: skip
    running = threading.Thread(target=lambda: asyncio.run(server.serve()))
    running.start()
    while not server.started or service.engine(None).state == "loading":
        time.sleep(0.001)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield port
    assert is_well(port)
    server.should_exit = True
    running.join(20)
    assert not running.is_alive()


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def is_well(port: int) -> bool:
    """True where a client that behaves is answered."""
    answer = httpx.post(f"http://127.0.0.1:{port}/v1/compare", json=PAIR, timeout=30)
    return bool(answer.json()["winner"] == "b")


def told(stream: socket.socket) -> bytes:
    """All that the service sends before it hangs up."""
    with stream.makefile("rb") as answer:
        return answer.read()


def test_a_body_of_50_megabytes_is_refused_before_it_has_come(port: int) -> None:
    with closing(connected(port)) as client:
        client.sendall(HEAD + b"Content-Length: 50000000\r\n\r\n")
        answer = told(client)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["field"] == "(body)"


@pytest.mark.parametrize("stated", [True, False])
def test_a_client_that_sends_50_megabytes_all_the_same_reads_why(port: int, stated: bool) -> None:
    part = b"x" * 1_000_000

    def parts() -> Iterator[bytes]:
        for _ in range(50):
            yield part

    content: Any = b"".join(parts()) if stated else parts()
    answer = httpx.post(
        f"http://127.0.0.1:{port}/v1/compare", content=content, timeout=30,
        headers={"content-type": "application/json"},
    )  # fmt: skip
    assert (answer.status_code, answer.json()["field"]) == (413, "(body)")


def test_ten_thousand_rows_are_refused_with_the_number_that_may_be(port: int) -> None:
    body = {"cases": [PAIR] * 10_000}
    answer = httpx.post(f"http://127.0.0.1:{port}/v1/compare", json=body, timeout=30)
    assert (answer.status_code, answer.json()["field"]) == (422, "cases")
    assert "256" in answer.json()["detail"]


def test_a_body_that_trickles_is_given_up(port: int) -> None:
    with closing(connected(port)) as client:
        client.sendall(HEAD + b'Content-Length: 1000\r\n\r\n{"query": ')
        answer = told(client)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"did not arrive in 0.5 s" in answer


@pytest.mark.parametrize("sent", [b"", b"POST /v1/comp", HEAD, HEAD + b"Content-Le"])
def test_a_connection_on_which_no_request_begins_is_closed(port: int, sent: bytes) -> None:
    with closing(connected(port)) as client:
        if sent:
            client.sendall(sent)
        assert told(client) == b""


def test_half_of_a_second_request_is_not_waited_for(port: int) -> None:
    content = json.dumps(PAIR).encode()
    with closing(connected(port)) as client:
        client.sendall(HEAD + b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
        while b'"winner":"b"' not in (answer := client.recv(65536)):
            assert answer
        client.sendall(HEAD)
        assert told(client) == b""


def test_many_half_open_connections_keep_nobody_out(port: int) -> None:
    clients = [connected(port) for _ in range(100)]
    try:
        for client in clients[:50]:
            client.sendall(b"POST /v1/compare HTTP/1.1\r\n")
        assert is_well(port)
    finally:
        for client in clients:
            client.close()


class Full:
    """`os.write` on a disk that has no room for lines of answers, as long as `full` is set."""

    def __init__(self) -> None:
        self.full, self._write = False, os.write

    def __call__(self, handle: int, data: bytes) -> int:
        if self.full and data.startswith(b'{"key"'):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._write(handle, data)


def test_a_full_disk_is_a_problem_and_nothing_is_asked_twice(served, tmp_path, monkeypatch) -> None:
    disk, asked = Full(), []
    monkeypatch.setattr(jsonl.os, "write", disk)

    def answer(request: Any) -> str:
        asked.append(request.key)
        return longer_wins(request)

    async def test(client: Any) -> None:
        assert (await client.post("/v1/compare", json=PAIR)).json()["winner"] == "b"
        disk.full = True
        other = {**PAIR, "query": "another"}
        for _ in range(2):
            refused = await client.post("/v1/compare", json=other)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            assert "the disk is full" in refused.json()["detail"]
        # What came in both orders is held, and nothing more is asked.
        assert len(asked) == 4
        third = {**PAIR, "query": "a third"}
        both = await client.post("/v1/compare", json={"cases": [other, third]})
        assert (both.status_code, len(asked)) == (503, 4)
        # What the ledger has is answered all the same.
        assert (await client.post("/v1/compare", json=PAIR)).json()["winner"] == "b"
        assert client.service.engine(None).state == "ready"
        disk.full = False
        assert (await client.post("/v1/compare", json=other)).json()["winner"] == "b"
        assert len(asked) == len({*asked}) == 4

    served(test, answer=answer, out=tmp_path)
    assert count_lines(tmp_path / "script" / "ledger.jsonl") == 4


def test_what_is_held_is_written_when_the_service_ends(served, tmp_path, monkeypatch) -> None:
    disk = Full()
    monkeypatch.setattr(jsonl.os, "write", disk)

    async def test(client: Any) -> None:
        disk.full = True
        assert (await client.post("/v1/compare", json=PAIR)).status_code == 503
        disk.full = False

    served(test, out=tmp_path)
    assert count_lines(tmp_path / "script" / "ledger.jsonl") == 2


def test_a_disk_that_could_not_be_synced_is_tried_again(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("autoj.runs.ledger._SYNC_SECONDS", 0.0)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def completion(digit: str) -> Completion:
        return Completion(
            key=digit * 64, text="t", finish="stop", prompt_tokens=1, completion_tokens=1
        )

    with Ledger(tmp_path) as ledger:
        with monkeypatch.context() as patched:
            patched.setattr(jsonl.os, "fsync", full)
            ledger.record(completion("a"))
            while not ledger._sync.done():
                time.sleep(0.001)
        with pytest.raises(StorageFull):
            ledger.record(completion("b"))
        while not ledger._sync.done():
            time.sleep(0.001)
        ledger.record(completion("c"))
    assert count_lines(tmp_path / "ledger.jsonl") == 3
