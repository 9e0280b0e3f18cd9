"""Several runs as one: what is joined is what one run would have been."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError, RunBusy
from autoj.jsonl import encode, read_records, whole_lines, write_records
from autoj.records import Calibration, Case, Completion, Failure, Request
from autoj.runs import RunFolder, RunSpec, judge_run, make_spec, merge_runs, open_run
from autoj.runs.check import check_run
from autoj.runs.resolving import is_finished, resolve_run
from autoj.tasks.judge import judge
from autoj.tasks.run import Run

from ...damage import without_digests
from ...scripted import CARD, Killed, Recorder, by_hash

Spec = Callable[..., RunSpec]


def finish(path: Path, spec: RunSpec, cases: Cases, backend: Recorder | None = None) -> Path:
    with open_run(path, spec, cases) as folder:
        judge_run(folder, spec, backend or Recorder())
    return path


def killed(path: Path, spec: RunSpec, cases: Cases, after: int) -> Path:
    with pytest.raises(Killed):
        finish(path, spec, cases, Recorder(dies_after=after))
    return path


DERIVED = ("cases.jsonl", "plan.jsonl", "follow.jsonl", "verdicts.jsonl")


def state(path: Path) -> dict[str, bytes]:
    """What must be the same, however a run came about."""
    found = {name: (path / name).read_bytes() for name in DERIVED if (path / name).exists()}
    return found | {"ledger": b"".join(sorted(whole_lines(path / "ledger.jsonl")))}


@pytest.fixture
def whole(tmp_path: Path, cases: Cases, pair_spec: Spec) -> Path:
    return finish(tmp_path / "whole", pair_spec(critique=True), cases)


def shards(tmp_path: Path, cases: Cases, pair_spec: Spec, of: int = 3) -> list[Path]:
    return [
        finish(tmp_path / f"shard-{part}", pair_spec(critique=True, shard=f"{part}/{of}"), cases)
        for part in range(1, of + 1)
    ]


def test_a_merged_run_states_how_many_cases_have_a_reference(tmp_path, pair_spec):
    rows = [
        {"id": str(n), "query": f"{n}?", "responses": ["a", "b"], "reference": "c" * (n % 3 > 0)}
        for n in range(9)
    ]
    write_records(tmp_path / "rows.jsonl", rows)
    parts = shards(tmp_path, open_cases(tmp_path / "rows.jsonl"), pair_spec)
    stated = [RunFolder(part).settings()["n_references"] for part in parts]
    assert sum(stated) == 6
    merge_runs(parts, tmp_path / "merged")
    assert RunFolder(tmp_path / "merged").settings()["n_references"] == 6
    # An overlap counts once.
    merge_runs([tmp_path / "merged", parts[0]], tmp_path / "again")
    assert RunFolder(tmp_path / "again").settings()["n_references"] == 6


def test_shards_of_a_run_are_the_run(tmp_path, cases, pair_spec, whole):
    parts = shards(tmp_path, cases, pair_spec)
    merged = merge_runs(parts[::-1], tmp_path / "merged")
    assert state(tmp_path / "merged") == state(whole)
    assert (merged.n_cases, merged.n_unjudged, merged.n_missing, merged.missing) == (8, 0, 0, None)
    assert merged.n_answers == len(list(whole_lines(whole / "ledger.jsonl")))
    assert merged.n_repeated == 0  # equal questions were dealt to one shard
    again = Recorder()
    finish(tmp_path / "merged", pair_spec(critique=True), cases, again)
    assert again.asked == []


def test_a_missing_shard_is_named_and_can_be_brought_later(tmp_path, cases, pair_spec, whole):
    first, second, third = shards(tmp_path, cases, pair_spec)
    merged = merge_runs([third, first], tmp_path / "merged")
    assert (merged.shard, merged.missing, merged.n_missing) == ("1,3/3", "2/3", 2)
    seen = RunFolder.existing(tmp_path / "merged")
    assert [case.id for case in seen.cases()] == [
        case.id for case in RunFolder(whole).cases() if case.id not in ("case-1", "case-4")
    ]
    again = Recorder()
    finish(tmp_path / "merged", pair_spec(critique=True, shard="1,3/3"), cases, again)
    assert again.asked == []
    merged = merge_runs([tmp_path / "merged", second], tmp_path / "all")
    assert merged.missing is None
    assert state(tmp_path / "all") == state(whole)


def test_merging_again_changes_nothing(tmp_path, cases, pair_spec, whole):
    parts = shards(tmp_path, cases, pair_spec)
    out = tmp_path / "merged"
    merge_runs(parts, out)
    for paths in (parts, [out], [*parts, out, parts[0]], [whole]):
        merge_runs(paths, out)
        assert state(out) == state(whole)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"pairs.jsonl", "whole", "merged", "shard-1", "shard-2", "shard-3"}
    assert "holder.json" not in {path.name for path in out.iterdir()}


def test_files_of_the_users_own_stay_where_a_run_is_merged_into(tmp_path, cases, pair_spec):
    first, second, third = shards(tmp_path, cases, pair_spec)
    merge_runs([first], tmp_path / "out")
    (tmp_path / "out" / "annotations.json").write_text("mine", encoding="utf-8")
    (tmp_path / "out" / "figures").mkdir()
    (tmp_path / "out" / "figures" / "one.png").write_bytes(b"png")
    (tmp_path / "out" / "picks.jsonl").write_text("old\n", encoding="utf-8")
    merge_runs([second], tmp_path / "out")
    # Killed after the new run took its place, before the old one was gone.
    (tmp_path / ".out.replaced").mkdir()
    (tmp_path / ".out.replaced" / "notes.txt").write_text("mine, too", encoding="utf-8")
    merge_runs([third], tmp_path / "out")
    assert (tmp_path / "out" / "annotations.json").read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "out" / "figures" / "one.png").read_bytes() == b"png"
    assert (tmp_path / "out" / "notes.txt").read_text(encoding="utf-8") == "mine, too"
    assert not (tmp_path / "out" / "picks.jsonl").exists()
    assert not (tmp_path / ".out.replaced").exists()


def test_what_was_judged_after_merging_is_kept_by_merging_again(tmp_path, cases, pair_spec, whole):
    spec = pair_spec(critique=True)
    part = killed(tmp_path / "part", spec, cases, 3)
    out = tmp_path / "merged"
    merge_runs([part], out)
    finish(out, spec, cases)
    merge_runs([part], out)
    assert state(out) == state(whole)


@pytest.mark.parametrize("first", range(0, 19, 3))
def test_killed_runs_are_joined_and_gone_on_with(tmp_path, cases, pair_spec, whole, first):
    """Whatever each of them lacks, the joined run asks for what both lack and ends the same."""
    n_answers = len(list(whole_lines(whole / "ledger.jsonl")))
    spec = pair_spec(critique=True)
    half = pair_spec(critique=True, shard="2/2")
    runs = [
        killed(tmp_path / "one", spec, cases, min(first, n_answers - 1)),
        finish(tmp_path / "two", half, cases),
    ]
    for order in (runs, runs[::-1]):
        out = tmp_path / f"merged-{order[0].name}"
        merged = merge_runs(order, out)
        assert merged.n_cases == 8
        judged = {verdict.case_id for verdict in RunFolder(out).verdicts()}
        assert judged >= {"case-1", "case-3", "case-5"}
        assert len(judged) == 8 - merged.n_unjudged
        with_verdicts = [case.id for case, _ in resolve_run(RunFolder(out), spec)]
        assert set(with_verdicts) == judged
        assert is_finished(RunFolder(out), spec) == (merged.n_answers == n_answers)
        backend = Recorder()
        finish(out, spec, cases, backend)
        assert len(backend.asked) == n_answers - merged.n_answers
        assert state(out) == state(whole)


def test_draws_of_shards_are_joined(tmp_path, cases):
    drawn = {"protocol": "pairwise", "samples": 3, "temperature": 0.7}
    paths = []
    for shard in (None, "1/2", "2/2"):
        spec = make_spec("judge", CARD, shard=shard, **drawn)
        paths.append(finish(tmp_path / f"run-{len(paths)}", spec, cases))
    merge_runs(paths[1:], tmp_path / "merged")
    assert state(tmp_path / "merged") == state(paths[0])


def test_ratings_are_joined(tmp_path, cases):
    paths = []
    for shard in (None, "1/2", "2/2"):
        spec = make_spec("rate", CARD, critique=True, shard=shard)
        paths.append(finish(tmp_path / f"run-{len(paths)}", spec, cases))
    merge_runs(paths[1:], tmp_path / "merged")
    assert state(tmp_path / "merged") == state(paths[0])


def test_other_settings_are_refused_with_the_difference(tmp_path, cases, pair_spec):
    one = finish(tmp_path / "one", pair_spec(), cases)
    other = finish(tmp_path / "other", pair_spec(orders="one", max_tokens=5), cases)
    with pytest.raises(ConfigError, match="different settings") as caught:
        merge_runs([one, other], tmp_path / "merged")
    assert "decoding.max_tokens: 1024 and 5" in str(caught.value)
    assert "orders: 'both' and 'one'" in str(caught.value)
    assert not (tmp_path / "merged").exists()


def changed(path: Path, change: Callable[[Completion], Completion], key: str | None = None) -> str:
    """Change an answer in a run's ledger; gives its key."""
    rows = list(read_records(path / "ledger.jsonl", Completion))
    index = next(at for at, row in enumerate(rows) if key in (None, row.key))
    rows[index] = change(rows[index])
    write_records(path / "ledger.jsonl", rows)
    return rows[index].key


