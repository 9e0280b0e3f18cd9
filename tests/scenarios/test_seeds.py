from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from autoj.jsonl import write_records
from autoj.records import normalise_query
from autoj.scenarios import resolve_scenario, scenario_names, seeds
from autoj.scenarios.seeds import KnownScenario, known_scenarios, query_digest, seed_files


def test_each_seed_has_a_scenario_of_the_taxonomy_and_stands_once() -> None:
    rows = [
        json.loads(line)
        for path in seed_files()
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert {row["scenario"] for row in rows} == set(scenario_names())
    assert len({normalise_query(row["query"]) for row in rows}) == len(rows) > 5000


def test_labels_that_ship_are_of_the_taxonomy_and_hold_no_text() -> None:
    labels = seed_files()[0].parents[1] / "labels" / "arena55k.jsonl"
    rows = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
    assert len(known_scenarios()) == len(rows) > 4000
    for row in rows:
        assert set(row) <= {"query_sha256", "scenario", "second"}
        assert resolve_scenario(row["scenario"]) == row["scenario"] != row.get("second")
        assert re.fullmatch("[0-9a-f]{16}", row["query_sha256"])


def test_a_query_is_known_by_its_letters_and_digits() -> None:
    assert query_digest("Why is it so?") == query_digest("why  is it SO") != query_digest("Why?")
    # What has neither is known by its marks; half a surrogate pair is one.
    assert query_digest("?!") != query_digest("\ud800")


def test_what_ships_about_a_query_is_found_by_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "labels").mkdir()
    so, sea = query_digest("Why is it so?"), query_digest("Sea, or hills?")
    write_records(
        tmp_path / "labels" / "some.jsonl", [{"query_sha256": so, "scenario": "open_question"}]
    )
    unsure = KnownScenario(query_sha256=sea, scenario="recommendation", second="seeking_advice")
    write_records(tmp_path / "labels" / "others.jsonl", [unsure])
    monkeypatch.setattr(seeds, "_DATA", tmp_path)
    assert seed_files() == ()
    assert known_scenarios() == {
        so: KnownScenario(query_sha256=so, scenario="open_question"),
        sea: unsure,
    }
