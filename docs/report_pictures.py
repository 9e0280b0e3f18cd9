"""Takes pictures of reports in headless Chromium; needs the extras report and browser, and Pillow.

python docs/report_pictures.py                                     # judges 48 pairs of our own
python docs/report_pictures.py --run runs/one --only overview dark narrow
python docs/report_pictures.py --run runs/one --second runs/two --only two

The pictures of cases are always of our own rows. Those of the overview, which are of figures alone,
may be of any runs: of such a run no judged text is shown, and the script refuses to show any.
"""

from __future__ import annotations

import argparse
import io
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from autoj.jsonl import decode, encode
from autoj.reports.html.report import write_report

_REPOSITORY = Path(__file__).resolve().parent.parent
_PAIRS = _REPOSITORY / "data" / "own" / "pairs.jsonl"
_WIDE, _NARROW = {"width": 1200, "height": 900}, {"width": 400, "height": 900}
_COLOURS = 64
_TELLING = 60
"""The characters of a text that are enough to know it by; shorter ones may be a scenario's name."""
PICTURES = ("overview", "dark", "narrow", "two", "case", "differ")


def main() -> None:
    """Writes `report-*.png`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, help="any run, for the pictures of the overview")
    parser.add_argument("--second", type=Path, help="another one on the same cases")
    parser.add_argument("--only", nargs="+", choices=PICTURES, default=PICTURES)
    parser.add_argument("--judge", default="embedded-small", help="judges our own rows")
    parser.add_argument("--against", default="embedded-small-base", help="the second judge of them")
    parser.add_argument("--rows", type=int, default=48)
    parser.add_argument("--own-run", type=Path, help="a run of the judge over our own rows")
    parser.add_argument("--own-second", type=Path, help="one of the second judge over these rows")
    parser.add_argument("--out", type=Path, default=_REPOSITORY / "docs" / "img")
    given = parser.parse_args()
    if given.second is not None and given.run is None:
        parser.error("--second needs --run")
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, _browser() as started:
        _Pictures(started, given, Path(name)).take(given.only)


class _Pictures:
    """The pages that pictures are taken of; each is made when it is first needed."""

    def __init__(self, started: Browser, given: argparse.Namespace, folder: Path) -> None:
        self._started, self._given, self._folder = started, given, folder

    def take(self, names: Sequence[str]) -> None:
        """Takes pictures by their names in `PICTURES`."""
        for name in names:
            path = self._given.out / f"report-{name}.png"
            content = getattr(self, f"_{name}")()
            path.write_bytes(_small(content))
            print(f"wrote {path}, {path.stat().st_size / 1e3:.0f} kB")

    def _overview(self) -> bytes:
        return self._figures(self._one, 1500, viewport=_WIDE)

    def _dark(self) -> bytes:
        return self._figures(self._one, 1200, viewport=_WIDE, color_scheme="dark")

    def _narrow(self) -> bytes:
        return self._figures(self._one, 900, viewport=_NARROW)

    def _two(self) -> bytes:
        return self._figures(self._both, 1000, viewport=_WIDE)

    def _case(self) -> bytes:
        page = self._opened(self._own_one, "view=cases&flag=wrong", viewport=_WIDE)
        _open_case(page, 2)
        return _shot(page, 1500)

    def _differ(self) -> bytes:
        page = self._opened(self._own_both, "view=cases&flag=differ", viewport=_WIDE)
        _open_case(page)
        return _shot(page, 1400)

    def _figures(self, path: Path, most_high: int, **settings: Any) -> bytes:
        page = self._opened(path, "", **settings)
        _refuse_texts(page)
        # Below it stand folders of the computer that judged.
        about = page.get_by_role("heading", name="What judged").first.bounding_box()
        return _shot(page, most_high if about is None else min(most_high, int(about["y"])))

    def _opened(self, path: Path, fragment: str, **settings: Any) -> Page:
        page = self._started.new_page(**settings)
        page.goto(f"{path.as_uri()}#{fragment}")
        page.wait_for_selector("#list li", state="attached")
        return page

    @cached_property
    def _one(self) -> Path:
        return self._own_one if self._given.run is None else self._page("one", self._given.run)

    @cached_property
    def _both(self) -> Path:
        if self._given.second is None:
            return self._own_both
        return self._page("both", self._given.run, self._given.second)

    @cached_property
    def _own_one(self) -> Path:
        return self._page("own-one", self._own_run)

    @cached_property
    def _own_both(self) -> Path:
        return self._page("own-both", self._own_run, self._own_second)

    @cached_property
    def _own_run(self) -> Path:
        return self._given.own_run or self._judged(self._given.judge, "run")

    @cached_property
    def _own_second(self) -> Path:
        return self._given.own_second or self._judged(self._given.against, "second")

    def _page(self, name: str, *runs: Path) -> Path:
        path = self._folder / f"{name}.html"
        write_report(runs, path)
        return path

    def _judged(self, judge: str, name: str) -> Path:
        pairs, run = self._folder / "pairs.jsonl", self._folder / name
        pairs.write_bytes(b"".join(_drawn(self._given.rows)))
        command = ["judge", str(pairs), "--judge", judge, "--classify", "--out", str(run)]
        subprocess.run([sys.executable, "-m", "autoj", *command], check=True)
        return run


def _refuse_texts(page: Page) -> None:
    """Ends the script where the overview shows a text that was judged.

    The texts belong to the data sets, and a picture of them would be a copy.
    """
    shown = " ".join(page.inner_text("main").split())
    blocks = page.locator("script.cases").all_text_contents()
    for line in "\n".join(blocks).splitlines():
        case = decode(line.encode())
        for each in (case["query"], *case["responses"]):
            text = " ".join(each["text"].split())[:_TELLING]
            if len(text) == _TELLING and text in shown:
                raise SystemExit(f"the overview shows a text of case {case['id']}")


def _drawn(n: int) -> Iterator[bytes]:
    """English rows of our own, the same ones each time."""
    rows = [decode(line) for line in _PAIRS.read_bytes().splitlines()]
    rows = [row for row in rows if row["language"] == "en"]
    random.Random(0).shuffle(rows)
    return map(encode, rows[:n])


@contextmanager
def _browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            yield running
        finally:
            running.close()


def _open_case(page: Page, number: int = 1) -> None:
    for _ in range(number):
        page.keyboard.press("j")


def _shot(page: Page, most_high: int) -> bytes:
    height = min(most_high, page.evaluate("document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}
    taken: bytes = page.screenshot(full_page=True, clip=clip)
    return taken


def _small(content: bytes) -> bytes:
    """A picture with a palette, a third of its size."""
    with Image.open(io.BytesIO(content)) as picture:
        flat = picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    found = io.BytesIO()
    flat.save(found, "PNG", optimize=True)
    return found.getvalue()


if __name__ == "__main__":
    main()
