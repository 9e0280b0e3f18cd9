"""The page in a browser: hostile text is dead, nothing leaves it, keys and links work."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from autoj.reports.html.report import write_report

from .browser import Visit, browser, only_page, serious_faults, visit, walk
from .payloads import PAYLOADS
from .stored import by_letters, judged, pairs


@pytest.fixture(scope="module")
def running():
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        {
            "id": f"{at} {payload}".replace("\ud800", "?"),
            "query": payload.replace("\ud800", "?"),
            "responses": [
                {"text": payload.replace("\ud800", "?"), "model": payload.replace("\ud800", "?")},
                f"{at}. {payload}".replace("\ud800", "?"),
            ],
            "label": "a",
            "scenario": payload.replace("\ud800", "?"),
            "source": payload.replace("\ud800", "?"),
        }
        for at, payload in enumerate(PAYLOADS)
    ]

    def answer(request):
        payload = rows[int(request.case_id.split(" ", 1)[0])]["query"]
        if "script" in payload:
            return payload
        name = payload.replace("\n", " ")
        return (
            "1. The key factors to distinguish these two responses:\n\n"
            f'- {name}: it says "{name}".\n\n2. The final decision:\n\n'
            "So, the final decision is Response 1. " + name
        )

    run = judged(folder / "run", rows, answer, unknown_scenario="keep")
    write_report([run], folder / "report.html", figures=folder / "figures")
    return folder


def test_no_payload_runs_or_asks_for_anything(running, hostile):
    assert len(PAYLOADS) >= 60
    seen = visit(running, hostile / "report.html", "view=cases")
    page = seen.page
    shown = walk(page, len(PAYLOADS), ("differences", "quotations"))
    assert len(set(shown)) == len(PAYLOADS)
    assert "Critique" in shown[-1] or "answer" in shown[-1]
    page.keyboard.press("o")
    page.wait_for_timeout(200)
    seen.check()
    # The words are there to be read.
    page.goto(page.url.split("#")[0] + "#" + f"view=cases&id={quote('0 ' + PAYLOADS[0])}")
    page.wait_for_timeout(50)
    assert PAYLOADS[0] in page.inner_text("#case .text")
    seen.check()


def test_charts_run_nothing_either(running, hostile):
    seen = Visit(only_page(running), "")
    for path in sorted((hostile / "figures").glob("*.svg")):
        seen.open(path)
        seen.page.wait_for_timeout(50)
        seen.check()


def test_long_line_is_cut_and_said(running, tmp_path):
    rows = pairs(2)
    rows[0]["responses"] = ["x" * 10_000_000, "short"]
    run = judged(tmp_path / "run", rows, on_overflow="truncate")
    report = write_report([run], tmp_path / "report.html")
    assert report.n_bytes < 1_000_000
    seen = visit(running, tmp_path / "report.html", "view=cases&id=c0")
    assert "9,950,000 more characters" in seen.page.inner_text("#case")
    seen.check()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    rows = pairs(120)
    one = judged(folder / "one", rows, by_letters("aabtu"))
    other = judged(folder / "other", rows, by_letters("ab"))
    write_report([one, other], folder / "report.html")
    return folder / "report.html"


def test_filters_sort_and_link_to_a_case(running, report):
    seen = visit(running, report)
    page = seen.page
    page.keyboard.press("c")
    assert page.inner_text("#count") == "120 of 120 cases"
    page.select_option("#flag", "unreadable")
    assert page.inner_text("#count") == "24 of 120 cases"
    page.select_option("#winner", "a")
    assert page.inner_text("#count") == "0 of 120 cases"
    page.click("#reset")
    page.keyboard.press("/")
    page.keyboard.type("moon 17 ")
    page.wait_for_timeout(150)
    assert page.inner_text("#count") == "1 of 120 cases"
    page.click("#list button")
    address = page.url
    assert "id=c17" in address
    assert "q=moon" in address
    seen.check()
    again = visit(running, report, address.split("#")[1])
    assert again.page.inner_text("#case h2") == "c17"
    assert again.page.inner_text("#count") == "1 of 120 cases"
    again.check()


def test_list_marks_a_wrong_winner_and_not_another_runs(running, report):
    # The first judge names a, a, b, tie and nobody; the other one a, b; labels are a, b.
    page = visit(running, report, "view=cases").page
    lines = [line.split(" · ")[:2] for line in page.locator("#list .more").all_inner_texts()]
    assert lines[:10] == [
        ["a wins", "label a"], ["a wins", "label b ✗"], ["b wins", "label a ✗"],
        ["tie", "label b ✗"], ["no winner", "label a"], ["a wins", "label b ✗"],
        ["a wins", "label a"], ["b wins", "label b"], ["tie", "label a ✗"],
        ["no winner", "label b"],
    ]  # fmt: skip
    assert page.locator("#list .more").nth(4).inner_text().count("✗") == 0


def test_keys_walk_through_the_cases(running, report):
    seen = visit(running, report, "view=cases")
    page = seen.page
    for _ in range(52):
        page.keyboard.press("j")
    assert page.inner_text("#case h2") == "c51"
    assert page.inner_text("#page") == "2 of 3"
    page.keyboard.press("k")
    assert page.inner_text("#case h2") == "c50"
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    assert not page.is_visible("#help")
    seen.check()


def test_notes_are_saved_as_rows_that_bench_and_construct_read(running, report, tmp_path):
    from autoj.datasets import open_cases

    seen = visit(running, report, "view=cases&id=c3", accept_downloads=True)
    page = seen.page
    page.select_option("#case .note-form select >> nth=0", "down")
    page.select_option("#case .note-form select >> nth=1", "a")
    page.fill("#case .note-form input", 'It says "cheese".')
    page.evaluate("document.activeElement.blur()")
    # A browser hands what one page keeps on to the next in its own time.
    page.wait_for_timeout(500)
    page.reload()
    assert page.inner_text("#n-notes") == "1"
    with page.expect_download() as waiting:
        page.click("#save-notes")
    path = tmp_path / "notes.jsonl"
    waiting.value.save_as(path)
    (row,) = [json.loads(line) for line in path.read_text().splitlines()]
    assert row["meta"]["thumbs"] == "down"
    ((_, case),) = open_cases(path).read()
    assert (case.id, case.label, case.meta["note"]) == ("c3", "a", 'It says "cheese".')
    assert case.responses[0].model == "geologist"
    seen.check()


def test_no_serious_fault_for_people_who_use_keys_or_readers(running, report):
    seen = Visit(only_page(running, viewport={"width": 400, "height": 800}, bypass_csp=True), "")
    for fragment in ("", "view=cases&id=c3"):
        seen.open(report, fragment)
        assert serious_faults(seen.page) == []
        # Nothing is wider than a narrow screen.
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 400
