"""A service on scripted judges, and a client inside the process."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.util import find_spec
from typing import Any

import pytest

from autoj.backends.scripted import Answer, ScriptedBackend
from autoj.records import JudgeCard, Request
from autoj.serve.app import make_app
from autoj.serve.service import Service
from autoj.serve.settings import ServiceSettings

NEEDED = ("fastapi", "httpx", "prometheus_client", "sse_starlette", "uvicorn")
# Without the extra there is nothing to test here.
collect_ignore_glob = ["test_*.py"] if None in map(find_spec, NEEDED) else []

CARD = JudgeCard(
    name="script",
    title="A script",
    backend="scripted",
    model="script",
    protocols=("pairwise", "single", "scenario"),
    context_tokens=4096,
)


def longer_wins(request: Request) -> str:
    """The longer response wins; a rating is its number of words."""
    text = "\n".join(message.content for message in request.messages)
    if request.protocol == "scenario":
        return "planning"
    if request.protocol == "single":
        (response,) = re.findall(r"\[Response\]: (.*?)\n\*\*\*", text, re.DOTALL)
        return f"It is clear.\n\nRating: [[{max(1, min(10, len(response.split())))}]]"
    if request.protocol == "pairwise":
        responses = re.findall(r"\[Response [12]\]: (.*?)\n\*\*\*", text, re.DOTALL)
        number = 1 if len(responses[0]) >= len(responses[1]) else 2
        return f"- clarity: it is clear.\n\nSo, the final decision is Response {number}."
    return f"You wrote: {text}"


@contextlib.asynccontextmanager
async def serving(
    answer: Answer = longer_wins, load: Any = None, card: JudgeCard = CARD, **settings: Any
) -> AsyncIterator[Any]:
    """A client of a service in this process, once its judge is ready."""
    # A client of another extra, which may be missing where this file is read.
    import httpx

    loader = load or (lambda card: ScriptedBackend(card, answer))
    service = Service([card], ServiceSettings(**settings), loader)
    service.start()
    app = make_app(service)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        client.service = service
        while service.engine(None).state == "loading":
            await asyncio.sleep(0.001)
        try:
            yield client
        finally:
            await asyncio.to_thread(service.close)


@pytest.fixture
def served() -> Callable[..., Any]:
    """Runs a test's coroutine with a client of a new service."""

    def run(test: Callable[[Any], Awaitable[None]], **settings: Any) -> None:
        async def with_client() -> None:
            async with serving(**settings) as client:
                await test(client)

        asyncio.run(with_client())

    return run
