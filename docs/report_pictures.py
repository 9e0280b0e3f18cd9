"""Takes pictures of reports in headless Chromium, of a real run over pairs of our own.

python docs/report_pictures.py                                    # judges 48 pairs with two judges
python docs/report_pictures.py --run runs/one --other runs/two    # takes runs that are there
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from autoj.jsonl import decode, encode
from autoj.reports.html.report import write_report

_REPOSITORY = Path(__file__).resolve().parent.parent
_PAIRS = _REPOSITORY / "data" / "own" / "pairs.jsonl"
_WIDE, _NARROW = {"width": 1200, "height": 900}, {"width": 400, "height": 900}


def main() -> None:
    """Writes `report-*.png`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judge", default="embedded-small")
    parser.add_argument("--against", default="embedded-small-base", help="the second judge")
    parser.add_argument("--rows", type=int, default=48)
    parser.add_argument("--run", type=Path, help="a run of the judge over such rows")
    parser.add_argument("--other", type=Path, help="a run of the second judge over the same rows")
    parser.add_argument("--out", type=Path, default=_REPOSITORY / "docs" / "img")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs = folder / "pairs.jsonl"
        pairs.write_bytes(b"".join(_drawn(given.rows)))
        run = given.run or _judged(pairs, given.judge, folder / "run")
        other = given.other or _judged(pairs, given.against, folder / "other")
        write_report([run], folder / "one.html")
        write_report([run, other], folder / "two.html")
        given.out.mkdir(parents=True, exist_ok=True)
        with _browser() as started:
            _take(started, folder, given.out)


def _drawn(n: int) -> Iterator[bytes]:
    """English rows of our own, the same ones each time."""
    rows = [decode(line) for line in _PAIRS.read_bytes().splitlines()]
    rows = [row for row in rows if row["language"] == "en"]
    random.Random(0).shuffle(rows)
    return map(encode, rows[:n])


def _judged(pairs: Path, judge: str, run: Path) -> Path:
    command = ["judge", str(pairs), "--judge", judge, "--classify", "--out", str(run)]
    subprocess.run([sys.executable, "-m", "autoj", *command], check=True)
    return run


@contextmanager
def _browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            yield running
        finally:
            running.close()


def _take(started: Browser, folder: Path, out: Path) -> None:
    one, two = folder / "one.html", folder / "two.html"
    page = _opened(started, one, "", _WIDE)
    _shoot(page, out / "report-overview.png", 1500)
    page = _opened(started, one, "view=cases&flag=wrong", _WIDE)
    _open_case(page, 2)
    _shoot(page, out / "report-case.png", 1500)
    page = _opened(started, one, "view=cases", _WIDE, color_scheme="dark")
    page.select_option("#marks", "differences")
    page.evaluate("document.activeElement.blur()")
    _open_case(page, 2)
    _shoot(page, out / "report-dark.png", 1200)
    page = _opened(started, one, "view=cases&flag=wrong", _NARROW)
    _open_case(page, 2)
    page.locator("#case h2").scroll_into_view_if_needed()
    page.screenshot(path=out / "report-narrow.png")
    page = _opened(started, two, "", _WIDE)
    _shoot(page, out / "report-two.png", 1000)
    page = _opened(started, two, "view=cases&flag=differ", _WIDE)
    _open_case(page)
    _shoot(page, out / "report-differ.png", 1400)


def _opened(started: Browser, path: Path, fragment: str, size: Any, **settings: Any) -> Page:
    page = started.new_page(viewport=size, **settings)
    page.goto(f"{path.as_uri()}#{fragment}")
    page.wait_for_selector("#list li", state="attached")
    return page


def _open_case(page: Page, number: int = 1) -> None:
    for _ in range(number):
        page.keyboard.press("j")


def _shoot(page: Page, path: Path, most_high: int) -> None:
    height = min(most_high, page.evaluate("document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}
    page.screenshot(path=path, full_page=True, clip=clip)
    print(f"wrote {path}, {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
