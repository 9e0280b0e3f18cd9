"""The served page in a browser: hostile text is dead, nothing leaves it, it grows with a run."""

from __future__ import annotations

import threading

import pytest

from autoj.datasets import open_cases
from autoj.jsonl import write_records
from autoj.runs import judge_run, make_spec, open_run
from autoj.serve.view.reported import open_view
from autoj.serve.view.runs import open_viewed
from autoj.serve.view.server import serving

from ...reports.html.browser import Visit, browser, only_page, serious_faults, walk
from ...reports.html.kinds import selected
from ...reports.html.payloads import PAYLOADS
from ...reports.html.stored import by_letters, judged, pairs
from ...scripted import CARD, Recorder

pytest.importorskip("uvicorn", reason="the extra `serve` is missing")
pytest.importorskip("sse_starlette", reason="the extra `serve` is missing")


@pytest.fixture(scope="module")
def running():
    with browser() as started:
        yield started


class ServedVisit(Visit):
    """A visit that may ask its own server."""

    def _route(self, route, own):
        if route.request.url.startswith((own, "data:", "blob:")):
            route.continue_()
        else:
            self.requests.append(route.request.url)
            route.abort()


def visit(running, address, fragment="", **settings):
    page = only_page(running, **settings)
    found = ServedVisit(page, address)
    page.goto(f"{address}#{fragment}")
    page.wait_for_selector("#count:not(:empty)", state="attached")
    return found


def count(page, text):
    page.wait_for_selector(f'#count:text-is("{text}")')


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view")
    one = judged(folder / "one", pairs(120), by_letters("aabtu"))
    other = judged(folder / "other", pairs(120), by_letters("ab"))
    with serving(open_viewed([one, other]), 0) as (found, _):
        yield found


def test_filters_search_and_link_to_a_case(running, address):
    seen = visit(running, address)
    page = seen.page
    assert "verdict accuracy" in page.inner_text("#overview")
    page.keyboard.press("c")
    count(page, "120 of 120 cases")
    page.select_option("#flag", "unreadable")
    count(page, "24 of 120 cases")
    page.select_option("#winner", "a")
    count(page, "0 of 120 cases")
    page.click("#reset")
    count(page, "120 of 120 cases")
    page.keyboard.press("/")
    page.keyboard.type("moon 17 ")
    count(page, "1 of 120 cases")
    page.click("#list button")
    page.wait_for_selector("#case[data-row='17'] h2")
    seen.check()
    again = visit(running, address, page.url.split("#")[1])
    again.page.wait_for_selector("#case[data-row='17'] h2")
    assert again.page.inner_text("#case h2") == "c17"
    count(again.page, "1 of 120 cases")
    again.check()


def test_two_selections_are_served(running, tmp_path):
    texts = ("Plan Rome.", "<img src=x onerror=window.__ran=[1]>", "Sing.")
    runs = [selected(tmp_path / "one", texts), selected(tmp_path / "other", texts, second=True)]
    with serving(open_view(runs), 0) as (address, _):
        seen = visit(running, address, "view=cases&show=differ")
        count(seen.page, "3 of 3 queries")
        seen.page.keyboard.press("j")
        seen.page.keyboard.press("j")
        assert "<img src=x" in seen.page.inner_text("#case")
        assert "picked by script in other" in seen.page.inner_text("#case")
        seen.check()


def test_keys_walk_from_page_to_page(running, address):
    seen = visit(running, address, "view=cases&row=49")
    page = seen.page
    page.wait_for_selector("#case[data-row='49'] h2")
    page.keyboard.press("j")
    page.wait_for_selector("#case[data-row='50'] h2")
    assert page.inner_text("#page") == "2 of 3"
    seen.check()


def test_page_grows_while_a_run_is_judged(running, tmp_path):
    write_records(tmp_path / "pairs.jsonl", pairs(6))
    spec = make_spec("judge", CARD, protocol="pairwise")
    reached, go_on = threading.Event(), threading.Event()

    def answer(request):
        if request.case_id == "c3":
            reached.set()
            assert go_on.wait(60)
        return by_letters("ab")(request)

    def judge():
        with open_run(tmp_path / "run", spec, open_cases(tmp_path / "pairs.jsonl")) as opened:
            judge_run(opened, spec, Recorder(answer))

    judging = threading.Thread(target=judge)
    judging.start()
    try:
        assert reached.wait(60)
        with serving(open_viewed([tmp_path / "run"]), 0) as (address, _):
            seen = visit(running, address)
            assert "of 6 cases are judged. This page grows with it." in seen.page.inner_text(
                "#banners"
            )
            go_on.set()
            seen.page.wait_for_selector("#banners:empty", state="attached")
            assert "judged 6" in " ".join(seen.page.inner_text("#overview").split())
            seen.check()
    finally:
        go_on.set()
        judging.join()


def test_no_serious_fault_for_people_who_use_keys_or_readers(running, address):
    page = visit(
        running, address, viewport={"width": 400, "height": 800}, bypass_csp=True
    ).page  # fmt: skip
    assert serious_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.goto(f"{address}#view=cases&row=3")
    page.wait_for_selector("#case[data-row='3'] h2")
    assert serious_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_no_payload_runs_or_asks_for_anything(running, tmp_path):
    texts = [payload.replace("\ud800", "?") for payload in PAYLOADS]
    rows = [
        {
            "id": f"{at} {text}", "query": text, "label": "a", "scenario": text, "source": text,
            "responses": [{"text": text, "model": text}, f"{at}. {text}"],
        }
        for at, text in enumerate(texts)
    ]  # fmt: skip

    def answer(request):
        text = texts[int(request.case_id.split(" ", 1)[0])].replace("\n", " ")
        if "script" in text:
            return text
        return f'- {text}: it says "{text}".\n\nSo, the final decision is Response 1. {text}'

    run = judged(tmp_path / "run", rows, answer, unknown_scenario="keep")
    with serving(open_viewed([run]), 0) as (address, _):
        seen = visit(running, address, "view=cases")
        page = seen.page
        shown = walk(page, len(texts), ("differences", "quotations"), is_served=True)
        assert len(set(shown)) == len(texts) >= 60
        page.keyboard.press("o")
        page.goto(f"{address}#view=cases&row=0")
        page.wait_for_selector("#case[data-row='0'] h2")
        assert texts[0] in page.inner_text("#case .text")
        seen.check()
