"""The scenario of each case: its row's, a classifier's, and what is kept of how it came about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.datasets.base import Cases
from autoj.errors import DataError, SpecMismatch
from autoj.jsonl import read_records, write_records
from autoj.records import Case
from autoj.runs import RunFolder, RunSpec, judge_run, make_spec, open_run
from autoj.runs.naming import group_in_meta, naming_of

from ..classifiers import WordClassifier
from ..scripted import CARD, Recorder

ROWS = [
    {"id": "plan", "query": "Plan it.", "responses": ["x", "y"]},
    {"id": "row", "query": "Plan that.", "responses": ["x", "y"], "scenario": "Small talk"},
    {"id": "hello", "query": "Hello.", "responses": ["x", "y"]},
]
CRITERIA = replace(CARD, protocols=("pairwise-criteria", "single-criteria"))


def data(folder: Path, *rows: dict[str, object]) -> Cases:
    path = folder / "rows.jsonl"
    write_records(path, rows or ROWS)
    return open_cases(path)


FOUND: dict[str, WordClassifier] = {}


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autoj.runs.scenario_settings.load_classifier", FOUND.__getitem__)


def spec_of(classifier: WordClassifier | None = None, **settings: object) -> RunSpec:
    if classifier is not None:
        FOUND[classifier.name] = classifier
    name = None if classifier is None else classifier.name
    return make_spec("judge", CARD, classifier=name, **settings)  # type: ignore[arg-type]


def cases_of(folder: Path, spec: RunSpec, cases: Cases) -> dict[str, Case]:
    with open_run(folder, spec, cases) as run:
        return {case.id: case for case in run.cases()}


def test_rows_without_a_scenario_get_the_classifiers_and_say_so(tmp_path: Path) -> None:
    classifier = WordClassifier()
    found = cases_of(tmp_path / "run", spec_of(classifier), data(tmp_path))
    assert {name: case.scenario for name, case in found.items()} == {
        "plan": "planning",
        "row": "chitchat",
        "hello": "chitchat",
    }
    assert naming_of(found["row"]) is None
    assert naming_of(found["plan"]) == {
        "by": "classifier",
        "classifier": "fast",
        "digest": "sha256:1",
        "probability": 0.9,
    }
    # Rows that name their scenario are not asked about.
    assert classifier.asked == [["Plan it.", "Hello."]]


def test_going_on_names_nothing_anew(tmp_path: Path) -> None:
    first, second = WordClassifier(), WordClassifier()
    cases_of(tmp_path / "run", spec_of(first), data(tmp_path))
    before = (tmp_path / "run" / "cases.jsonl").read_bytes()
    cases_of(tmp_path / "run", spec_of(second), data(tmp_path))
    assert second.asked == []
    assert (tmp_path / "run" / "cases.jsonl").read_bytes() == before


@pytest.mark.parametrize("other", [WordClassifier(digest="sha256:2"), None])
def test_another_classifier_or_none_is_another_run(tmp_path: Path, other) -> None:
    first = WordClassifier()
    cases_of(tmp_path / "run", spec_of(first), data(tmp_path))
    with pytest.raises(SpecMismatch, match=r"classifier.*sha256:1"):
        cases_of(tmp_path / "run", spec_of(other), data(tmp_path))


def test_a_run_from_before_there_were_classifiers_goes_on(tmp_path: Path) -> None:
    cases_of(tmp_path / "run", spec_of(), data(tmp_path))
    path = tmp_path / "run" / "run.json"
    text = path.read_text()
    for field in ("classifier", "unknown_scenario", "scenarios"):
        assert f'"{field}": null' in text
        text = text.replace(f',\n    "{field}": null', "")
    path.write_text(text)
    assert "unknown_scenario" not in path.read_text()
    cases_of(tmp_path / "run", spec_of(), data(tmp_path))


def test_a_shard_names_its_own_cases_alone(tmp_path: Path) -> None:
    classifier = WordClassifier()
    for part, ids in (("1/2", ["plan", "hello"]), ("2/2", ["row"])):
        spec = spec_of(classifier, shard=part)
        cases = data(tmp_path)
        assert list(cases_of(tmp_path / part[0], spec, cases)) == ids
    assert classifier.asked == [["Plan it.", "Hello."]]


def test_a_class_that_is_no_scenario_of_ours_is_others(tmp_path: Path) -> None:
    classifier = WordClassifier(hello="rejecting", plan="default")
    found = cases_of(tmp_path / "run", spec_of(classifier), data(tmp_path))
    assert (found["hello"].scenario, found["plan"].scenario) == ("others", "others")
    naming = naming_of(found["hello"])
    assert naming is not None
    assert naming["guess"] == "rejecting"


UNKNOWN = {"id": "u", "query": "Plan it.", "responses": ["x", "y"], "scenario": "planing"}


def test_an_unknown_scenario_is_an_error_where_it_decides_what_is_asked(tmp_path: Path) -> None:
    spec = make_spec("judge", CRITERIA)
    with pytest.raises(DataError, match=r"rows.jsonl:1:scenario: .*'planing'(?s:.*)planning") as e:
        cases_of(tmp_path / "run", spec, data(tmp_path, UNKNOWN))
    assert e.value.hint is not None
    assert "--unknown-scenario others" in e.value.hint


def test_an_unknown_scenario_may_be_others_or_kept(tmp_path: Path) -> None:
    cases = data(tmp_path, UNKNOWN)
    others = make_spec("judge", CRITERIA, unknown_scenario="others")
    case = cases_of(tmp_path / "others", others, cases)["u"]
    assert (case.scenario, naming_of(case)) == ("others", {"by": "unknown", "row": "planing"})
    kept = cases_of(tmp_path / "kept", spec_of(unknown_scenario="keep"), cases)["u"]
    assert (kept.scenario, naming_of(kept)) == ("planing", {"by": "own name"})
    with pytest.raises(DataError, match="planing"):
        cases_of(tmp_path / "strict", spec_of(), cases)


def test_a_bad_scenario_can_be_skipped(tmp_path: Path) -> None:
    spec = make_spec("judge", CRITERIA, skip_bad_rows=True)
    fine = {**UNKNOWN, "id": "fine", "scenario": "planning"}
    assert list(cases_of(tmp_path / "run", spec, data(tmp_path, UNKNOWN, fine))) == ["fine"]


def test_criteria_without_a_scenario_say_where_and_what_helps(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"rows.jsonl:1:scenario: case 'plan' has no sc") as told:
        cases_of(tmp_path / "run", make_spec("judge", CRITERIA), data(tmp_path))
    assert told.value.hint is not None
    assert "--classify" in told.value.hint


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "match_report.yaml").write_text(
        "description: The user wants a match told.\ngroup: Sport\naliases: [game report]\n"
        "saves: {content: Every save is told., weight: 4, type: content}\n",
        encoding="utf-8",
    )
    return folder


MINE = {"id": "m", "query": "Tell it.", "responses": ["x", "y"], "scenario": "Game report"}


def test_own_scenarios_are_known_and_their_criteria_are_asked_by(tmp_path, own) -> None:
    spec = make_spec("judge", CRITERIA, scenarios=own)
    backend = Recorder(card=CRITERIA)
    with open_run(tmp_path / "run", spec, data(tmp_path, MINE)) as folder:
        judge_run(folder, spec, backend)
        (case,) = folder.cases()
    assert (case.scenario, group_in_meta(case)) == ("match_report", "Sport")
    system = backend.asked[0].messages[0].content
    assert "- The user wants a match told." in system
    assert "1. saves: Every save is told." in system


def test_names_that_are_neither_ours_nor_the_users_are_an_error(tmp_path, own) -> None:
    with pytest.raises(DataError, match=r"'planing'(?s:.*)planning"):
        cases_of(tmp_path / "run", spec_of(scenarios=own), data(tmp_path, UNKNOWN))


def test_a_folder_may_move_and_not_change(tmp_path, own) -> None:
    cases = data(tmp_path, MINE)
    cases_of(tmp_path / "run", spec_of(scenarios=own), cases)
    moved = own.rename(tmp_path / "moved")
    cases_of(tmp_path / "run", spec_of(scenarios=moved), cases)
    path = moved / "match_report.yaml"
    path.write_text(path.read_text().replace("Every save", "Each save"))
    with pytest.raises(SpecMismatch, match="scenarios"):
        cases_of(tmp_path / "run", spec_of(scenarios=moved), cases)
    # What is not there any more is not needed to look at the run.
    assert RunFolder(tmp_path / "run").spec().scenarios is not None


def test_a_folder_that_changes_while_its_run_goes_on_is_noticed(tmp_path, own) -> None:
    spec = make_spec("judge", CRITERIA, scenarios=own)
    (own / "match_report.yaml").write_text("description: Other.\ns: {content: a, weight: 1}\n")
    with pytest.raises(DataError):
        _ = spec.library


def test_draws_of_criteria_protocols_can_be_repeated() -> None:
    spec = make_spec("judge", CRITERIA, samples=3, temperature=0.7)
    assert spec.n_draws == 3


def test_stored_meta_stays_what_the_row_said(tmp_path: Path) -> None:
    row = {**ROWS[0], "meta": {"topic": "trips"}}
    classifier = WordClassifier()
    cases = data(tmp_path, row)
    with open_run(tmp_path / "run", spec_of(classifier), cases) as folder:
        (case,) = read_records(folder.path / "cases.jsonl", Case)
    assert case.meta["topic"] == "trips"
    assert naming_of(case) is not None


def test_a_classifier_that_changed_after_the_settings_were_made_names_nothing(
    tmp_path: Path,
) -> None:
    spec = spec_of(WordClassifier())
    FOUND["fast"] = WordClassifier(digest="sha256:2")
    with pytest.raises(DataError, match="has changed since"):
        cases_of(tmp_path / "run", spec, data(tmp_path))


def test_a_verdict_has_the_scenario_of_its_row(tmp_path, pair_spec):
    rows = [
        {"id": name, "query": "Why?", "responses": ["x", "y"], "scenario": scenario}
        for name, scenario in (("one", "planning"), ("other", None))
    ]
    write_records(tmp_path / "rows.jsonl", rows)
    spec = pair_spec(protocol="pairwise-verdict")
    with open_run(tmp_path / "run", spec, open_cases(tmp_path / "rows.jsonl")) as folder:
        judge_run(folder, spec, Recorder())
    assert [verdict.scenario for verdict in folder.verdicts()] == ["planning", None]
