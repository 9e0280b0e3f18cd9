"""A run's folder: its settings, its lock, its rows."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

from autoj.datasets import open_cases
from autoj.errors import DataError, RunBusy, SpecMismatch, StorageFull
from autoj.jsonl import whole_lines, write_records
from autoj.runs import RunFolder, judge_run, make_spec, open_run, opening, read_case, spec_digest

from ..scripted import CARD, Recorder


def test_other_settings_are_refused_with_the_difference(tmp_path, cases, pair_spec):
    with open_run(tmp_path / "run", pair_spec(), cases):
        pass
    other = pair_spec(orders="one", on_conflict="tie")
    with pytest.raises(SpecMismatch) as caught, open_run(tmp_path / "run", other, cases):
        pass
    assert caught.value.differences == (
        "on_conflict: was None, is now 'tie'",
        "orders: was 'both', is now 'one'",
    )


def test_other_data_is_refused(tmp_path, cases, pairs_file, pair_spec):
    with open_run(tmp_path / "run", pair_spec(), cases):
        pass
    rows = [json.loads(line) for line in pairs_file.read_text().splitlines()]
    write_records(pairs_file, rows[:-1])
    with (
        pytest.raises(SpecMismatch, match="it has 8 cases, and the data and the limit give 7 now"),
        open_run(tmp_path / "run", pair_spec(), open_cases(pairs_file)),
    ):
        pass


def test_two_processes_cannot_write_one_run(tmp_path, cases, pair_spec):
    with (
        open_run(tmp_path / "run", pair_spec(), cases),
        pytest.raises(RunBusy, match=r"process [0-9]+ on .* since [0-9]{4}-"),
        open_run(tmp_path / "run", pair_spec(), cases),
    ):
        pass
    with open_run(tmp_path / "run", pair_spec(), cases):
        pass


def test_a_folder_that_another_process_has_just_made_is_not_removed(
    tmp_path, cases, pair_spec, monkeypatch
):
    path = tmp_path / "run"
    with ExitStack() as other:

        def first_here(place):
            # Between a look at the path and the lock.
            monkeypatch.undo()
            other.enter_context(open_run(path, pair_spec(), cases))

        monkeypatch.setattr(opening, "check_place", first_here)
        with pytest.raises(RunBusy), open_run(path, pair_spec(), cases):
            pass
        assert (path / "run.json").is_file()
        assert (path / "cases.jsonl").is_file()


def test_what_a_dead_process_left_does_not_hold_the_folder(tmp_path, cases, pair_spec):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.lock").touch()
    (tmp_path / "run" / "holder.json").write_text('{"pid": 1, "host": "x", "started": "y"}')
    with open_run(tmp_path / "run", pair_spec(), cases):
        pass


def test_the_default_folder_changes_with_settings_and_data(cases, pair_spec):
    same = spec_digest(pair_spec(), cases)
    assert same == spec_digest(pair_spec(), cases)
    assert same != spec_digest(pair_spec(orders="one"), cases)


def test_a_duplicate_id_is_named_with_its_line(tmp_path, pair_spec):
    path = tmp_path / "twice.jsonl"
    row = {"id": "x", "query": "Why?", "responses": ["a", "b"]}
    write_records(path, [row, {**row, "query": "How?"}])
    with (
        pytest.raises(DataError, match=r"twice\.jsonl:2:id: an earlier row has the same id, 'x'"),
        open_run(tmp_path / "run", pair_spec(), open_cases(path)),
    ):
        pass
    assert not (tmp_path / "run" / "cases.jsonl").exists()


def test_bad_rows_are_skipped_and_listed(tmp_path, pair_spec):
    path = tmp_path / "mixed.jsonl"
    good = {"id": "good", "query": "Why?", "responses": ["a", "b"]}
    write_records(path, [good, {"query": " ", "responses": ["a", "b"]}, {**good, "id": 7.5}])
    with path.open("ab") as stream:
        stream.write(b"not json\n")
    with open_run(tmp_path / "run", pair_spec(skip_bad_rows=True), open_cases(path)) as folder:
        assert [case.id for case in folder.cases()] == ["good"]
    bad = [json.loads(line) for line in whole_lines(tmp_path / "run" / "bad_rows.jsonl")]
    assert [(row["line"], row["field"]) for row in bad] == [(2, "query"), (3, "id"), (4, None)]


@pytest.mark.parametrize("n_responses", [1, 3])
def test_a_comparison_wants_two_responses(tmp_path, pair_spec, n_responses):
    path = tmp_path / "rows.jsonl"
    write_records(path, [{"query": "Why?", "responses": ["a"] * n_responses}])
    with (
        pytest.raises(DataError, match=f"has {n_responses} responses"),
        open_run(tmp_path / "run", pair_spec(), open_cases(path)),
    ):
        pass


def test_an_empty_response_is_judged_unless_refused(tmp_path, pair_spec):
    path = tmp_path / "rows.jsonl"
    write_records(path, [{"id": "e", "query": "Why?", "responses": ["a", ""]}])
    cases = open_cases(path)
    with open_run(tmp_path / "run", pair_spec(), cases) as folder:
        judge_run(folder, pair_spec(), Recorder())
        assert next(folder.verdicts()).winner is not None
    with (
        pytest.raises(DataError, match=r"rows\.jsonl:1:responses\[1\]: .* empty"),
        open_run(tmp_path / "other", pair_spec(reject_empty=True), cases),
    ):
        pass


def test_a_limit_takes_the_first_cases(tmp_path, cases, pair_spec):
    with open_run(tmp_path / "run", pair_spec(limit=3), cases) as folder:
        assert [case.id for case in folder.cases()] == ["case-0", "case-1", "case-2"]


def test_a_run_can_be_read_while_it_goes_on(tmp_path, cases, pair_spec):
    spec = pair_spec()
    with open_run(tmp_path / "run", spec, cases) as folder:
        judge_run(folder, spec, Recorder())
        seen = RunFolder.existing(tmp_path / "run")
        record = read_case(seen, seen.spec(), "case-2")
        assert record is not None
        assert record.verdict in list(folder.verdicts())
        assert [asked.shown for asked, _ in record.judgments] == [(0, 1), (1, 0)]
        assert read_case(seen, spec, "nobody") is None


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(DataError, match=r"no run\.json"):
        RunFolder.existing(tmp_path)


def test_no_room_for_the_cases_is_said(tmp_path, cases, pair_spec, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with (
        pytest.raises(StorageFull),
        open_run(tmp_path / "run", pair_spec(), cases),
    ):
        pass


def test_each_response_is_rated(tmp_path):
    path = tmp_path / "rows.jsonl"
    write_records(path, [{"id": "r", "query": "Why?", "responses": ["a", "b", "c"]}])
    spec = make_spec("rate", CARD, critique=True)
    with open_run(tmp_path / "run", spec, open_cases(path)) as folder:
        judge_run(folder, spec, Recorder())
        verdict = next(folder.verdicts())
    assert len(verdict.ratings) == len(verdict.critiques) == 3
    assert all(rating is not None and 1 <= rating <= 10 for rating in verdict.ratings)


@pytest.mark.parametrize("place", ["file", "file/run"])
def test_a_place_that_takes_no_folder_is_the_users_mistake(tmp_path, cases, pair_spec, place):
    (tmp_path / "file").write_text("a file of the user's", encoding="utf-8")
    with (
        pytest.raises(DataError, match=r"file.*: cannot be written: "),
        open_run(tmp_path / place, pair_spec(), cases),
    ):
        pass
    assert (tmp_path / "file").read_text(encoding="utf-8") == "a file of the user's"
