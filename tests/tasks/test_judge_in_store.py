"""Juries in an object store: one stored run a judge, gone on with on another machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("fsspec", reason="the extra `stores` is not installed")

import fsspec
from filelock import FileLock, Timeout

from autoj.backends.base import Backend
from autoj.datasets.base import Cases, cases_of
from autoj.errors import ConfigError, DataError, RunBusy
from autoj.jsonl import whole_lines
from autoj.records import Case, JudgeCard, Response
from autoj.runs import make_spec
from autoj.runs.place import LOCK
from autoj.runs.stores import ownership
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.fetching import fetched_runs
from autoj.runs.stores.manifest import Manifest, Writer, commit, manifest_names, read_manifest
from autoj.runs.stores.objects import Objects
from autoj.runs.watch import Watch
from autoj.tasks.judge_in_store import copy_stored, judge_in_store, thrown_away_copy
from autoj.tasks.jurors import Escalation, Jury, make_jury
from autoj.tasks.jury import JuryRun, judge_by_jury

from ..scripted import CARD, Killed, Recorder

OUT = StoreAddress.parse("memory:///bucket/jury")
FIRST, SECOND = (replace(CARD, name=name, model=name) for name in ("first", "second"))


class Engines:
    """Gives each judge a recorder; one may die."""

    def __init__(self) -> None:
        self.made: list[Recorder] = []
        self.dies_after: dict[str, int] = {}

    def load(self, card: JudgeCard, *_: object) -> Backend:
        self.made.append(Recorder(card=card, dies_after=self.dies_after.get(card.name)))
        return self.made[-1]

    @property
    def n_asked(self) -> int:
        return sum(len(engine.asked) for engine in self.made)


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Engines:
    engines = Engines()
    monkeypatch.setattr("autoj.tasks.judge.load_engine", engines.load)
    return engines


@pytest.fixture(autouse=True)
def on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Lets the test go on as a machine of this name."""
    monkeypatch.setattr(ownership, "_LEAST_DEAD_SECONDS", 0.0)
    monkeypatch.setattr(ownership, "_DEAD_AFTER", 0)
    monkeypatch.setattr("os.fsync", lambda handle: None)

    def become(name: str) -> None:
        monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / name))

    become("a")
    yield become
    fsspec.filesystem("memory").store.clear()


@pytest.fixture
def cases() -> Cases:
    return cases_of(
        Case(
            id=f"../{number}",
            query=f"query {number}",
            responses=(Response(text="one"), Response(text="two")),
            cluster=str(number),
        )
        for number in range(8)
    )


def jury_of(*cards: JudgeCard) -> Jury:
    return make_jury("judge", [(card.name, card) for card in cards], None)


def verdicts(run: JuryRun) -> list[bytes]:
    return [*whole_lines(run.path / "verdicts.jsonl")]


def in_store(cases: Cases, jury: Jury) -> JuryRun:
    run = judge_in_store(cases, jury, OUT)
    assert isinstance(run, JuryRun)
    return run


def test_a_jury_goes_on_on_another_machine(
    cases: Cases, engines: Engines, tmp_path: Path, on: Any
) -> None:
    jury = jury_of(FIRST, SECOND)
    run = in_store(cases, jury)
    n_asked = engines.n_asked
    on("b")
    again = in_store(cases, jury)
    assert again.path != run.path
    assert engines.n_asked == n_asked
    alone = judge_by_jury(cases, jury, tmp_path / "alone")
    assert verdicts(again) == verdicts(run) == verdicts(alone)
    for path in fsspec.filesystem("memory").store:
        assert path.startswith("/bucket/jury/")
        assert ".." not in path
    for place in (OUT, OUT / "judges" / "first", OUT / "judges" / "second"):
        assert read_manifest(Objects(place)).writer is None


def test_a_jury_that_is_killed_keeps_what_its_first_judge_said(
    cases: Cases, engines: Engines, on: Any
) -> None:
    jury = jury_of(FIRST, SECOND)
    engines.dies_after["second"] = 3
    with pytest.raises(Killed):
        in_store(cases, jury)
    n_first = len(engines.made[0].asked)
    engines.dies_after.clear()
    on("b")
    in_store(cases, jury)
    # The one that died had asked three questions, which were stored as it ended.
    assert engines.n_asked == 2 * n_first


def test_a_judge_that_joins_is_asked_alone(cases: Cases, engines: Engines, on: Any) -> None:
    in_store(cases, jury_of(FIRST, SECOND))
    before = engines.n_asked
    on("b")
    third = replace(CARD, name="third", model="third")
    run = in_store(cases, jury_of(FIRST, SECOND, third))
    assert engines.n_asked == before * 3 // 2
    assert len(verdicts(run)) == 8


def test_an_escalation_is_stored_too(cases: Cases, engines: Engines, on: Any) -> None:
    jurors = jury_of(FIRST, SECOND).jurors
    rule = Escalation(below=0.6, always_full=0.2)
    jury = Jury(jurors=jurors, method="escalate", escalation=rule)
    run = in_store(cases, jury)
    before = engines.n_asked
    on("b")
    assert verdicts(in_store(cases, jury)) == verdicts(run)
    assert engines.n_asked == before


