"""Access, sizes and times: what is stopped before an endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from autoj.errors import ConfigError
from autoj.serve.gate import Gate
from autoj.serve.settings import ServiceSettings, read_key

KEY = "k" * 40
PAIR = {"query": "q", "a": "x", "b": "y y"}


def test_a_key_is_asked_for_and_compared_whole(served) -> None:
    async def test(client: Any) -> None:
        for headers in ({}, {"Authorization": "Bearer " + KEY[1:]}, {"X-API-Key": ""}):
            answer = await client.post("/v1/compare", json=PAIR, headers=headers)
            assert answer.status_code == 401
            assert KEY not in answer.text
        for headers in ({"Authorization": f"Bearer {KEY}"}, {"X-API-Key": KEY}):
            assert (await client.post("/v1/compare", json=PAIR, headers=headers)).is_success
        assert (await client.get("/healthz")).is_success
        assert (await client.get("/metrics")).status_code == 401

    served(test, api_key=KEY)


def test_beyond_loopback_a_service_needs_a_key() -> None:
    with pytest.raises(ConfigError, match="needs an API key"):
        ServiceSettings(host="0.0.0.0")
    with pytest.raises(ConfigError, match="needs an API key"):
        ServiceSettings(host="0.0.0.0", api_key="")
    settings = ServiceSettings(host="0.0.0.0", api_key=KEY)
    assert KEY not in repr(settings)
    assert ServiceSettings(host="::1").is_local


def test_a_key_comes_from_a_file_or_the_environment(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("AUTOJ_API_KEY", raising=False)
    assert read_key(None) is None
    monkeypatch.setenv("AUTOJ_API_KEY", KEY)
    assert read_key(None) == KEY
    path = tmp_path / "key"
    path.write_text("short\n")
    with pytest.raises(ConfigError) as error:
        read_key(path)
    assert "short\n" not in str(error.value)
    path.write_text("f" * 20 + "\n")
    assert read_key(path) == "f" * 20


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example"])
def test_on_loopback_another_host_is_refused(served, host) -> None:
    async def test(client: Any) -> None:
        answer = await client.post("/v1/compare", json=PAIR, headers={"Host": host})
        assert answer.status_code == 421
        assert (await client.get("/healthz", headers={"Host": "127.0.0.1:8000"})).is_success

    served(test)


def test_a_body_is_limited_with_a_stated_length_and_without(served) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(50):
            yield b"x" * 1000

    async def stream() -> Any:
        for part in parts():
            yield part

    async def test(client: Any) -> None:
        headers = {"content-type": "application/json"}
        for content in (b"x" * 5001, stream()):
            answer = await client.post("/v1/compare", content=content, headers=headers)
            assert (answer.status_code, answer.json()["field"]) == (413, "(body)")
        answer = await client.post("/v1/compare", content=b"{}")
        assert answer.status_code == 415

    served(test, most_body_bytes=5000)


def gate_of(app: Any, **settings: Any) -> Gate:
    return Gate(app, ServiceSettings(**settings), lambda path, status, seconds: None)


SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/v1/compare",
    "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
}


def test_a_body_that_does_not_come_is_given_up() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def app(*_: Any) -> None:
        raise AssertionError("the endpoint is not called")

    asyncio.run(gate_of(app, body_seconds=0.001)(dict(SCOPE), receive, send))
    assert sent[0]["status"] == 408
    assert json.loads(sent[1]["body"])["title"] == "The request came too slowly"


def test_a_client_that_leaves_cancels_its_work() -> None:
    ended: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def test() -> None:
        messages = iter([{"type": "http.request", "body": b"{}"}, {"type": "http.disconnect"}])

        async def receive() -> Any:
            return next(messages)

        async def send(message: Any) -> None:
            raise AssertionError("nothing is sent to a client that left")

        await gate_of(app)(dict(SCOPE), receive, send)

    asyncio.run(test())
    assert ended == ["cancelled"]