def test_two_answers_to_one_question_are_an_error_that_names_them(tmp_path, cases):
    spec = make_spec("judge", CARD, protocol="pairwise")
    one, two = (finish(tmp_path / name, spec, cases) for name in ("one", "two"))
    key = changed(two, lambda row: replace(row, text=row.text.replace("clear", "\x1b[2Jclear")))
    with pytest.raises(DataError, match="another answer") as caught:
        merge_runs([one, two], tmp_path / "merged")
    said = str(caught.value)
    case_id = next(asked.case_id for asked in RunFolder(one).plan() if asked.key == key)
    for part in (
        f"{two / 'ledger.jsonl'}:1",
        f"{one / 'ledger.jsonl'}:1",
        f"key {key}",
        f"case {case_id!r}",
        r"'\x1b[2Jclear",
        "'clear",
    ):
        assert part in said
    assert "\x1b" not in said
    assert {path.name for path in tmp_path.iterdir()} == {"pairs.jsonl", "one", "two"}


@pytest.mark.parametrize(("apart", "same"), [(0.0009, True), (-0.0009, True), (0.002, False)])
def test_scores_may_differ_by_rounding(tmp_path, cases, pair_spec, apart, same):
    one, two = (finish(tmp_path / name, pair_spec(), cases) for name in ("one", "two"))

    def nudge(row: Completion) -> Completion:
        assert row.choice_logprobs is not None
        first, *rest = row.choice_logprobs
        # Which choice is likeliest may change with it, and so the text.
        return replace(row, choice_logprobs=(first + apart, *rest), text=" Response 2")

    changed(two, nudge)
    if same:
        merge_runs([one, two], tmp_path / "merged")
        assert state(tmp_path / "merged") == state(one)
    else:
        with pytest.raises(DataError, match=r"log-probabilities differ by 0\.002"):
            merge_runs([one, two], tmp_path / "merged")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"choice_logprobs": None}, "not both scores"),
        ({"choice_logprobs": (-1.0, -2.0)}, "not both scores"),
    ],
)
def test_scores_of_other_choices_are_another_answer(tmp_path, cases, pair_spec, change, message):
    one, two = (finish(tmp_path / name, pair_spec(), cases) for name in ("one", "two"))
    changed(two, lambda row: replace(row, **change))
    with pytest.raises(DataError, match=message):
        merge_runs([one, two], tmp_path / "merged")


