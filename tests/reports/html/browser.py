"""A headless Chromium that lets no request leave the page, and notes whatever ran in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ALARM = "window.__ran = window.__ran || []; window.__ran.push(1)"


def chromium() -> str:
    """The path of a Chromium; skips without one."""
    pytest.importorskip("vl_convert", reason="no charts (pip install 'autoj[report]')")
    pytest.importorskip("playwright", reason="no playwright (pip install 'autoj[browser]')")
    found = (
        os.environ.get("AUTOJ_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
    )
    if found is None:
        pytest.skip("no Chromium (apt-get install chromium, or set AUTOJ_CHROMIUM)")
    return found


class Visit:
    """A page in a browser, with all that it should not do."""

    def __init__(self, page: Any, own: str) -> None:
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.route("**/*", lambda route: self._route(route, own))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self._console(message))
        page.on("dialog", lambda dialog: self._dialog(dialog))
        page.on("popup", lambda popup: self.errors.append(f"popup {popup.url}"))

    def _route(self, route: Any, own: str) -> None:
        url = route.request.url
        if url.split("#")[0] == own or url.startswith(("data:", "blob:")):
            route.continue_()
        else:
            self.requests.append(url)
            route.abort()

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _dialog(self, dialog: Any) -> None:
        self.errors.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def check(self) -> None:
        """Fails if anything ran, was asked for, or went wrong."""
        assert self.requests == []
        assert self.errors == []
        assert self.page.evaluate("window.__ran || null") is None


@contextmanager
def browser() -> Iterator[Any]:
    """A browser; one serves all pages of a test file."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        running = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield running
        finally:
            running.close()


def only_page(running: Any, **settings: Any) -> Any:
    """A new page; those before it are closed, so that they take no more of the processor."""
    for earlier in running.contexts:
        earlier.close()
    return running.new_context(**settings).new_page()


def visit(running: Any, file: Path, fragment: str = "", **settings: Any) -> Visit:
    """Opens a file as a reader would, in place of what is open."""
    page = only_page(running, **settings)
    own = file.resolve().as_uri()
    found = Visit(page, own)
    page.goto(f"{own}#{fragment}")
    return found


def serious_faults(page: Any) -> list[tuple[str, list[str]]]:
    """What axe finds serious or critical, with the places of it, in light and dark colours.

    Of the rules contrast alone depends on the colours.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    kept = {"resultTypes": ["violations"]}
    found = axe.run(page, options=kept).response["violations"]
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    contrast = {**kept, "runOnly": {"type": "rule", "values": ["color-contrast"]}}
    found += axe.run(page, options=contrast).response["violations"]
    return [
        (fault["id"], [node["html"][:200] for node in fault["nodes"]][:3])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
