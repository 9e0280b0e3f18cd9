"""Runs of select, and of classify, beside each other: figures, rows, and clear refusals."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import orjson
import pytest

from autoj.errors import ConfigError, DataError
from autoj.reports.html.report import write_report
from autoj.runs.place import locked

from .kinds import TEXTS, classified, selected
from .stored import judged, pairs

pytest.importorskip("vl_convert", reason="the extra `report` is missing")


def page(*paths: Path, **settings) -> tuple[str, dict]:
    out = paths[0].with_name("page.html")
    write_report(paths, out, **settings)
    text = out.read_text()
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return text, json.loads(data)


def section(text: str, title: str) -> str:
    (found,) = re.findall(rf"<section>\s*<h3>{re.escape(title)}</h3>(.*?)</section>", text, re.S)
    return found


def cells(text: str, first: str) -> list[str]:
    row, *_ = re.findall(rf'<th scope="row">{re.escape(first)}</th>(.*?)</tr>', text)
    return re.findall(r"<td[^>]*>(.*?)</td>", row)


def banners(text: str) -> list[str]:
    return re.findall(r'<p class="banner" role="note">(.*?)</p>', text)


def changed(path: Path, change) -> Path:
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    change(rows)
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


@pytest.fixture
def files(tmp_path):
    return classified(tmp_path / "a.jsonl"), classified(tmp_path / "b.jsonl", second=True)


def test_two_classifiers_have_their_names_beside_each_other(files):
    text, data = page(*files)
    assert banners(text) == []
    beside = section(text, "Beside fast in a.jsonl")
    shared, differing, same, group = cells(beside, "fast in b.jsonl")
    assert (shared, differing) == ("3", "1")
    assert same.startswith("66.7 [")
    # The third query's name is in no taxonomy, so it has no group to share.
    assert group.startswith("50.0 [")
    names = section(text, "Names by fast in a.jsonl and fast in b.jsonl")
    assert cells(names, "chitchat")[-1] in ("0", "1")
    assert "writing_song_lyrics" in names
    first, second, _ = data["entries"]
    assert first["values"]["show"] == []
    assert second["values"]["show"][0] == "differ"
    assert second["summary"] == (
        "fast in a.jsonl: chitchat (20.0 %) · fast in b.jsonl: writing_song_lyrics (70.0 %)"
    )
    assert second["values"]["scenario0"] == ["chitchat"]
    assert second["values"]["scenario1"] == ["writing_song_lyrics"]
    # As sure as the less sure of the two.
    assert [its["numbers"]["differ"] for its in data["entries"]] == [-1.0, 0.2, -1.0]


def test_names_are_compared_with_those_of_the_rows(files):
    def label(rows):
        rows[1]["row_scenario"] = "writing_song_lyrics"

    text, data = page(*(changed(path, label) for path in files))
    own = cells(section(text, "Against the rows&#39; own scenarios"), "fast in b.jsonl")
    assert own[0].startswith("50.0")
    assert own[1].startswith("100.0")
    assert own[2].startswith("-50.0")
    assert own[5:] == ["1", "0", "1", "0"]
    assert [its["values"]["right"] for its in data["entries"]] == [["0", "1"], ["1"], []]
    assert [row[-1] for row in data["entries"][1]["tables"][0]["rows"]] == ["no", "yes"]
    assert dict(data["entries"][1]["facts"])["named by its row"] == "writing_song_lyrics"


def test_a_judge_stands_beside_a_classifier(tmp_path):
    rows = classified(tmp_path / "rows.jsonl")
    ids = [orjson.loads(line)["id"] for line in rows.read_bytes().splitlines()]
    run = judged(
        tmp_path / "run",
        [{"id": ids[at], "query": text, "responses": ["r"]} for at, text in enumerate(TEXTS)],
        lambda request: "It might be." if request.case_id == ids[2] else "planning",
        task="classify",
        protocol="scenario",
    )
    with locked(run):
        text, data = page(run, rows)
    assert banners(text) == ["run was still being written when this page was made."]
    assert cells(section(text, "Beside script"), "fast")[:2] == ["3", "1"]
    third = data["entries"][2]
    assert "unreadable" in third["values"]["show"]
    assert "differ" not in third["values"]["show"]
    assert third["tables"][0]["rows"][0][1] == "unreadable"


def test_rows_of_one_file_alone_and_other_labels_are_told(files):
    one, other = files

    def change(rows):
        rows[0]["row_scenario"] = "chitchat"
        rows[1]["query"] = "Another one?"
        rows[2]["id"] = "new"

    text, data = page(one, changed(other, change))
    a, b = "fast in a.jsonl", "fast in b.jsonl"
    assert banners(text) == [
        f"Queries that {a} alone has: 2.",
        f"Queries of {b} that {a} lacks: 1.",
        f"Queries that {a} and {b} share: 1.",
        f"The rows&#39; own scenarios of {a} and {b} contradict each other; queries: 1. Figures "
        f"beside each other are by those of {a}.",
        "Queries with the same id and other texts, which are not compared: 1.",
    ]
    assert ["alone" in its["values"]["show"] for its in data["entries"]] == [False, True, True]


def test_equal_ids_are_matched_in_their_order(files):
    def change(rows):
        for row in rows:
            row["id"] = "same"

    text, data = page(*(changed(path, change) for path in files))
    assert banners(text) == []
    assert [its["id"] for its in data["entries"]] == ["same", "same (2)", "same (3)"]
    assert ["differ" in its["values"]["show"] for its in data["entries"]] == [False, True, False]


def test_two_selections_have_their_picks_side_by_side(tmp_path):
    one, other = selected(tmp_path / "one"), selected(tmp_path / "other", second=True)
    text, data = page(one, other, figures=tmp_path / "figures")
    a, b = "script in one", "script in other"
    shared, another, same, chance = cells(section(text, f"Beside {a}"), b)
    assert (shared, another, chance) == ("3", "3", "25.0")
    assert same.startswith("0.0 [0.0, ")
    scores = cells(section(text, "Reference scores of the picks"), b)
    assert scores[:3] == ["0.200", "0.000", "+0.200"]
    assert scores[5:] == ["3", "0", "0"]
    assert cells(section(text, f"Models picked by {a} and {b}"), "m2") == ["3", "0"]
    first = data["entries"][0]
    assert [its["heading"] for its in first["texts"]] == [
        f"Response 3 (m2), picked by {a}", f"Response 1 (m0), picked by {b}",
        "Response 2 (m1)", "Response 4 (m3)",
    ]  # fmt: skip
    assert [its["chosen"] for its in first["texts"]] == [True, True, False, False]
    assert first["values"]["show"][0] == "differ"
    assert first["values"]["better"] == ["0"]
    assert first["numbers"]["apart"] == 0.2
    assert first["tables"][0]["rows"][0] == ["Response 1 (m0)", b, "3.00", "7.00", "0.000"]
    assert dict(first["facts"])[f"picked by {b}"] == (
        "Response 1 (m0): no other rating is as high; lead over the next 2.00"
    )
    rows = list(csv.DictReader((tmp_path / "figures" / "best_of_n.csv").read_text().splitlines()))
    by_judge = {
        name: [round(float(row["value"]), 2) for row in rows if row["curve"] == name]
        for name in (a, b)
    }
    assert by_judge == {a: [0.0, 0.1, 0.2], b: [0.0, 0.0, 0.0]}
    assert text.count("<h3>Best of N</h3>") == 1
    assert (tmp_path / "figures" / "2_picks.svg").is_file()


def test_ratings_and_matches_stand_beside_each_other(tmp_path):
    one = selected(tmp_path / "one")
    other = selected(tmp_path / "other", by="pairs")
    text, data = page(one, other)
    assert cells(section(text, "Beside script in one"), "script in other")[1] == "0"
    # A tournament has no ratings, so no curve of both.
    assert text.count("<h3>Best of N</h3>") == 1
    first = data["entries"][0]
    assert first["texts"][0]["heading"] == (
        "Response 3 (m2), picked by script in one and script in other"
    )
    assert first["values"]["better"] == ["level"]
    assert "differ" not in first["values"]["show"]


def test_other_responses_and_other_scores_are_told(tmp_path):
    one, other = selected(tmp_path / "one"), selected(tmp_path / "other", n=3)
    with pytest.raises(DataError, match=r"other.* no query in common .*one: 3 have the same id"):
        page(one, other)
    other = selected(tmp_path / "scored", (*TEXTS, "More?"), step=0.2)
    text, _ = page(one, other)
    assert "Queries of script in scored that script in one lacks: 1." in banners(text)
    assert any("own reference scores" in its and "queries: 3." in its for its in banners(text))
    # Their curves are not of the same scores, so each has its own.
    assert text.count("<h3>Best of N</h3>") == 2


def test_large_runs_hold_some_queries_and_count_all(tmp_path):
    one, other = selected(tmp_path / "one"), selected(tmp_path / "other", second=True)
    text, data = page(one, other, most_cases=1)
    left = (tmp_path / "page.cases.jsonl").read_text().splitlines()
    assert len(data["entries"]) + len(left) == 3
    assert left
    assert cells(section(text, "Beside script in one"), "script in other")[0] == "3"


def test_three_files_are_compared_with_the_first(files, tmp_path):
    third = classified(tmp_path / "c.jsonl")
    text, data = page(*files, third)
    beside = section(text, "Beside fast in a.jsonl")
    assert cells(beside, "fast in b.jsonl")[1] == "1"
    assert cells(beside, "fast in c.jsonl")[1] == "0"
    assert data["filters"][-3:] == ["scenario0", "scenario1", "scenario2"]


def test_kinds_that_do_not_fit_are_refused(tmp_path, files):
    picks = selected(tmp_path / "picks")
    run = judged(tmp_path / "run", pairs(2))
    for paths in ((picks, files[0]), (run, picks), (files[0], run)):
        with pytest.raises(ConfigError, match="has a page of its own") as found:
            page(*paths)
        assert "all are of select" in str(found.value.hint)
    elsewhere = classified(tmp_path / "c.jsonl", ("What else?",))
    with pytest.raises(DataError, match=r"c\.jsonl: has no query in common with .*a\.jsonl"):
        page(files[0], elsewhere)
    assert not list(tmp_path.glob("*.html*"))
