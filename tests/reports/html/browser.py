"""A headless Chromium that lets no request leave the page, and notes whatever ran in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The first has no windows to draw, and takes half the processor time."""
ALARM = "window.__ran = window.__ran || []; window.__ran.push(1)"


def chromium() -> str:
    """The path of a Chromium; skips without one."""
    pytest.importorskip("vl_convert", reason="no charts (pip install 'autoj[report]')")
    pytest.importorskip("playwright", reason="no playwright (pip install 'autoj[browser]')")
    found = [os.environ.get("AUTOJ_CHROMIUM"), *map(shutil.which, CHROMIUMS)]
    for path in filter(None, found):
        return path
    pytest.skip("no Chromium (apt-get install chromium-headless-shell, or set AUTOJ_CHROMIUM)")


class Visit:
    """A page in a browser, with all that it should not do."""

    def __init__(self, page: Any, own: str) -> None:
        self.page = page
        self.own = own
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.route("**/*", lambda route: self._route(route, self.own))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self._console(message))
        page.on("dialog", lambda dialog: self._dialog(dialog))
        page.on("popup", lambda popup: self.errors.append(f"popup {popup.url}"))

    def open(self, file: Path, fragment: str = "") -> None:
        """Opens another file, or another view of the same, in the same page."""
        self.own = file.resolve().as_uri()
        self.page.goto(f"{self.own}#{fragment}")

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
    found = Visit(only_page(running, **settings), "")
    found.open(file, fragment)
    return found


WALK = """async ({presses, marks, isServed}) => {
  const box = document.getElementById("case"), select = document.getElementById("marks");
  const frame = () => new Promise(requestAnimationFrame);
  const shown = [];
  for (let row = 0; row < presses; row++) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
    await frame();
    for (let n = 0; isServed && box.dataset.row !== String(row); n++) {
      if (n > 1800) throw new Error(`row ${row} does not come`);
      await frame();
    }
    for (const value of marks) {
      select.value = value;
      if (select.value !== value) throw new Error(`no marks ${value}`);
      select.dispatchEvent(new Event("change", { bubbles: true }));
      await frame();
    }
    shown.push(box.innerText);
  }
  return shown;
}"""


def walk(
    page: Any, presses: int, marks: tuple[str, ...] = (), is_served: bool = False
) -> list[str]:
    """Presses `j` so many times and shows each mark, a frame for each; returns the texts of cases.

    It runs in the page: a key from outside it takes longer than to show the next case. Rows of a
    server are waited for.
    """
    asked = {"presses": presses, "marks": list(marks), "isServed": is_served}
    shown: list[str] = page.evaluate(WALK, asked)
    return shown


def serious_faults(page: Any) -> list[tuple[str, list[str]]]:
    """What axe finds serious or critical, with the places of it, in light and dark colours.

    Of the rules contrast alone depends on the colours.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe.axe_script)
    ask = "(asked) => axe.run(document, asked).then((found) => found.violations)"
    kept = {"resultTypes": ["violations"]}
    page.emulate_media(color_scheme="light")
    found = page.evaluate(ask, kept)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    contrast = {**kept, "runOnly": {"type": "rule", "values": ["color-contrast"]}}
    found += page.evaluate(ask, contrast)
    return [
        (fault["id"], [node["html"][:200] for node in fault["nodes"]][:3])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
