"""The server's answers, who gets them, and runs that grow, change or are damaged."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np
import pytest

from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.runs import judge_run, make_spec, open_run
from autoj.serve.view.app import make_app, versions
from autoj.serve.view.index import RunIndex
from autoj.serve.view.lines import RowLines
from autoj.serve.view.runs import ViewedRuns, open_viewed, page_run
from autoj.serve.view.selection import CaseFilter, TextSearch, select_rows
from autoj.tasks.run import Run

from ...reports.html.stored import by_letters, judged, pairs
from ...scripted import CARD, Recorder

pytest.importorskip("sse_starlette", reason="the extra `serve` is missing")
testclient = pytest.importorskip("starlette.testclient", reason="httpx is missing")


@pytest.fixture(scope="module")
def viewed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view")
    one = judged(folder / "one", pairs(120), by_letters("aabtu"))
    changed = pairs(121)
    changed[5]["query"] = "Another question?"
    other = judged(folder / "other", changed, by_letters("ab"))
    return open_viewed([one, other])


@pytest.fixture(scope="module")
def client(viewed):
    with testclient.TestClient(make_app(viewed), base_url="http://127.0.0.1:8000") as found:
        yield found


def found(viewed, **wanted):
    return viewed.page(CaseFilter(**wanted), 0).n_found


def test_filters_agree_with_what_was_judged(viewed):
    # Winners go a, a, b, tie, unreadable; labels a, b.
    assert found(viewed) == 120
    assert [found(viewed, winner=its) for its in ("a", "b", "tie", "none")] == [48, 24, 24, 24]
    assert found(viewed, flag="unreadable") == 24
    labels = ["ab"[at % 2] for at in range(120)]
    winners = [("a", "a", "b", "tie", None)[at % 5] for at in range(120)]
    wrong = sum(its not in (None, label) for its, label in zip(winners, labels, strict=True))
    assert found(viewed, flag="wrong") == wrong
    # A case whose texts differ is not the same case.
    others = ["ab"[at % 2] for at in range(120)]
    differ = [at for at in range(120) if winners[at] != others[at] and at != 5]
    assert found(viewed, flag="differ") == len(differ)
    assert found(viewed, scenario="code_generation") == 60
    assert found(viewed, scenario="group:Code") == 60
    assert found(viewed, scenario="of no case") == 0
    lengths = ("a-much-shorter", "a-shorter", "alike", "b-shorter", "b-much-shorter")
    assert sum(found(viewed, length=its) for its in lengths) == 120
    assert found(viewed, confidence="over-90") == 0


def test_text_is_found_in_queries_responses_critiques_and_ids(viewed):
    assert found(viewed, q="MOON 17 ") == 1
    assert found(viewed, q='says "the moon is made of rock"', winner="b") == 24
    assert found(viewed, q="geologist", flag="unreadable") == 24
    assert found(viewed, q="c119") == 1
    # Names of fields are no text of a case.
    assert found(viewed, q="case_id") == 0


@pytest.mark.parametrize("most_bytes", [600, 5_000, 1_000_000])
@pytest.mark.parametrize("sort", ["", "length"])
@pytest.mark.parametrize("flag", ["", "unreadable", "wrong"])
def test_search_by_stretches_finds_what_a_search_by_cases_does(
    viewed, monkeypatch, most_bytes, sort, flag
):
    columns = viewed.runs[0].columns
    texts = ("moon 1", "cheese", "MOON 7 made", "no such text", 'says "the', "samples 88", "c11")
    for text in texts:
        rows = select_rows(columns, CaseFilter(sort=sort, flag=flag), np.zeros(120, dtype=bool))
        found = []
        for together in (most_bytes, 0):
            monkeypatch.setattr("autoj.serve.view.lines._MOST_BYTES", together)
            search = TextSearch(text, rows, lambda: RowLines(columns, viewed.runs[0].run.path))
            while not search.is_complete:
                search.go_on(1.0, len(search.found) + 3)
            found.append(search.found)
        assert found[0] == found[1]
    lines = RowLines(columns, viewed.runs[0].run.path)
    assert lines.n_together(np.arange(120)) == 1
    monkeypatch.setattr("autoj.serve.view.lines._MOST_BYTES", 1_000_000)
    assert lines.n_together(np.arange(120)) == 120
    assert lines.n_together(np.array([5, 4])) == 1
    with lines:
        cases, verdicts = lines.read(3, 5)
    assert (cases.count(b"\n"), verdicts.count(b"\n")) == (3, 3)
    assert b'"c3"' in cases
    assert b'"c5"' in verdicts


def test_search_gives_way_after_a_step_and_goes_on(viewed, monkeypatch):
    monkeypatch.setattr("autoj.serve.view.lines._MOST_BYTES", 5_000)
    columns, path = viewed.runs[0].columns, viewed.runs[0].run.path
    rows = np.arange(120, dtype=np.int32)
    search = TextSearch("moon 119 ", rows, lambda: RowLines(columns, path))
    n_steps = 0
    while not search.is_complete:
        before = search.n_searched
        search.go_on(60.0, 51, lambda: True)
        assert search.n_searched > before
        n_steps += 1
    assert n_steps > 2
    assert search.found == [119]


def test_search_goes_on_where_it_stopped_in_a_run_that_grew(viewed):
    columns, path = viewed.runs[0].columns, viewed.runs[0].run.path
    opened = lambda: RowLines(columns, path)  # noqa: E731
    earlier = TextSearch("moon 1", np.arange(60, dtype=np.int32), opened)
    earlier.go_on(60.0, 1_000)
    grown = TextSearch("moon 1", np.arange(120, dtype=np.int32), opened)
    grown.take_over(earlier)
    assert grown.n_searched == 60
    grown.go_on(60.0, 1_000)
    other_order = TextSearch("moon 1", np.arange(120, dtype=np.int32)[::-1].copy(), opened)
    other_order.take_over(earlier)
    assert other_order.n_searched == 0
    other_order.go_on(60.0, 1_000)
    assert grown.found == sorted(other_order.found)


def test_search_of_a_run_that_grows_is_not_begun_anew(viewed, monkeypatch):
    assert viewed.page(CaseFilter(q="no such text"), 0).n_searched == 120
    viewed.version += 1
    monkeypatch.setattr(TextSearch, "_step", None)
    assert viewed.page(CaseFilter(q="no such text"), 0).n_searched == 120


def test_another_question_does_not_wait_for_a_search(viewed, monkeypatch):
    monkeypatch.setattr("autoj.serve.view.lines._MOST_BYTES", 600)
    searching, asked = threading.Event(), threading.Event()
    held = TextSearch._step

    def slow(search, lines):
        searching.set()
        assert asked.wait(60)
        held(search, lines)

    monkeypatch.setattr(TextSearch, "_step", slow)
    found = []
    search = threading.Thread(
        target=lambda: found.append(viewed.page(CaseFilter(q="nowhere at all"), 0))
    )
    search.start()
    assert searching.wait(60)
    other = threading.Thread(target=viewed.case, args=(3,))
    other.start()
    while not viewed._lock.is_wanted():
        time.sleep(0.001)
    asked.set()
    search.join()
    other.join()
    # It stopped after one step of the many that its half second has room for.
    assert found[0].n_searched < 120


def test_pages_hold_fifty_cases_each_once(viewed):
    pages = [viewed.page(CaseFilter(sort="length"), number).cases for number in range(4)]
    assert [len(page) for page in pages] == [50, 50, 20, 0]
    assert len({case.row for page in pages for case in page}) == 120


def test_case_has_the_verdicts_of_all_runs(client):
    case = client.get("/api/cases/3").json()
    assert [verdict["winner"] for verdict in case["verdicts"]] == ["tie", "b"]
    assert [its["page"] for its in case["verdicts"][0]["judgments"]] == ["a then b", "b then a"]
    assert case["verdicts"][1]["critiques"][0]["parts"][0]["name"] == "accuracy"
    assert client.get("/api/cases/5").json()["verdicts"][1] is None


def test_figures_have_their_interval_and_count(client):
    state = client.get("/api/state").json()
    (figures,) = [its for its in state["runs"][0]["sections"] if its["title"] == "Figures"]
    name, value, interval, n = figures["tables"][0]["rows"][0]
    assert (name, n) == ("verdict accuracy", "96, 24 unscored")
    assert value.endswith("%")
    assert "to" in interval or "," in interval
    assert state["runs"][0]["n_judged"] == 120


def test_page_has_a_policy_and_no_text_of_a_run(client):
    answer = client.get("/")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "connect-src 'self'" in policy
    assert "moon" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8000"},
        {"host": "127.0.0.1.evil.example:8000"},
        {"host": ""},
        {"host": "[::1]:8000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize("path", ["/api/state", "/api/cases", "/api/cases/1", "/api/events"])
def test_other_sites_are_refused(client, headers, path):
    answer = client.get(path, headers=headers)
    assert answer.status_code == 403
    assert "moon" not in answer.text


@pytest.mark.parametrize(
    "path",
    ["/../run.json", "/%2e%2e/%2e%2e/etc/passwd", "/api/cases/../../run.json", "/run.json",
     "/api/cases/%2fetc%2fpasswd", "/docs", "/openapi.json", "/api/cases/99999", "/api/cases/-1"],
)  # fmt: skip
def test_no_path_leads_to_a_file(client, path):
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "query", ["flag=x", "sort=__class__", "page=-1", "page=x", "page=99999999", "winner=c"]
)
def test_values_that_are_none_are_refused(client, query):
    answer = client.get(f"/api/cases?{query}")
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_nothing_can_be_written(client):
    assert {
        client.request(verb, "/api/cases/1").status_code for verb in ("POST", "PUT", "DELETE")
    } == {405}


def test_page_grows_with_a_run_that_is_being_written(tmp_path):
    rows = pairs(6)
    write_records(tmp_path / "pairs.jsonl", rows)
    spec = make_spec("judge", CARD, protocol="pairwise")
    seen, held = [], []

    def answer(request):
        if not held and request.case_id == "c1":
            held.append(open_viewed([tmp_path / "run"]))
        if held:
            held[0].advance(5)
            seen.append(held[0].runs[0].n_judged)
        return by_letters("ab")(request)

    with open_run(tmp_path / "run", spec, open_cases(tmp_path / "pairs.jsonl")) as opened:
        judge_run(opened, spec, Recorder(answer))
        (viewed,) = held
        assert viewed.runs[0].is_running
    assert seen == sorted(seen)
    assert 0 < seen[-1] < 6
    viewed.advance(5)
    assert (viewed.runs[0].n_judged, viewed.runs[0].is_running) == (6, False)
    assert [case.winner for case in viewed.page(CaseFilter(), 0).cases] == ["a", "b"] * 3


def test_each_version_is_an_event(viewed):
    async def first_two():
        stream = versions(viewed, lambda: False, seconds=0)
        found = [await anext(stream)]
        viewed.version += 1
        found.append(await anext(stream))
        await stream.aclose()
        return found

    before = viewed.version
    assert asyncio.run(first_two()) == [{"data": str(before)}, {"data": str(before + 1)}]


def test_folder_that_is_no_run_or_another_kind_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"no run\.json"):
        open_viewed([tmp_path])
    one = judged(tmp_path / "pairs", pairs(2))
    rated = judged(tmp_path / "rated", pairs(2), lambda _: "Rating: [[7]]", task="rate")
    with pytest.raises(ConfigError, match="cannot stand on one page"):
        open_viewed([one, rated])
    assert open_viewed([rated]).page(CaseFilter(), 0).cases[0].ratings == (7.0, 7.0)


@pytest.mark.parametrize("name", ["cases.jsonl", "ledger.jsonl", "plan.jsonl", "verdicts.jsonl"])
@pytest.mark.parametrize("how", ["changed", "shorter", "missing"])
def test_damaged_file_is_an_error(tmp_path, name, how):
    path = judged(tmp_path / "run", pairs(6)) / name
    content = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "shorter":
        path.write_bytes(content[: content.rindex(b"\n", 0, -1) + 1])
    else:
        path.write_bytes(content.replace(b"c3", b"c9", 1).replace(b"tie", b"a", 1))
        if path.read_bytes() == content:
            path.write_bytes(content.replace(b"Response 1", b"Response 2", 1))
    with pytest.raises(DataError, match=name):
        open_viewed([path.parent])


def test_damage_that_is_found_later_is_said_on_the_page(tmp_path):
    path = judged(tmp_path / "run", pairs(6)) / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b"accuracy", b"accurate", 1))
    run = Run.open(path.parent)
    viewed = ViewedRuns([RunIndex(page_run(run), run.spec)])
    assert viewed.advance(5)
    (state,) = viewed.state()["runs"]
    assert "ledger.jsonl" in state["damage"]
    assert found(viewed) == 6
    assert not viewed.advance(5)


def test_record_of_a_row_has_the_verdict_of_the_file(tmp_path):
    index = open_viewed([judged(tmp_path / "run", pairs(6), by_letters("aabtu"))]).runs[0]
    for row in range(6):
        assert index.record(row).verdict == index.stored_verdict(row)


def test_files_that_are_replaced_are_indexed_anew(tmp_path):
    path = judged(tmp_path / "run", pairs(6), by_letters("a"))
    viewed = open_viewed([path])
    other = judged(tmp_path / "other", pairs(8), by_letters("b"))
    for file in other.iterdir():
        file.replace(path / file.name)
    assert viewed.advance(5)
    assert (viewed.runs[0].n_judged, found(viewed, winner="b")) == (8, 8)
