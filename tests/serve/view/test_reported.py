"""Runs of select, of classify and others over the server: their page, its guard, and changes."""

from __future__ import annotations

import pytest

from autoj.errors import ConfigError, DataError
from autoj.serve.view.app import make_report_app
from autoj.serve.view.reported import ReportedRuns, open_view
from autoj.serve.view.runs import ViewedRuns

from ...reports.html.kinds import classified, selected
from ...reports.html.stored import judged, pairs

pytest.importorskip("vl_convert", reason="the extra `report` is missing")
testclient = pytest.importorskip("starlette.testclient", reason="httpx is missing")


def client(*paths):
    app = make_report_app(open_view(paths))
    return testclient.TestClient(
        app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False
    )


def test_each_kind_has_its_page(tmp_path):
    run = judged(tmp_path / "run", pairs(2))
    assert isinstance(open_view([run]), ViewedRuns)
    one, other = selected(tmp_path / "one"), selected(tmp_path / "other", second=True)
    both = client(one, other).get("/").text
    assert "Beside script in one" in both
    assert "Picks by script<" in client(one).get("/").text
    rows = classified(tmp_path / "rows.jsonl")
    assert "Scenarios by fast" in client(rows).get("/").text


def test_paths_that_do_not_fit_are_refused(tmp_path):
    picks = selected(tmp_path / "picks")
    with pytest.raises(ConfigError, match="has a page of its own"):
        open_view([judged(tmp_path / "run", pairs(2)), picks])
    with pytest.raises(DataError):
        open_view([tmp_path])


def test_page_is_made_again_when_a_file_changes(tmp_path):
    rows = classified(tmp_path / "rows.jsonl")
    reported = ReportedRuns([rows])
    first = reported.html()
    assert reported.html() is first
    with rows.open("ab") as stream:
        stream.write(rows.read_bytes().splitlines()[0] + b"\n")
    assert "4 queries" in reported.html()
    opened = client(rows)
    rows.write_bytes(b"{}\n")
    answer = opened.get("/")
    assert answer.status_code == 500
    assert "rows.jsonl" in answer.text
    assert answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"host": "[::1]:8000"}])
def test_other_hosts_are_refused(tmp_path, headers):
    assert client(classified(tmp_path / "rows.jsonl")).get("/", headers=headers).status_code == 403


def test_page_has_its_policy_and_is_not_framed(tmp_path):
    answer = client(classified(tmp_path / "rows.jsonl")).get("/")
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
    assert 'http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;' in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "not shown" not in answer.text
    other = client(classified(tmp_path / "rows.jsonl")).get("/api/state")
    assert other.status_code == 404
