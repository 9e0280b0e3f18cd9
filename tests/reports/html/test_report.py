"""Reports as files: figures of all cases, a page that holds some, and clear refusals."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from autoj.errors import ConfigError, DataError
from autoj.reports.html.report import write_report
from autoj.runs.place import locked

from .stored import by_letters, judged, pairs

pytest.importorskip("vl_convert", reason="the extra `report` is missing")


def data_of(text: str) -> dict:
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    blocks = re.findall(
        r'<script type="application/jsonl" class="cases">(.*?)</script>', text, re.S
    )
    cases = [json.loads(line) for block in blocks for line in block.split("\n")]
    return {**json.loads(block), "cases": cases}


def test_figures_are_those_of_all_cases_and_the_rest_is_beside(tmp_path):
    run = judged(tmp_path / "run", pairs(200), by_letters("aaba"))
    whole = write_report([run], tmp_path / "whole.html")
    part = write_report([run], tmp_path / "part.html", most_cases=50)
    texts = [(tmp_path / name).read_text() for name in ("whole.html", "part.html")]
    assert "accuracy (verdict = label): 25.0 %" in texts[0]
    assert re.findall(r'class="headline">(.*?)<', texts[0]) == re.findall(
        r'class="headline">(.*?)<', texts[1]
    )
    assert (whole.n_cases, whole.n_left, whole.left_path) == (200, 0, None)
    assert 25 < part.n_cases < 75
    assert part.n_cases + part.n_left == 200
    beside = [json.loads(line) for line in Path(part.left_path).read_text().splitlines()]
    held = data_of(texts[1])["cases"]
    assert {case["id"] for case in held} | {case["id"] for case in beside} == {
        f"c{at}" for at in range(200)
    }
    assert f"the other {part.n_left} are in part.cases.jsonl" in texts[1]
    # A later report that holds all leaves no file of cases from before.
    write_report([run], tmp_path / "part.html")
    assert not Path(part.left_path).exists()


def test_case_holds_both_orders_the_quotations_and_its_flags(tmp_path):
    run = judged(tmp_path / "run", pairs(4), by_letters("abut"))
    write_report([run], tmp_path / "report.html")
    first, second, third, fourth = data_of((tmp_path / "report.html").read_text())["cases"]
    (verdict,) = first["verdicts"]
    assert verdict["winner"] == "a"
    assert [judgment["page"] for judgment in verdict["judgments"]] == ["a then b", "b then a"]
    assert [judgment["reading"] for judgment in verdict["judgments"]] == ["a", "a"]
    quotations = verdict["critiques"][0]["parts"][0]["quotations"]
    assert [(its["text"], its["responses"]) for its in quotations] == [
        ("The moon is made of rock", [0]),
        ("It is cheese all through", [1]),
    ]
    assert second["flags"] == []
    assert third["flags"] == ["unreadable"]
    assert third["verdicts"][0]["winner"] is None
    assert third["verdicts"][0]["judgments"][0]["raw"] == "I would rather not say."
    assert "wrong" in fourth["flags"]


def test_many_cases_stand_in_blocks_in_their_order(tmp_path):
    long = [f"{side} is <b> \u2028 " + "long " * 4_000 for side in "ab"]
    run = judged(tmp_path / "run", pairs(30, responses=long), by_letters("ab"))
    write_report([run], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert text.count('class="cases"') > 3
    data = data_of(text)
    assert [case["id"] for case in data["cases"]] == [f"c{at}" for at in range(30)]
    assert [keys["id"] for keys in data["keys"]] == [f"c{at}" for at in range(30)]
    assert {keys["length"] for keys in data["keys"]} == {max(map(len, long))}
    assert data["cases"][7]["responses"][1]["text"] == long[1]


def test_two_runs_are_compared_case_by_case(tmp_path):
    rows = pairs(12)
    one = judged(tmp_path / "one", rows, by_letters("ab"))
    other = judged(tmp_path / "other", [*rows[:10], *pairs(13)[12:]], by_letters("aabb"))
    write_report([one, other], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    data = data_of(text)
    assert data["runs"] == ["script in one", "script in other"]
    differing = [case["id"] for case in data["cases"] if "differ" in case["flags"]]
    assert differing == ["c1", "c2", "c5", "c6", "c9"]
    assert "2 cases of script in one are in no other run." in text
    assert "1 cases of script in other are in no other run." in text
    assert "script in one and script in other share 10 judged cases." in text
    assert "The labels contradict" not in text
    assert data["cases"][11]["verdicts"][1] is None
    assert "p (Holm)" in text


def test_contradicting_labels_are_said_and_missing_ones_are_not(tmp_path):
    rows = pairs(6)
    relabelled = [
        row | {"label": label}
        for row, label in zip(rows, ["b", "b", "tie", None, None, "b"], strict=True)
    ]
    one = judged(tmp_path / "one", rows)
    other = judged(tmp_path / "other", relabelled)
    write_report([one, other], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "contradict each other in 2 cases of script in one and script in other." in text
    assert data_of(text)["cases"][0]["label"] == "a"


def test_unfinished_and_damaged_runs(tmp_path):
    run = judged(tmp_path / "run", pairs(6), by_letters("ab"))
    ledger = run / "ledger.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    with locked(run):
        write_report([run], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "script was still being written when this report was made." in text
    before = (tmp_path / "report.html").read_bytes()
    ledger.write_bytes(b"".join([lines[0], b"{damaged\n", *lines[2:]]))
    with pytest.raises(DataError, match=r"ledger\.jsonl.*2"):
        write_report([run], tmp_path / "report.html")
    # A report of before stays as it was.
    assert (tmp_path / "report.html").read_bytes() == before


def test_a_killed_run_shows_what_it_has_judged_and_says_that_it_is_not_finished(tmp_path):
    run = judged(tmp_path / "run", pairs(6), by_letters("ab"), dies_after=7)
    assert not (run / "verdicts.jsonl").exists()
    write_report([run], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "script is not finished: this is what it has judged so far." in text
    assert "script has not judged 3 of its 6 cases." in text
    verdicts = [case["verdicts"][0] for case in data_of(text)["cases"]]
    assert [None if each is None else each["winner"] for each in verdicts] == [
        "a", "b", "a", None, None, None,
    ]  # fmt: skip


def test_a_run_that_was_killed_before_its_first_verdict_is_refused(tmp_path):
    run = judged(tmp_path / "run", pairs(6), dies_after=1)
    with pytest.raises(DataError, match="has no verdicts yet"):
        write_report([run], tmp_path / "report.html")


def test_killed_ratings_have_a_page_too(tmp_path):
    rows = [row | {"responses": row["responses"][:1], "label": None} for row in pairs(4)]
    run = judged(
        tmp_path / "run", rows, lambda _: "Fine. Rating: [[7]]", "rate", dies_after=2,
        protocol="single",
    )  # fmt: skip
    write_report([run], tmp_path / "report.html")
    assert "is not finished: this is what" in (tmp_path / "report.html").read_text()


def test_charts_are_written_with_the_numbers_behind_them(tmp_path):
    hostile = "=cmd|'x'!A1<script>\x00"
    rows = [
        *pairs(10),
        *(row | {"id": "c1" + row["id"][1:]} for row in pairs(10, scenario=hostile)),
    ]
    run = judged(tmp_path / "run", rows, unknown_scenario="keep")
    figures = tmp_path / "figures"
    report = write_report([run], tmp_path / "report.html", figures=figures)
    assert {Path(path).name for path in report.figures} == {
        f"{name}.{ending}" for name in ("group", "scenario") for ending in ("csv", "png", "svg")
    }
    header, *rows = csv.reader((figures / "scenario.csv").read_text().splitlines())
    assert header == ["part", "n", "value", "low", "high"]
    assert [row[:2] for row in rows] == [
        ["code_generation", "5"], ["explaining_general", "5"],
        ["'=cmd|'x'!A1<script>\\x00", "10"],
    ]  # fmt: skip
    for path in figures.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")
    for path in figures.glob("*.svg"):
        ElementTree.fromstring(path.read_text())
        assert "<script" not in path.read_text()


def test_ratings_have_their_own_figures(tmp_path):
    rows = [{"id": f"c{at}", "query": "Q?", "responses": [f"r{at}"]} for at in range(5)]
    run = judged(
        tmp_path / "run", rows, lambda request: "Rating: [[7]]", task="rate", protocol="single"
    )
    write_report([run], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "mean rating (1-10): 7.00" in text
    assert data_of(text)["cases"][0]["verdicts"][0]["ratings"] == [7.0]


def test_refusals_say_what_to_do(tmp_path):
    with pytest.raises(DataError, match="not a run folder"):
        write_report([tmp_path], tmp_path / "report.html")
    run = judged(tmp_path / "run", pairs(2))
    with pytest.raises(ConfigError, match="is a folder"):
        write_report([run], tmp_path)
    rated = judged(
        tmp_path / "rated", pairs(2), lambda request: "Rating: [[7]]", task="rate",
        protocol="single",
    )  # fmt: skip
    with pytest.raises(ConfigError, match="one report"):
        write_report([run, rated], tmp_path / "report.html")
    other = judged(tmp_path / "other", [row | {"id": "x" + row["id"]} for row in pairs(2)],
                   lambda request: "So, the final decision is Tie.")  # fmt: skip
    with pytest.raises(DataError, match="no case in common"):
        write_report([run, other], tmp_path / "report.html")
    assert not list(tmp_path.glob("*.html*"))


def test_policy_allows_the_scripts_of_this_page_alone(tmp_path):
    run = judged(tmp_path / "run", pairs(2))
    write_report([run], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
    assert policy.startswith("default-src &#39;none&#39;")
    assert "unsafe" not in policy
    assert policy.count("sha256-") == 6
