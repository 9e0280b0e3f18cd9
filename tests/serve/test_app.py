"""The page at `/`: its files, its policy, and a critique that streams in a browser."""

from __future__ import annotations

import asyncio
import re
import shutil
import threading
import time
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from autoj.backends.scripted import ScriptedBackend
from autoj.serve import templates

uvicorn = pytest.importorskip("uvicorn")

from autoj.serve.app import make_app  # noqa: E402
from autoj.serve.service import Service  # noqa: E402
from autoj.serve.settings import ServiceSettings  # noqa: E402

from ..reports.html.browser import CHROMIUMS  # noqa: E402
from .conftest import CARD  # noqa: E402

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def test_the_page_comes_with_a_strict_policy_and_needs_no_key(served) -> None:
    async def test(client: Any) -> None:
        for path in ("/", "/page.js", "/page.css"):
            answer = await client.get(path)
            assert answer.status_code == 200
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'")
            assert "unsafe" not in policy
        assert (await client.get("/v1/judges")).status_code == 401

    served(test, api_key="k" * 40)


def test_the_page_writes_text_and_never_markup() -> None:
    script = files(templates).joinpath("page.js").read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script)
    page = files(templates).joinpath("page.html").read_text("utf-8")
    assert not re.search(r"\son\w+=|style=|<script>|https?://", page)


@pytest.fixture
def address() -> Iterator[str]:
    """A service whose judge quotes markup."""
    said = f"- quote: {HOSTILE}\n\nSo, the final decision is Response 1."
    service = Service([CARD], ServiceSettings(), lambda card: ScriptedBackend(card, lambda _: said))
    server = uvicorn.Server(uvicorn.Config(make_app(service), port=0, log_level="warning"))
    running = threading.Thread(target=lambda: asyncio.run(server.serve()))
    running.start()
    while not server.started or service.engine(None).state == "loading":
        time.sleep(0.001)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    running.join()


def test_a_hostile_critique_is_shown_as_text_in_a_browser(address) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if chromium is None:
        pytest.skip("no Chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.wait_for_selector("#judge option", state="attached")
        for name, text in (("query", "Which?"), ("a", HOSTILE), ("b", "No.")):
            page.fill(f"#{name}", text)
        page.click("#send")
        # The page's policy forbids `eval`, which waiting for an expression takes.
        page.wait_for_selector("#facts > *", state="attached")
        assert "No winner: the orders disagree" in page.inner_text("#outcome")
        assert "onerror" in page.inner_text("#answers")
        assert [part.inner_text() for part in page.query_selector_all("#answers h3")] == [
            "Response a shown first (Response 1 is response a)",
            "Response b shown first (Response 1 is response a)",
        ]
        facts = page.inner_text("#facts")
        assert "a shown first\nresponse a" in facts
        assert "b shown first\nresponse b" in facts
        page.wait_for_selector("#scenario:not([hidden])")
        assert "criteria" in page.inner_text("#scenario summary")
        assert page.query_selector_all("#scenario dt")
        assert page.query_selector("#answers img") is None
        # One response alone is rated; the judge's protocols for that are listed.
        page.fill("#b", "")
        listed = [its.get_attribute("value") for its in page.query_selector_all("#protocol option")]
        assert listed == ["", "single"]
        assert (page.title(), errors) == ("autoj", [])
        browser.close()
