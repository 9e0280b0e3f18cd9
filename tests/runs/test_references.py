"""Reference answers: who is shown them, whose rows need them, and what is said where neither is."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj import Judge
from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.records import Request
from autoj.runs import make_spec
from autoj.tasks.judge import judge
from autoj.tasks.select import select
from autoj.tasks.selection_folder import make_select_spec

from ..scripted import CARD, Recorder
from ..watches import Notes

ROWS = [
    {"id": "with", "query": "2 + 2?", "responses": ["4", "5"], "reference": "Four."},
    {"id": "without", "query": "3 + 3?", "responses": ["6", "7"]},
]


def written(request: Request) -> str:
    return "It agrees.\n\nSo, the final decision is Response 1.\n\nRating: [[9]]"


def rows(tmp_path: Path, *which: int) -> Path:
    path = tmp_path / f"rows{''.join(map(str, which))}.jsonl"
    write_records(path, [ROWS[number] for number in which])
    return path


@pytest.mark.parametrize(
    ("task", "protocol"), [("judge", "pairwise-reference"), ("rate", "single-reference")]
)
def test_a_reference_reaches_the_judge(tmp_path: Path, task: str, protocol: str) -> None:
    spec = make_spec(task, CARD, protocol=protocol)  # type: ignore[arg-type]
    recorder, notes = Recorder(written), Notes()
    run = judge(
        open_cases(rows(tmp_path, 0)), spec, tmp_path / "run", backend=recorder, watch=notes
    )
    assert run.n_judged == 1
    assert recorder.asked
    for request in recorder.asked:
        assert request.messages[-1].content.count("[Reference answer]: Four.\n***") == 1
    assert not [message for message in notes.messages if "reference" in message]


@pytest.mark.parametrize("blank", [None, "", "  "])
@pytest.mark.parametrize(
    ("task", "protocol"), [("judge", "pairwise-reference"), ("rate", "single-reference")]
)
def test_a_row_without_one_is_a_data_error(
    tmp_path: Path, task: str, protocol: str, blank: str | None
) -> None:
    path = tmp_path / "rows.jsonl"
    write_records(path, [ROWS[0], ROWS[1] | {"reference": blank}])
    spec = make_spec(task, CARD, protocol=protocol)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="case 'without' has no reference answer") as told:
        judge(open_cases(path), spec, tmp_path / "run", backend=Recorder(written))
    assert (told.value.path, told.value.line, told.value.field) == (path, 2, "reference")
    assert told.value.hint is not None
    assert "--map reference=COLUMN" in told.value.hint


def test_such_rows_can_be_skipped(tmp_path: Path) -> None:
    spec = make_spec("judge", CARD, protocol="pairwise-reference", skip_bad_rows=True)
    cases = open_cases(rows(tmp_path, 0, 1))
    run = judge(cases, spec, tmp_path / "run", backend=Recorder(written))
    assert [case.id for case, _ in run] == ["with"]


def test_a_protocol_that_shows_none_says_so_once(tmp_path: Path) -> None:
    cases = open_cases(rows(tmp_path, 0, 1))
    spec = make_spec("judge", CARD, protocol="pairwise")
    for _ in range(2):
        notes = Notes()
        judge(cases, spec, tmp_path / "run", backend=Recorder(written), watch=notes)
        said = [message for message in notes.messages if "reference" in message]
        assert said == [
            "1 row has a reference answer, which protocol 'pairwise' does not show to the judge; "
            "pairwise-reference does, for general models"
        ]


def test_rows_without_references_say_nothing(tmp_path: Path) -> None:
    notes = Notes()
    spec = make_spec("judge", CARD, protocol="pairwise")
    cases = open_cases(rows(tmp_path, 1))
    judge(cases, spec, tmp_path / "run", backend=Recorder(written), watch=notes)
    assert not [message for message in notes.messages if "reference" in message]


def test_a_tournament_says_so_once_for_all_its_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "many.jsonl"
    write_records(path, [ROWS[0] | {"responses": list("abcde")}])
    monkeypatch.setattr("autoj.tasks.select.load_engine", lambda card, watch: Recorder(written))
    notes = Notes()
    spec = make_select_spec(CARD, "pairs", protocol="pairwise")
    select(open_cases(path), spec, tmp_path / "run", watch=notes)
    said = [message for message in notes.messages if "reference" in message]
    assert len(said) == 1
    assert sum("round" in message for message in notes.messages) > 1


def test_a_reference_in_a_call() -> None:
    recorder = Recorder(written)
    one = Judge(recorder)
    protocols = {"pairs": "pairwise-reference", "single": "single-reference"}
    one.compare("2 + 2?", "4", "5", reference="Four.", protocol=protocols["pairs"])
    one.rate("2 + 2?", "4", reference="Four.", protocol=protocols["single"])
    one.select("2 + 2?", ["4", "5"], reference="Four.", protocol=protocols["single"])
    assert len(recorder.asked) >= 4
    assert all("Four." in request.messages[-1].content for request in recorder.asked)
    with pytest.raises(ConfigError, match="has no reference answer"):
        one.rate("2 + 2?", "4", protocol=protocols["single"])
    with pytest.raises(ConfigError, match="protocol 'single' does not show"):
        one.rate("2 + 2?", "4", reference="Four.", protocol="single")


def test_the_criteria_are_rated_one_by_one_in_a_run(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_records(path, [ROWS[1] | {"scenario": "planning", "responses": ["6", "7"]}])

    def rates_all(request: Request) -> str:
        listed = request.messages[-1].content.partition("above:\n")[2].partition("\n\n")[0]
        worst = "7" in request.messages[-1].content.partition("[Response]: ")[2][:1]
        lines = [f"{line}: [[{2 if worst else 8}]] so." for line in listed.splitlines()]
        return "\n".join(lines)

    spec = make_spec("rate", CARD, protocol="single-criteria-each")
    run = judge(open_cases(path), spec, tmp_path / "run", backend=Recorder(rates_all))
    ((_, verdict),) = run
    assert verdict.ratings == pytest.approx((8.0, 2.0))
    assert "Score by the criteria's weights: (" in str(verdict.critiques[0])
    verdict = Judge(Recorder(rates_all)).rate("q", "x", scenario="planning", protocol=spec.protocol)
    assert verdict.ratings == pytest.approx((8.0,))
