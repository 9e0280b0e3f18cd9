"""Takes pictures of the service's page while a judge writes its critique, in headless Chromium.

python docs/screenshots.py                             # the small judge, one pair of ours
python docs/screenshots.py --judge embedded-1.5b --theme dark --out pictures
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Page, sync_playwright

from autoj.serve.app import make_app
from autoj.serve.service import Service
from autoj.serve.settings import ServiceSettings

_REPOSITORY = Path(__file__).resolve().parent.parent
_PAIRS = _REPOSITORY / "examples" / "pairs.jsonl"
_WRITTEN = 60
"""Characters of a critique that are there when the first picture is taken."""
_MOST_HIGH = 1400
"""Pixels of the second picture; a scenario may have a screen of criteria."""


def main() -> None:
    """Writes `page-streaming.png` and `page-verdict.png`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judge", default="embedded-small")
    parser.add_argument("--protocol", default="pairwise-verdict", help="one that asks both orders")
    parser.add_argument("--case", type=int, default=2, help="the row of examples/pairs.jsonl")
    parser.add_argument("--theme", choices=["light", "dark"], default="light")
    parser.add_argument("--width", type=int, default=1100)
    parser.add_argument("--out", type=Path, default=_REPOSITORY / "docs" / "img")
    given = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with serving(given.judge) as address, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": given.width, "height": 700}, color_scheme=given.theme
        )
        page.goto(address)
        page.wait_for_selector("#judge option", state="attached")
        ask(page, given.case, given.protocol)
        given.out.mkdir(parents=True, exist_ok=True)
        wait_until_written(page)
        page.screenshot(path=given.out / "page-streaming.png", full_page=True)
        page.wait_for_selector("#send:enabled", timeout=600_000)
        page.click("#scenario summary")
        height = min(_MOST_HIGH, int(page.locator("body").bounding_box()["height"]))
        page.screenshot(
            path=given.out / "page-verdict.png", full_page=True,
            clip={"x": 0, "y": 0, "width": given.width, "height": height},
        )  # fmt: skip
        browser.close()
    for path in sorted(given.out.glob("page-*.png")):
        print(f"wrote {path} ({path.stat().st_size / 1000:.0f} kB)")


@contextmanager
def serving(judge: str) -> Iterator[str]:
    """The address of a service of one judge, once it is ready."""
    service = Service([judge], ServiceSettings())
    server = uvicorn.Server(uvicorn.Config(make_app(service), port=0, log_level="warning"))
    running = threading.Thread(target=lambda: asyncio.run(server.serve()))
    running.start()
    while not server.started or service.engine(None).state == "loading":
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    running.join()


def ask(page: Page, row: int, protocol: str) -> None:
    """Fills the form with a pair of the examples and sends it."""
    pair: dict[str, Any] = json.loads(_PAIRS.read_text(encoding="utf-8").splitlines()[row])
    page.fill("#query", pair["query"])
    for field, text in zip("ab", pair["responses"], strict=True):
        page.fill(f"#{field}", text if isinstance(text, str) else text["text"])
    page.select_option("#protocol", protocol)
    page.click("#send")


def wait_until_written(page: Page) -> None:
    """Waits for some of the critique, and for the scenario."""
    page.wait_for_selector("#scenario:not([hidden])")
    page.wait_for_selector("#answers pre", timeout=600_000)
    # The page's policy forbids the `eval` that waiting for an expression takes.
    while len(page.inner_text("#answers pre")) < _WRITTEN and page.is_disabled("#send"):
        time.sleep(0.02)


if __name__ == "__main__":
    main()