def test_a_text_that_ended_otherwise_is_another_answer(tmp_path, cases):
    spec = make_spec("judge", CARD, protocol="pairwise")
    one, two = (finish(tmp_path / name, spec, cases) for name in ("one", "two"))
    changed(two, lambda row: replace(row, completion_tokens=99))
    merge_runs([one, two], tmp_path / "merged")
    changed(two, lambda row: replace(row, finish="length"))
    with pytest.raises(DataError, match="ended by 'length' here and by 'stop' there"):
        merge_runs([one, two], tmp_path / "merged")


def failing(wanted: str) -> Recorder:
    def answer(request: Request) -> object:
        if request.key[0] in wanted:
            return Failure(key=request.key, error="Down", message="m", retryable=True, attempts=1)
        return by_hash(request)

    return Recorder(answer)


def test_what_another_run_answered_is_no_failure(tmp_path, cases, pair_spec, whole):
    spec = pair_spec(critique=True)
    one = finish(tmp_path / "one", spec, cases, failing("01234567"))
    two = finish(tmp_path / "two", spec, cases, failing("456789abcdef"))
    assert list(whole_lines(one / "failures.jsonl")) != []
    merged = merge_runs([one, two], tmp_path / "merged")
    failed = list(read_records(tmp_path / "merged" / "failures.jsonl", Failure))
    # Both failed at what begins with 4 to 7. A critique is another matter: where its verdict was
    # missing, a run did not ask for it.
    first = {asked.key for asked in RunFolder(one).plan()}
    both = {key for key in first if key[0] in "4567"}
    assert {failure.key for failure in failed if failure.key in first} == both
    assert 0 < len(both) < len(first)
    assert merged.n_failed == len(failed)
    backend = Recorder()
    finish(tmp_path / "merged", spec, cases, backend)
    assert {request.key for request in backend.asked} >= {failure.key for failure in failed}
    assert state(tmp_path / "merged") == state(whole)


