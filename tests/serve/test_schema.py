"""Requests drawn from the OpenAPI document, valid and not, find no defect."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

pytest.importorskip("fastapi")
uvicorn = pytest.importorskip("uvicorn")
schemathesis = pytest.importorskip("schemathesis")

from autoj.backends.scripted import ScriptedBackend  # noqa: E402
from autoj.scenarios import shipped_library  # noqa: E402
from autoj.scenarios.classifier import load_classifier  # noqa: E402
from autoj.serve.app import make_app  # noqa: E402
from autoj.serve.service import Service  # noqa: E402
from autoj.serve.settings import ServiceSettings  # noqa: E402

from .conftest import CARD, longer_wins  # noqa: E402


@pytest.fixture(scope="module")
def schema() -> Iterator[Any]:
    """The document of a service on a port."""
    limits = ServiceSettings(body_seconds=5)
    service = Service([CARD], limits, lambda card: ScriptedBackend(card, longer_wins))
    config = uvicorn.Config(make_app(service), log_level="warning", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        running = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        running.start()
        while not server.started or service.engine(None).state == "loading":
            time.sleep(0.001)
        # Read at the first query otherwise, which may take longer than a client waits.
        load_classifier().classify(["q"])
        shipped_library()
        port = listening.getsockname()[1]
        yield schemathesis.openapi.from_url(f"http://127.0.0.1:{port}/openapi.json")
        server.should_exit = True
        running.join()


def test_no_request_finds_a_defect(schema: Any) -> None:
    n_operations = 0
    for found in schema.get_all_operations():
        n_operations += 1
        operation = found.ok()

        @given(case=operation.as_strategy())
        @settings(max_examples=10, suppress_health_check=list(HealthCheck))
        def check(case: Any) -> None:
            answer = case.call()
            # A deadline is drawn, too, and may be shorter than a judgment.
            assert answer.status_code < 500 or answer.status_code == 504, answer.text
            if answer.status_code >= 400:
                assert answer.headers["content-type"] == ["application/problem+json"]

        check()
    assert n_operations >= 14
