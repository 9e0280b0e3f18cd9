"""Growing runs: a higher limit or appended rows continue a run, anything else is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.errors import SpecMismatch
from autoj.jsonl import read_records, write_records
from autoj.records import Case
from autoj.runs import RunFolder, RunSpec, judge_run, make_spec, merge_runs, open_run
from autoj.runs.opening import check_run
from autoj.tasks.judge import judge
from autoj.tasks.jurors import make_jury
from autoj.tasks.jury import judge_by_jury
from autoj.tasks.select import select
from autoj.tasks.selection_folder import make_select_spec

from ..classifiers import WordClassifier
from ..scripted import CARD, Killed, Recorder
from ..watches import Notes

Spec = Callable[..., RunSpec]


def rows(n: int, first: int = 0) -> list[dict[str, object]]:
    return [
        {"id": f"q{i}", "query": f"Question {i}?", "responses": [f"Yes, {i}.", f"No {i}."]}
        for i in range(first, n)
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    write_records(path, rows(6))
    return path


def run(data: Path, out: Path, spec: RunSpec, backend: Recorder | None = None) -> Recorder:
    engine = backend or Recorder()
    judge(open_cases(data), spec, out, backend=engine)
    return engine


def results(out: Path) -> dict[str, object]:
    record = json.loads((out / "run.json").read_bytes())
    return {
        "cases": (out / "cases.jsonl").read_bytes(),
        "plan": (out / "plan.jsonl").read_bytes(),
        "ledger": sorted((out / "ledger.jsonl").read_bytes().splitlines()),
        "verdicts": (out / "verdicts.jsonl").read_bytes(),
        "settings": {name: record[name] for name in ("spec", "data", "n_bad_rows")},
        "dealt": record.get("dealt"),
        "digest": record["files"]["cases.jsonl"],
    }


def same(one: Path, other: Path) -> None:
    """Compares two runs by all that must not depend on how they came about."""
    assert results(one) == results(other)


def test_a_higher_limit_asks_only_what_is_new(tmp_path, data, pair_spec: Spec) -> None:
    out, whole = tmp_path / "r", tmp_path / "whole"
    assert len(run(data, out, pair_spec(limit=2)).asked) == 4
    assert len(run(data, out, pair_spec(limit=5)).asked) == 6
    assert len(run(data, out, pair_spec()).asked) == 2
    run(data, whole, pair_spec())
    same(out, whole)


def test_appended_rows_continue_a_run(tmp_path, data, pair_spec: Spec) -> None:
    out, whole = tmp_path / "r", tmp_path / "whole"
    run(data, out, pair_spec())
    write_records(data, rows(9))
    watch = Notes()
    judge(open_cases(data), pair_spec(), out, backend=(engine := Recorder()), watch=watch)
    assert {request.case_id for request in engine.asked} == {"q6", "q7", "q8"}
    assert f"{out} grows from 6 to 9 cases" in watch.messages
    run(data, whole, pair_spec())
    same(out, whole)
    assert run(data, out, pair_spec()).asked == []


def test_a_grown_run_with_critiques_is_as_one_at_once(tmp_path, data, pair_spec: Spec) -> None:
    spec = pair_spec(protocol="pairwise-verdict", critique=True)
    run(data, tmp_path / "r", replace(spec, limit=2))
    run(data, tmp_path / "r", spec)
    run(data, tmp_path / "whole", spec)
    same(tmp_path / "r", tmp_path / "whole")


def test_a_limit_that_changes_nothing_asks_nothing(tmp_path, data, pair_spec: Spec) -> None:
    run(data, tmp_path / "r", pair_spec())
    watch = Notes()
    judge(open_cases(data), pair_spec(limit=50), tmp_path / "r", backend=Recorder(), watch=watch)
    assert not any("grows" in message for message in watch.messages)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda its: its[:4], "it has 6 cases, and the data and the limit give 4 now"),
        (lambda its: [*its[:2], its[2] | {"query": "Another?"}, *its[3:]],
         "its case 3, 'q2', is another in the data now"),
        (lambda its: [its[1], its[0], *its[2:]],
         "its case 1 is 'q0', and in the data it is 'q1' now"),
        (lambda its: [*rows(7)[:1], its[0] | {"id": "new"}, *its[1:]],
         "its case 2 is 'q1', and in the data it is 'new' now"),
        (lambda its: [its[0], {"query": "One?", "responses": ["alone"]}],
         "the data cannot be read up to its case 2"),
        (lambda its: [its[0] | {"label": "a"}, *its[1:], *rows(8, 6)],
         "its case 1, 'q0', is another in the data now"),
    ],
)  # fmt: skip
def test_other_changes_are_refused_and_touch_nothing(
    tmp_path, data, pair_spec: Spec, change: Callable[..., list[object]], said: str
) -> None:
    out = tmp_path / "r"
    run(data, out, pair_spec())
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    write_records(data, change(rows(6)))
    for opens in (lambda: check_run(out, pair_spec(), open_cases(data)),
                  lambda: run(data, out, pair_spec())):  # fmt: skip
        with pytest.raises(SpecMismatch) as refused:
            opens()
        assert said in str(refused.value)
        assert "another --out makes a new run" in str(refused.value)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_lower_limit_is_refused(tmp_path, data, pair_spec: Spec) -> None:
    run(data, tmp_path / "r", pair_spec())
    with pytest.raises(SpecMismatch, match="it has 6 cases, and the data and the limit give 2 now"):
        run(data, tmp_path / "r", pair_spec(limit=2))


def test_other_settings_are_refused_beside_a_higher_limit(tmp_path, data, pair_spec: Spec) -> None:
    run(data, tmp_path / "r", pair_spec(limit=2))
    with pytest.raises(SpecMismatch, match="orders: was 'both', is now 'one'"):
        run(data, tmp_path / "r", pair_spec(orders="one"))


def test_named_scenarios_stay_and_new_cases_get_theirs(
    tmp_path, data, pair_spec: Spec, monkeypatch
) -> None:
    monkeypatch.setattr(
        "autoj.runs.scenario_settings.load_classifier", lambda name: WordClassifier()
    )
    spec = pair_spec(classifier="fast")
    for limit in (2, None):
        run(data, tmp_path / "r", replace(spec, limit=limit))
    run(data, tmp_path / "whole", spec)
    same(tmp_path / "r", tmp_path / "whole")
    assert all(case.scenario for case in RunFolder(tmp_path / "r").cases())


def test_bad_rows_are_counted_anew(tmp_path, data, pair_spec: Spec) -> None:
    spec = pair_spec(skip_bad_rows=True)
    run(data, tmp_path / "r", spec)
    write_records(data, [*rows(6), {"id": "bad", "query": "", "responses": []}, *rows(8, 6)])
    run(data, tmp_path / "r", spec)
    run(data, tmp_path / "whole", spec)
    same(tmp_path / "r", tmp_path / "whole")
    assert (tmp_path / "r" / "bad_rows.jsonl").read_bytes().count(b"\n") == 1


def test_shards_grow_and_merge_to_the_whole(tmp_path, data, pair_spec: Spec) -> None:
    for limit in (4, None):
        for part in (1, 2):
            run(data, tmp_path / f"r{part}", pair_spec(limit=limit, shard=f"{part}/2"))
    merge_runs([tmp_path / "r1", tmp_path / "r2"], tmp_path / "merged")
    run(data, tmp_path / "whole", pair_spec())
    for name in ("cases", "verdicts"):
        found = (tmp_path / "merged" / f"{name}.jsonl").read_bytes()
        assert found == (tmp_path / "whole" / f"{name}.jsonl").read_bytes()
    # A merged run is one like any other.
    write_records(data, rows(9))
    assert len(run(data, tmp_path / "merged", pair_spec()).asked) == 6


def test_a_tournament_and_picks_by_rating_grow(tmp_path, monkeypatch) -> None:
    path = tmp_path / "n.jsonl"
    engines: list[Recorder] = []

    def load(card: object, watch: object = None) -> Recorder:
        engines.append(Recorder())
        return engines[-1]

    monkeypatch.setattr("autoj.tasks.select.load_engine", load)
    monkeypatch.setattr("autoj.tasks.judge.load_engine", load)
    for by, n_new in (("pairs", 4), ("ratings", 3)):
        spec = make_select_spec(CARD, by)  # type: ignore[arg-type]
        for n in (2, 3):
            write_records(path, [row | {"responses": ["a", "b", f"{i}"]}
                                 for i, row in enumerate(rows(n))])  # fmt: skip
            select(open_cases(path), spec, tmp_path / by)
        assert len(engines[-1].asked) == n_new
        select(open_cases(path), spec, tmp_path / "whole" / by)
        for name in ("cases.jsonl", "picks.jsonl", "verdicts.jsonl"):
            found = (tmp_path / by / name).read_bytes()
            assert found == (tmp_path / "whole" / by / name).read_bytes()


def test_a_jury_grows_with_all_its_judges(tmp_path, data, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    engines: list[Recorder] = []

    def load(card: object, watch: object = None) -> Recorder:
        engines.append(Recorder())
        return engines[-1]

    monkeypatch.setattr("autoj.tasks.judge.load_engine", load)
    judges = [("one", CARD), ("two", replace(CARD, name="two", model="other"))]
    folders = set()
    for limit in (2, None):
        found = judge_by_jury(open_cases(data), make_jury("judge", judges, None, limit=limit))
        folders.add(found.path)
    assert len(folders) == 1, "the same folder, without --out"
    assert [len(engine.asked) for engine in engines] == [4, 4, 8, 8]
    assert len(list(found)) == 6


# Folders without --out.


def test_the_default_folder_stays_the_same(tmp_path, data, pair_spec: Spec, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = judge(open_cases(data), pair_spec(limit=2), backend=Recorder())
    grown = judge(open_cases(data), pair_spec(), backend=Recorder())
    write_records(data, rows(8))
    again = judge(open_cases(data), pair_spec(), backend=(engine := Recorder()))
    assert first.path == grown.path == again.path
    assert len(engine.asked) == 4


def test_other_data_or_settings_have_folders_of_their_own(
    tmp_path, data, pair_spec: Spec, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = judge(open_cases(data), pair_spec(), backend=Recorder())
    fewer = judge(open_cases(data), pair_spec(limit=2), backend=Recorder())
    once = judge(open_cases(data), pair_spec(orders="one"), backend=Recorder())
    write_records(data, [rows(6)[0] | {"query": "Another?"}, *rows(6, 1)])
    changed = judge(open_cases(data), pair_spec(), backend=Recorder())
    namesake = tmp_path / "elsewhere" / "data.jsonl"
    namesake.parent.mkdir()
    write_records(namesake, rows(12, 6))
    other = judge(open_cases(namesake), pair_spec(), backend=Recorder())
    assert len({found.path for found in (whole, fewer, once, changed, other)}) == 5


# Killed at any point.


@contextmanager
def killed_at(monkeypatch: pytest.MonkeyPatch, point: int) -> Iterator[list[int]]:
    """Ends the process before a file is replaced, after, or while it is written: the n-th time."""
    n_points = [0]

    def count() -> None:
        n_points[0] += 1
        if n_points[0] == point:
            raise Killed

    replace_file, opened = Path.replace, Path.open

    def replaced(self: Path, target: Path) -> Path:
        count()
        found = replace_file(self, target)
        count()
        return found

    def open_file(self: Path, mode: str = "r", *given: object, **named: object) -> object:
        if mode == "wb":
            count()
        return opened(self, mode, *given, **named)  # type: ignore[call-overload]

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", replaced)
        patched.setattr(Path, "open", open_file)
        yield n_points


@pytest.mark.parametrize("settings", [{}, {"shard": "1/2"}, {"critique": True}])
def test_a_growth_that_is_killed_anywhere_goes_on(
    tmp_path, data, pair_spec: Spec, monkeypatch, settings
) -> None:
    spec = pair_spec(protocol="pairwise-verdict", **settings)
    run(data, tmp_path / "whole", spec)
    point = n_killed = 0
    while True:
        point += 1
        out = tmp_path / f"r{point}"
        run(data, out, replace(spec, limit=3))
        with killed_at(monkeypatch, point) as n_points:
            try:
                run(data, out, spec)
            except Killed:
                n_killed += 1
        if n_points[0] < point:
            break
        # Either command may come next, where the run has not grown yet.
        grown = json.loads((out / "run.json").read_bytes())["spec"]["limit"] is None
        if not grown and point % 2:
            run(data, out, replace(spec, limit=3))
        run(data, out, spec)
        same(out, tmp_path / "whole")
    assert n_killed > 8


def test_a_kill_while_new_cases_are_asked(tmp_path, data, pair_spec: Spec) -> None:
    spec = pair_spec()
    run(data, tmp_path / "whole", spec)
    for dies_after in range(1, 8):
        out = tmp_path / f"r{dies_after}"
        run(data, out, replace(spec, limit=2))
        with pytest.raises(Killed):
            run(data, out, spec, Recorder(dies_after=dies_after))
        run(data, out, spec)
        same(out, tmp_path / "whole")


def test_folders_of_version_0_1_grow(tmp_path, data, pair_spec: Spec) -> None:
    """Their run.json has no digests."""
    out = tmp_path / "r"
    run(data, out, pair_spec(limit=2))
    record = json.loads((out / "run.json").read_bytes())
    for name in ("files", "sha256"):
        del record[name]
    (out / "run.json").write_text(json.dumps(record))
    assert len(run(data, out, pair_spec()).asked) == 8
    assert len(list(read_records(out / "cases.jsonl", Case))) == 6


def test_cases_from_a_program_may_grow(tmp_path) -> None:
    from autoj.api import Judge

    def case(i: int) -> Case:
        return next(iter_cases(tmp_path, i))

    with Judge(Recorder()) as judged:
        judged.run([case(i) for i in range(2)], out=tmp_path / "r")
        found = judged.run([case(i) for i in range(4)], out=tmp_path / "r")
    assert (found.counts.n_answered, found.n_cases) == (4, 4)


def iter_cases(folder: Path, i: int) -> Iterator[Case]:
    path = folder / "one.jsonl"
    write_records(path, rows(i + 1, i))
    yield from (row.case for row in open_cases(path).read() if isinstance(row.case, Case))


def test_a_run_opened_alone_grows_without_being_judged(tmp_path, data, pair_spec: Spec) -> None:
    with open_run(tmp_path / "r", pair_spec(limit=2), open_cases(data)) as folder:
        judge_run(folder, pair_spec(limit=2), Recorder())
    with open_run(tmp_path / "r", pair_spec(), open_cases(data)) as folder:
        assert (folder.grown_from, folder.n_cases()) == (2, 6)
    assert make_spec("judge", CARD) == RunFolder(tmp_path / "r").spec()
