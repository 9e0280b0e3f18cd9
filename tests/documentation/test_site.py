"""The built site: every link holds, and no page loads anything from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from .pages import REPOSITORY

pytestmark = pytest.mark.slow

_LOADS = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
}
"""What a browser fetches unasked; links of the text (`a`) are followed by people alone."""
_FETCHED_BY_STYLES = re.compile(r"(?:@import\s+|url\(\s*)[\"']?((?:https?:)?//[^\"')]+)")


class _Loads(HTMLParser):
    """Collects what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(_LOADS.get(tag, ""))
        if address is not None:
            self.found.append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a link or a reference that leads nowhere ends it."""
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("site")
    # The same package that is tested, and not the one that is installed.
    path = os.pathsep.join([str(REPOSITORY / "src"), *filter(None, [os.getenv("PYTHONPATH")])])
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        loads = _loads(page.read_text(encoding="utf-8"))
        assert loads, page
        assert not [one for one in loads if re.match(r"(https?:)?//", one)], page


def test_no_style_or_picture_loads_anything_from_elsewhere(site: Path) -> None:
    for path in [*site.rglob("*.css"), *site.rglob("*.svg"), *site.rglob("*.html")]:
        assert not _FETCHED_BY_STYLES.findall(path.read_text(encoding="utf-8")), path


def test_search_works_from_a_disk(site: Path) -> None:
    """The index is a script, since a browser reads no JSON file from a disk."""
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    assert index.startswith("var __index =")
    assert "pairwise-by-rating" in index
    assert "javascripts/iframe-worker.js" in _loads(
        (site / "index.html").read_text(encoding="utf-8")
    )


def test_each_command_and_public_name_is_in_the_reference(site: Path) -> None:
    import autoj

    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert "autoj bench eval-p" in commands
    assert "--on-conflict" in commands
    names = (site / "reference" / "python.html").read_text(encoding="utf-8")
    for name in autoj.__all__:
        assert f'id="autoj.{name}"' in names


def _loads(text: str) -> list[str]:
    parser = _Loads()
    parser.feed(text)
    return parser.found


def test_what_is_fetched_unasked_is_found() -> None:
    page = (
        '<link rel="stylesheet" href="https://a.b/c.css"><a href="https://d.e">x</a><img src="i">'
    )
    assert _loads(page) == ["https://a.b/c.css", "i"]
    assert _FETCHED_BY_STYLES.findall("@import url(https://a.b/c)") == ["https://a.b/c"]
    assert _FETCHED_BY_STYLES.findall('src: url("//a.b/c.woff2")') == ["//a.b/c.woff2"]
