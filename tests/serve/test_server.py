"""A service on a port, as `autoj serve` runs it, in a process of its own and in this one."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

pytest.importorskip("fastapi")
httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")

from autoj.backends.scripted import ScriptedBackend  # noqa: E402
from autoj.serve.app import make_app  # noqa: E402
from autoj.serve.service import Service  # noqa: E402
from autoj.serve.settings import ServiceSettings  # noqa: E402

from .conftest import CARD, longer_wins  # noqa: E402
from .test_engine import Held  # noqa: E402

PAIR = {"query": "q", "a": "x", "b": "y y"}


async def on_a_port(test: Any, answer: Any = longer_wins) -> None:
    service = Service([CARD], ServiceSettings(), lambda card: ScriptedBackend(card, answer))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(
            uvicorn.Config(make_app(service), log_level="warning", timeout_graceful_shutdown=10)
        )
        running = asyncio.create_task(server.serve([listening]))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with httpx.AsyncClient(base_url=address) as client:
            while not server.started or service.engine(None).state != "ready":
                await asyncio.sleep(0.001)
            await test(client, server, service)
        server.should_exit = True
        await running
    assert service.engine(None).state == "closed"


def test_a_service_answers_on_a_port() -> None:
    async def test(client: Any, server: Any, service: Any) -> None:
        answers = await asyncio.gather(*(client.post("/v1/compare", json=PAIR) for _ in range(20)))
        assert [answer.json()["winner"] for answer in answers] == ["b"] * 20

    asyncio.run(on_a_port(test))


def test_what_was_asked_is_answered_before_the_service_ends() -> None:
    held = Held()

    async def test(client: Any, server: Any, service: Any) -> None:
        asked = asyncio.create_task(client.post("/v1/compare", json=PAIR))
        await asyncio.to_thread(held.reached.wait)
        server.should_exit = True
        held.free.set()
        assert (await asked).json()["winner"] == "b"

    asyncio.run(on_a_port(test, held))


def test_a_client_that_hangs_up_takes_its_case_out_of_the_queue() -> None:
    held = Held()

    async def test(client: Any, server: Any, service: Any) -> None:
        first = asyncio.create_task(client.post("/v1/compare", json=PAIR))
        await asyncio.to_thread(held.reached.wait)
        gone = asyncio.create_task(client.post("/v1/compare", json={**PAIR, "b": "z"}))
        while service.engine(None).n_waiting < 1:
            await asyncio.sleep(0.001)
        gone.cancel()
        while "499" not in (await client.get("/metrics")).text:
            await asyncio.sleep(0.001)
        held.free.set()
        assert (await first).is_success
        assert (await client.post("/v1/rate", json={"query": "q", "response": "r"})).is_success
        # Two orders of the first pair and one rating: the pair that nobody waits for is not asked.
        assert held.n_asked == 3

    asyncio.run(on_a_port(test, held))
