"""The pages of other kinds of runs in a browser: hostile text is dead, filters, keys and links."""

from __future__ import annotations

import base64
import re

import pytest

from autoj.reports.html.report import write_report

from .browser import Visit, browser, only_page, serious_faults, visit, walk
from .kinds import audited, classified, constructed, encodable, renamed, selected
from .payloads import PAYLOADS

KINDS = ("classify", "select", "construct", "audit", "classify-both", "select-both")


@pytest.fixture(scope="module")
def running():
    with browser() as started:
        yield started


def written(folder, texts, hostile=False):
    """A page of each kind."""
    card = audited(folder / "audits" / "audit") / "audit.json"
    sources = {
        "classify": classified(folder / "rows.jsonl", texts),
        "select": selected(folder / "picks", texts, n=2 if hostile else 4),
        "construct": constructed(folder / "made", texts),
        "audit": renamed(card, " ".join(map(encodable, texts))) if hostile else card,
    }
    n = 2 if hostile else 4
    seconds = {
        "classify": classified(folder / "more.jsonl", texts, second=True),
        "select": selected(folder / "picks-more", texts, n=n, second=True),
    }
    for kind, source in sources.items():
        write_report([source], folder / f"{kind}.html")
    for kind, second in seconds.items():
        write_report([sources[kind], second], folder / f"{kind}-both.html")
    return folder


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return written(tmp_path_factory.mktemp("hostile"), PAYLOADS, hostile=True)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return written(tmp_path_factory.mktemp("plain"), ("Plan Rome.", "2 + 2?", "Sing."))


@pytest.mark.parametrize("kind", KINDS)
def test_no_payload_runs_or_asks_for_anything(running, hostile, kind):
    seen = visit(running, hostile / f"{kind}.html", "view=cases")
    page = seen.page
    if kind != "audit":
        # A construction has rows that it kept, and rows that it dropped.
        shown = set(walk(page, len(PAYLOADS) * (2 if kind == "construct" else 1)))
        assert len(shown) > len(PAYLOADS) - 1
        # The words are there to be read, of each kind of field.
        assert any(PAYLOADS[1] in text for text in shown)
        for name in page.evaluate("[...document.querySelectorAll('select')].map((its) => its.id)"):
            for value in page.evaluate(
                f"[...document.getElementById('{name}').options].length > 1 "
                f"? [document.getElementById('{name}').options[1].value] : []"
            ):
                page.select_option(f"#{name}", value)
        page.click("#reset")
    page.keyboard.press("o")
    page.wait_for_timeout(100)
    seen.check()


@pytest.mark.parametrize("kind", KINDS)
def test_charts_run_nothing_either(running, hostile, tmp_path, kind):
    text = (hostile / f"{kind}.html").read_text()
    charts = re.findall(r'src="data:image/svg\+xml;base64,(.*?)"', text)
    assert charts
    seen = Visit(only_page(running), "")
    for number, chart in enumerate(charts):
        path = tmp_path / f"chart-{number}.svg"
        path.write_bytes(base64.b64decode(chart))
        seen.open(path)
        seen.page.wait_for_timeout(30)
        seen.check()


def test_filters_order_and_links(running, plain):
    seen = visit(running, plain / "classify.html")
    page = seen.page
    page.keyboard.press("c")
    assert page.inner_text("#count") == "3 of 3 queries"
    page.select_option("#filter-show", "unsure")
    assert page.inner_text("#count") == "1 of 3 queries"
    page.click("#list button")
    address = page.url
    assert "show=unsure" in address
    page.click("#reset")
    page.select_option("#sort", "unsure")
    assert "chitchat" in page.inner_text("#list li >> nth=0")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("rome")
    page.wait_for_timeout(150)
    assert page.inner_text("#count") == "1 of 3 queries"
    seen.check()
    again = visit(running, plain / "classify.html", address.split("#")[1])
    assert again.page.inner_text("#case h2") == "1 2 + 2?"
    assert again.page.inner_text("#count") == "1 of 3 queries"
    again.check()


def test_dropped_rows_are_found_by_their_reason(running, plain):
    seen = visit(running, plain / "construct.html", "view=cases&outcome=dropped&reason=bad%20row")
    page = seen.page
    assert page.inner_text("#count") == "1 of 7 rows"
    page.keyboard.press("j")
    assert "no query" in page.inner_text("#case")
    page.keyboard.press("?")
    assert page.is_visible("#help")
    seen.check()


def test_picked_response_stands_first_and_says_so(running, plain):
    seen = visit(running, plain / "select.html", "view=cases&picked=m2")
    page = seen.page
    page.keyboard.press("j")
    assert page.inner_text("#case .pair h3 >> nth=0") == "Response 3 (m2), picked"
    assert page.inner_text("#case .text.won") == "Plan Rome. worth 8"
    seen.check()


def test_both_picks_stand_side_by_side(running, plain):
    seen = visit(running, plain / "select-both.html", "view=cases&show=differ&better=0")
    page = seen.page
    assert page.inner_text("#count") == "3 of 3 queries"
    page.keyboard.press("j")
    boxes = [page.locator("#case .text.won").nth(at).bounding_box() for at in (0, 1)]
    # A heading above one of them may have a line more.
    assert abs(boxes[0]["y"] - boxes[1]["y"]) < 60
    assert boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
    # No pick of the other run has the higher reference score, so that is not offered.
    offered = page.locator("#filter-better option").all_inner_texts()
    assert offered == ["all", "the pick of script in picks (3)"]
    seen.check()


def test_different_names_are_found(running, plain):
    seen = visit(running, plain / "classify-both.html", "view=cases")
    page = seen.page
    page.select_option("#filter-show", "differ")
    assert page.inner_text("#count") == "1 of 3 queries"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert "writing_song_lyrics (70.0 %)" in page.inner_text("#case")
    assert "chitchat (20.0 %)" in page.inner_text("#case")
    page.select_option("#filter-scenario0", "planning")
    assert page.inner_text("#count") == "0 of 3 queries"
    seen.check()


@pytest.mark.parametrize("kind", KINDS)
def test_no_serious_fault_for_people_who_use_keys_or_readers(running, plain, kind):
    seen = Visit(only_page(running, viewport={"width": 400, "height": 800}, bypass_csp=True), "")
    for fragment in ("", "view=cases"):
        seen.open(plain / f"{kind}.html", fragment)
        if fragment and kind != "audit":
            seen.page.keyboard.press("j")
        assert serious_faults(seen.page) == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 400