def test_a_jury_and_a_run_do_not_share_an_address(cases: Cases, engines: Engines, on: Any) -> None:
    judge_in_store(cases, make_spec("judge", FIRST), OUT)
    with pytest.raises(ConfigError, match="is the run of one judge"):
        in_store(cases, jury_of(FIRST, SECOND))
    other = OUT.beside("-other")
    judge_in_store(cases, jury_of(FIRST, SECOND), other)
    with pytest.raises(ConfigError, match="folder of a jury"):
        judge_in_store(cases, make_spec("judge", FIRST), other)
    for name in ("first", "second"):
        there = Objects(OUT / "judges" / name)
        assert there.names() == manifest_names(there)


def test_bad_data_leaves_nothing_in_the_store(engines: Engines) -> None:
    def fail() -> Any:
        raise DataError("cannot be read", path="x")

    bad = Cases(format="x", paths=(), read=fail, name="x")
    with pytest.raises(DataError, match="cannot be read"):
        in_store(bad, jury_of(FIRST, SECOND))
    assert {Path(its).name[:9] for its in fsspec.filesystem("memory").store} == {"manifest-"}


def test_a_jury_stops_where_one_of_its_runs_is_taken_over(
    cases: Cases, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOJ_SYNC_SECONDS", "3600")
    place = OUT / "judges" / "first"
    real = engines.load

    def load(card: JudgeCard, *given: object) -> Backend:
        found = read_manifest(Objects(place))
        writer = Writer(id="other", name="another", seconds=1.0)
        commit(Objects(place), replace(found, number=found.number + 1, writer=writer))
        return real(card, *given)

    monkeypatch.setattr("autoj.tasks.judge.load_engine", load)
    with pytest.raises(RunBusy, match=r"judges/first was taken over"):
        in_store(cases, jury_of(FIRST, SECOND))
    assert read_manifest(Objects(OUT)).writer is None


def test_merging_a_jury_says_how(cases: Cases, engines: Engines) -> None:
    in_store(cases, jury_of(FIRST, SECOND))
    with pytest.raises(DataError, match="is a jury's, not one judge's run") as caught:
        fetched_runs(OUT)
    assert f"{OUT}/judges/NAME" in str(caught.value.hint)
    assert [path.name for path in fetched_runs(OUT / "judges" / "first")] == ["first"]


def test_a_plan_sees_what_each_judge_has_answered(
    cases: Cases, engines: Engines, tmp_path: Path, on: Any
) -> None:
    jury = jury_of(FIRST, SECOND)
    copy_stored(jury, OUT, tmp_path / "none")
    assert not (tmp_path / "none").exists()
    run = in_store(cases, jury)
    copy_stored(jury, OUT, tmp_path / "copy")
    assert verdicts(JuryRun.open(tmp_path / "copy")) == verdicts(run)
    for juror in jury.jurors:
        assert (tmp_path / "copy" / juror.folder / "ledger.jsonl").stat().st_size


def test_dead_writers_of_a_jury_are_waited_for_together(
    cases: Cases, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Told(Watch):
        def message(self, text: str) -> None:
            told.append(text)

    told: list[str] = []
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    jury = jury_of(FIRST, SECOND)
    for place in (OUT, OUT / "judges" / "first", OUT / "judges" / "second"):
        writer = Writer(id="dead", name="process 7", seconds=30.0)
        assert commit(Objects(place), Manifest(number=1, writer=writer))
    monkeypatch.setattr(ownership, "_DEAD_AFTER", 3)
    with monkeypatch.context() as patch:
        patch.setattr(ownership, "time", SimpleNamespace(sleep=sleep, monotonic=lambda: now))
        judge_in_store(cases, jury, OUT, watch=Told())
    assert sum("process 7: waiting up to 90 s" in text for text in told) == 3
    assert 90 <= now < 100
    assert read_manifest(Objects(OUT)).writer is None


def test_a_judge_whose_writer_lives_keeps_the_jury_waiting_for_none(
    cases: Cases, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "_DEAD_AFTER", 3)
    place = Objects(OUT / "judges" / "second")

    def commit_as_other(number: int) -> None:
        writer = Writer(id="other", name="process 7", seconds=0.1)
        assert commit(place, Manifest(number=number, writer=writer))

    class Meanwhile(Watch):
        def message(self, text: str) -> None:
            commit_as_other(2)

    commit_as_other(1)
    with pytest.raises(RunBusy, match="judges/second is being written by process 7"):
        judge_in_store(cases, jury_of(FIRST, SECOND), OUT, watch=Meanwhile())
    assert read_manifest(Objects(OUT)) == Manifest()


def test_nobody_fetches_into_a_copy_that_is_being_copied(
    cases: Cases, engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_store(cases, jury_of(FIRST, SECOND))
    real, held = shutil.copyfile, []

    def copyfile(source: Path, target: Path) -> None:
        lock = FileLock(source.parent.parent / LOCK)
        with pytest.raises(Timeout):
            lock.acquire(timeout=0)
        held.append(source.name)
        real(source, target)

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    copy_stored(jury_of(FIRST, SECOND), OUT, tmp_path / "copy")
    assert "jury.json" in held


def test_errors_in_a_copy_name_the_address(cases: Cases, engines: Engines) -> None:
    spec = make_spec("judge", FIRST)
    judge_in_store(cases, spec, OUT)
    with (
        pytest.raises(ConfigError, match="is the run of one judge") as caught,
        thrown_away_copy(spec, OUT) as folder,
    ):
        judge_by_jury(cases, jury_of(FIRST, SECOND), folder)
    assert str(OUT) in caught.value.message
    assert str(folder.parent) not in str(caught.value)
    assert not folder.exists()