def test_a_failure_keeps_the_attempts_of_the_run_that_tried_most(tmp_path, cases, pair_spec):
    one = finish(tmp_path / "one", pair_spec(), cases, failing("0123456789abcdef"))
    two = finish(tmp_path / "two", pair_spec(), cases, failing("0123456789abcdef"))
    finish(two, pair_spec(), cases, failing("0123456789abcdef"))
    for _ in range(2):
        merge_runs([one, two], tmp_path / "merged")
        failed = list(read_records(tmp_path / "merged" / "failures.jsonl", Failure))
        assert {failure.attempts for failure in failed} == {2}


def rows_of(numbers: range, **fields: object) -> list[dict[str, object]]:
    return [
        {"id": f"case-{n}", "query": f"Q {n}?", "responses": [f"x{n}", f"y{n}"], **fields}
        for n in numbers
    ]


def run_of(tmp_path: Path, name: str, rows: list[dict[str, object]], spec: RunSpec) -> Path:
    path = tmp_path / f"{name}.jsonl"
    write_records(path, rows)
    return finish(tmp_path / name, spec, open_cases(path))


def test_runs_of_different_data_follow_each_other(tmp_path, pair_spec):
    one = run_of(tmp_path, "one", rows_of(range(3, 6)), pair_spec())
    two = run_of(tmp_path, "two", rows_of(range(3)), pair_spec())
    merged = merge_runs([one, two], tmp_path / "merged")
    assert (merged.n_cases, merged.n_unjudged, merged.several_data) == (6, 0, True)
    found = [verdict.case_id for verdict in RunFolder(tmp_path / "merged").verdicts()]
    assert found == [f"case-{n}" for n in (3, 4, 5, 0, 1, 2)]
    data = RunFolder(tmp_path / "merged").settings()["data"]
    assert data["paths"] == [str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl")]
    before = state(tmp_path / "merged")
    merge_runs([two, one], tmp_path / "merged")
    assert state(tmp_path / "merged") == before


def test_a_case_of_several_data_is_one_case_if_it_is_the_same(tmp_path, pair_spec):
    one = run_of(tmp_path, "one", rows_of(range(4)), pair_spec())
    two = run_of(tmp_path, "two", rows_of(range(2, 6)), pair_spec())
    assert merge_runs([one, two], tmp_path / "merged").n_cases == 6
    three = run_of(tmp_path, "three", rows_of(range(5, 7), label="a"), pair_spec())
    with pytest.raises(DataError, match="case 'case-5' differs from the case of that id"):
        merge_runs([one, two, three], tmp_path / "other")


def test_a_shard_of_one_file_is_not_joined_with_another_file(tmp_path, pair_spec):
    one = run_of(tmp_path, "one", rows_of(range(4)), pair_spec(shard="1/2"))
    two = run_of(tmp_path, "two", rows_of(range(4, 8)), pair_spec())
    with pytest.raises(ConfigError, match="is shard 1/2 of its data"):
        merge_runs([one, two], tmp_path / "merged")


def test_the_first_runs_calibration_is_taken_and_another_is_said(
    tmp_path, cases, pair_spec, caplog
):
    fitted = replace(CARD, calibration={"pairwise-verdict": Calibration(temperature=0.5, tie=9.0)})
    one = finish(tmp_path / "one", make_spec("judge", fitted, shard="1/2"), cases)
    two = finish(tmp_path / "two", pair_spec(shard="2/2"), cases)
    merge_runs([one, two], tmp_path / "merged")
    assert "another calibration" in caplog.text
    verdicts = list(RunFolder(tmp_path / "merged").verdicts())
    assert {verdict.rule for verdict in verdicts} == {"calibrated"}


def test_bad_rows_are_counted_once(tmp_path, pairs_file, pair_spec):
    with pairs_file.open("ab") as stream:
        stream.write(b"not json\n")
    cases = open_cases(pairs_file)
    parts = [
        finish(tmp_path / f"part-{n}", pair_spec(shard=f"{n}/2", skip_bad_rows=True), cases)
        for n in (1, 2)
    ]
    merge_runs(parts, tmp_path / "merged")
    assert RunFolder(tmp_path / "merged").settings()["n_bad_rows"] == 1
    assert len(list(whole_lines(tmp_path / "merged" / "bad_rows.jsonl"))) == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run.json", b"{", "is not JSON"),
        ("run.json", b"[]", "is not a run's"),
        ("run.json", b'{"spec": {}, "data": {}}', "is not a run's"),
        (
            "run.json",
            b'{"spec": {"judge": {"name": "x"}}, "data": {"paths": [], "sha256": []}}',
            "run.json:spec",
        ),
        ("cases.jsonl", b"", "holds no cases"),
        ("cases.jsonl", b"{}\n", "cases.jsonl:1: is damaged"),
        ("plan.jsonl", b'{"case_id": 7}\n', "plan.jsonl:1: is damaged"),
        ("ledger.jsonl", b'{"key":"abc"}\n', "ledger.jsonl:1: is damaged"),
        ("ledger.jsonl", b"\x00\x00\n", "ledger.jsonl:1: is damaged"),
        ("failures.jsonl", b"?\n", "failures.jsonl:1: is damaged"),
    ],
)
def test_a_damaged_run_is_named(tmp_path, cases, pair_spec, name, content, message):
    good = finish(tmp_path / "good", pair_spec(), cases)
    bad = finish(tmp_path / "bad", pair_spec(), cases)
    without_digests(bad)
    (bad / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        merge_runs([good, bad], tmp_path / "merged")
    assert message in str(caught.value)
    assert str(bad) in str(caught.value)
    assert not (tmp_path / "merged").exists()


def test_shards_that_lost_cases_are_named(tmp_path, cases, pair_spec):
    parts = shards(tmp_path, cases, pair_spec, of=2)
    rows = list(whole_lines(parts[1] / "cases.jsonl"))
    (parts[1] / "cases.jsonl").write_bytes(b"".join(rows[:-1]))
    with pytest.raises(DataError, match=r"it has 2 lines, and run\.json records 3"):
        merge_runs(parts, tmp_path / "merged")
    without_digests(parts[1])
    with pytest.raises(DataError, match="all its shards are there, and 1 cases are missing"):
        merge_runs(parts, tmp_path / "merged")
    write_records(parts[1] / "cases.jsonl", RunFolder(parts[0]).cases())
    with pytest.raises(DataError, match="has no position"):
        merge_runs(parts, tmp_path / "merged")


def test_a_torn_last_line_is_no_damage(tmp_path, cases, pair_spec, whole):
    part = killed(tmp_path / "part", pair_spec(critique=True), cases, 5)
    for name in ("ledger.jsonl", "plan.jsonl"):
        with (part / name).open("ab") as stream:
            stream.write(b'{"key":"abc')
    merged = merge_runs([part], tmp_path / "merged")
    assert merged.n_answers == 5
    finish(tmp_path / "merged", pair_spec(critique=True), cases)
    assert state(tmp_path / "merged") == state(whole)


def test_folders_that_are_no_runs_are_refused_and_left_alone(tmp_path, cases, pair_spec, whole):
    with pytest.raises(DataError, match=r"no run\.json"):
        merge_runs([whole, tmp_path / "nowhere"], tmp_path / "merged")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("42")
    for out in (tmp_path / "mine", tmp_path / "mine" / "thesis.txt"):
        with pytest.raises(ConfigError, match="exists and is not a run"):
            merge_runs([whole], out)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "42"
    (tmp_path / "empty").mkdir()
    merge_runs([whole], tmp_path / "empty")
    assert state(tmp_path / "empty") == state(whole)


def test_a_run_that_is_being_written_is_not_joined(tmp_path, cases, pair_spec, whole):
    with (
        open_run(tmp_path / "busy", pair_spec(critique=True), cases),
        pytest.raises(RunBusy),
    ):
        merge_runs([whole, tmp_path / "busy"], tmp_path / "merged")
    merge_runs([whole, tmp_path / "busy"], tmp_path / "merged")
    with (
        open_run(tmp_path / "merged", pair_spec(critique=True), cases),
        pytest.raises(RunBusy),
    ):
        merge_runs([whole], tmp_path / "merged")


def test_a_full_disk_leaves_what_was_there(tmp_path, cases, pair_spec, whole, monkeypatch):
    parts = shards(tmp_path, cases, pair_spec)
    out = tmp_path / "merged"
    merge_runs(parts[:1], out)
    before = state(out)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(Exception, match="the disk is full"):
            merge_runs(parts, out)
    assert state(out) == before
    assert not (tmp_path / ".merged.merging").exists()
    merge_runs(parts, out)
    assert state(out) == state(whole)


@pytest.mark.parametrize("dies_at", range(1, 12))
def test_killed_anywhere_it_leaves_the_old_run_or_the_new(
    tmp_path, cases, pair_spec, whole, monkeypatch, dies_at
):
    """Each rename stands for a moment at which the process may die."""
    parts = shards(tmp_path, cases, pair_spec)
    out = tmp_path / "merged"
    merge_runs(parts[:1], out)
    before = state(out)
    n_renames = 0
    for name in ("rename", "replace"):
        real = getattr(Path, name)

        def move(self: Path, target: Path, real: Callable[..., Path] = real) -> Path:
            nonlocal n_renames
            n_renames += 1
            if n_renames == dies_at:
                raise Killed
            return real(self, target)

        monkeypatch.setattr(Path, name, move)
    # A process that is killed cleans nothing up.
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    try:
        merge_runs(parts, out)
        assert n_renames < dies_at
    except Killed:
        pass
    monkeypatch.undo()
    if out.exists():
        assert state(out) in (before, state(whole))
    merge_runs(parts, out)
    assert state(out) == state(whole)
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []


KILLED_MERGE = """
import os, signal, sys
from pathlib import Path
real = os.fsync
def killed_at_the_first(handle):
    real(handle)
    os.kill(os.getpid(), signal.SIGKILL)
os.fsync = killed_at_the_first
from autoj.runs import merge_runs
merge_runs([Path(path) for path in sys.argv[2:]], Path(sys.argv[1]))
"""


def test_kill_9_in_the_middle_leaves_nothing_broken(tmp_path, cases, pair_spec, whole):
    parts = shards(tmp_path, cases, pair_spec)
    out, draft = tmp_path / "merged", tmp_path / ".merged.merging"
    command = [sys.executable, "-c", KILLED_MERGE, str(out), *map(str, parts)]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert draft.is_dir()
    assert not out.exists()
    merge_runs(parts, out)
    assert state(out) == state(whole)
    assert not draft.exists()


def test_memory_does_not_grow_with_texts(tmp_path, cases, pair_spec):
    """The index of a ledger is of its keys; a long text is not held."""
    spec = make_spec("judge", CARD, protocol="pairwise")
    paths = [finish(tmp_path / name, spec, cases) for name in ("one", "two")]
    for number, path in enumerate(paths):
        with (path / "ledger.jsonl").open("ab") as stream:
            for extra in range(2000):
                row = Completion(
                    key=hashlib.sha256(f"{number} {extra}".encode()).hexdigest(),
                    text="long " * 400,
                    finish="stop",
                    prompt_tokens=1,
                    completion_tokens=1,
                )
                stream.write(encode(row))
    size = os.path.getsize(paths[0] / "ledger.jsonl")
    assert size > 4_000_000
    tracemalloc.start()
    merged = merge_runs(paths, tmp_path / "merged")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert merged.n_answers == 4013
    assert peak < size / 2


def test_cases_of_runs_from_before_shards_have_the_places_of_their_lines(
    tmp_path, cases, pair_spec, whole
):
    """A run.json that knows nothing of shards, and cases without a position."""
    settings = json.loads((whole / "run.json").read_bytes())
    for name in ("shard", "samples"):
        del settings["spec"][name]
    del settings["sha256"]
    (whole / "run.json").write_text(json.dumps(settings))
    before = state(whole)
    assert b"position" not in before["cases.jsonl"]
    part = finish(tmp_path / "part", pair_spec(critique=True, shard="2/3"), cases)
    merge_runs([part, whole], tmp_path / "merged")
    assert state(tmp_path / "merged") == before
    assert isinstance(next(RunFolder(tmp_path / "merged").cases()), Case)


def test_the_chat_template_of_the_keys_is_kept(tmp_path, cases, pair_spec):
    card = replace(CARD, options={"template_sha256": "ab" * 32})
    parts = [
        finish(tmp_path / part, pair_spec(shard=f"{part}/2"), cases, Recorder(card=card))
        for part in "12"
    ]
    merge_runs(parts, tmp_path / "out")
    assert all(check.is_whole for check in check_run(tmp_path / "out"))
    other = replace(CARD, options={"template_sha256": "cd" * 32})
    third = finish(tmp_path / "3", pair_spec(), cases, Recorder(card=other))
    with pytest.raises(ConfigError, match="different chat templates"):
        merge_runs([tmp_path / "out", third], tmp_path / "both")


def test_what_the_answers_cost_is_added_up_once(tmp_path, cases):
    card = replace(CARD, usd_per_million_prompt_tokens=1e6, usd_per_million_completion_tokens=2e6)

    def judged(name: str, shard: str | None) -> Path:
        spec = make_spec("judge", card, protocol="pairwise", shard=shard)
        return judge(cases, spec, tmp_path / name, backend=Recorder(by_hash, card)).path

    parts = [judged("one", "1/2"), judged("two", "2/2"), judged("whole", None)]
    merge_runs([*parts, parts[0]], tmp_path / "out")
    merged, whole = Run.open(tmp_path / "out").cost, Run.open(parts[2]).cost
    assert merged == whole
    assert merged is not None
    assert merged.run_usd > 0
