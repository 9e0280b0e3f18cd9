"""A stored run among faults: kills at every step, hostile manifests, stores that fail or lag."""

from __future__ import annotations

import io
import os
import signal
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autoj.errors import ConfigError, DataError, RunBusy, Unavailable
from autoj.jsonl import encode
from autoj.runs.stores import objects as seam
from autoj.runs.stores import ownership, storing
from autoj.runs.stores import stored_run as session
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.fetching import StoredCopy, fetched_copy, fetched_runs
from autoj.runs.stores.manifest import (
    SHARDS,
    Manifest,
    Piece,
    Writer,
    commit,
    manifest_name,
    manifest_names,
    read_manifest,
)
from autoj.runs.stores.objects import Objects
from autoj.runs.stores.stored_run import stored_run
from autoj.runs.watch import Watch

from .test_stored_run import (
    NEVER,
    Machine,
    add,
    live_elsewhere,
    objects_of,
    read,
    stored,
    writer_of,
)

CALLS = ("names", "copy_to", "write", "create", "remove")


class Killed(BaseException):
    """Stands for `kill -9`."""


class Death:
    """A process that dies at a call to the store, in the middle of it where it writes a file."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int, *, half: bool) -> None:
        self.n_calls, self.at, self.half = 0, at, half
        for name in CALLS:
            patch.setattr(Objects, name, self.dying(getattr(Objects, name)))

    def dying(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def dies(self_: Objects, *given: Any) -> Any:
            self.n_calls += 1
            if self.n_calls > self.at:
                if self.n_calls == self.at + 1 and self.half and call.__name__ == "create":
                    call(self_, given[0], given[1][: len(given[1]) // 2])
                raise Killed
            return call(self_, *given)

        return dies


def lead(address: StoreAddress) -> None:
    """A session with several syncs, of lines, of a file that is replaced, and of derived ones."""
    with stored_run(address, seconds=NEVER) as run:
        there = read(run.folder) if (run.folder / "ledger.jsonl").exists() else []
        (run.folder / "run.json").write_text(f"{len(there)}\n")
        for number in range(len(there), 3):
            add(run.folder, f"line {number}")
            run.sync()
        add(run.folder, "derived", name="verdicts.jsonl")


@pytest.mark.parametrize("half", [False, True])
def test_a_run_goes_on_after_a_kill_at_any_call(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, half: bool
) -> None:
    monkeypatch.setattr(ownership, "_LEAST_DEAD_SECONDS", 0.0)
    monkeypatch.setattr(ownership, "_DEAD_AFTER", 0)
    at, ended = 0, False
    while not ended:
        address = StoreAddress.parse(f"memory:///bucket/{half}/{at}")
        machine(f"first-{at}")
        with monkeypatch.context() as patch:
            Death(patch, at, half=half)
            try:
                lead(address)
                ended = True
            except Killed:
                pass
        before = read_manifest(Objects(address)).files
        for name in ("second", "first"):
            machine(f"{name}-{at}")
            lead(address)
            found = read_manifest(Objects(address))
            assert found.writer is None
            assert sum(its.n_lines for its in found.files["ledger.jsonl"]) >= sum(
                its.n_lines for its in before.get("ledger.jsonl", ())
            )
        assert read(fetched_copy(address)) == [f"line {number}" for number in range(3)]
        # No more is there than the last manifest names.
        left = {*Objects(address).names()} - {*manifest_names(Objects(address))}
        assert left == found.keys()
        at += 1
    assert at > 30


def hostile(address: StoreAddress, **changed: Any) -> None:
    """Commits a state that no writer would make."""
    there, _ = stored(address)
    found = read_manifest(there)
    assert commit(there, replace(found, number=found.number + 1, **changed))


@pytest.mark.parametrize("seconds", [1e300, 3601.0, 0.0, -1.0])
def test_nobody_waits_for_an_interval_that_no_writer_has(
    address: StoreAddress, machine: Machine, seconds: float
) -> None:
    hostile(address, writer=Writer(id="x", name="x", seconds=seconds))
    with pytest.raises(DataError, match="its writer commits every"), stored_run(address):
        pass


@pytest.mark.parametrize("n_bytes", [-1, -(10**9), 2 << 30, 1 << 62, 1 << 80])
@pytest.mark.parametrize("name", ["ledger.jsonl", "cases.jsonl"])
def test_a_size_that_no_piece_has_is_an_error(
    address: StoreAddress, machine: Machine, n_bytes: int, name: str
) -> None:
    if name == "cases.jsonl" and n_bytes == 2 << 30:
        pytest.skip("a whole file may be so large")
    content = manifest_with(Piece(n_bytes=7, n_lines=0, sha256="0" * 64), name)
    changed = content.replace(b'"n_bytes":7', b'"n_bytes":%d' % n_bytes)
    Objects(address).create(manifest_name(1), summed(changed))
    with pytest.raises(DataError, match="is damaged"):
        fetched_copy(address)


def manifest_with(piece: Piece, name: str) -> bytes:
    return encode(Manifest(number=1, writer=None, files={name: (piece,)}))


def summed(line: bytes) -> bytes:
    return b'%b,"sum":"%08x"}\n' % (line[:-2], zlib.crc32(line[:-2]))


def test_there_is_a_last_number(address: StoreAddress, machine: Machine) -> None:
    there, _ = stored(address)
    assert commit(there, replace(read_manifest(there), number=10**12 - 1))
    with pytest.raises(DataError, match="no number after its own"), stored_run(address):
        pass


def test_an_object_that_is_far_too_large_is_not_fetched(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, name = stored(address)
    there.write(name, io.BytesIO(bytes(9 << 20)))
    sizes = []
    real = StoredCopy._copy

    def copy(self: StoredCopy, name: str, piece: Piece, target: Any) -> None:
        try:
            real(self, name, piece, target)
        finally:
            sizes.append(target.seek(0, os.SEEK_END))

    monkeypatch.setattr(StoredCopy, "_copy", copy)
    with pytest.raises(DataError, match="is damaged"):
        fetched_copy(address)
    assert max(sizes) <= 1 << 20


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"shards":5}', b'{"shards":{"a":1}}', b"\xff", b"[" * 9999]
)
def test_a_list_of_shards_may_hold_anything(
    address: StoreAddress, machine: Machine, content: bytes
) -> None:
    with stored_run(address, seconds=NEVER, whole=(SHARDS,)) as run:
        (run.folder / SHARDS).write_bytes(content + b"\n")
    stored(address / "1-of-2")
    with pytest.raises(DataError, match="no list of shards"):
        fetched_runs(address)


def test_a_line_longer_than_a_piece_is_stored(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "_MOST_BYTES", 10)
    lines = ["short", "x" * 35, "one", "two"]
    with stored_run(address, seconds=NEVER) as run:
        add(run.folder, *lines)
        with (run.folder / "ledger.jsonl").open("a") as stream:
            stream.write("y" * 35)
    machine("second")
    assert read(fetched_copy(address)) == lines


def test_a_claim_whose_answer_is_lost_is_tried_again(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seam, "_WAITS_SECONDS", (0.0,))
    real, tries = Objects.create, []

    def create(self: Objects, name: str, content: bytes) -> None:
        real(self, name, content)
        tries.append(name)
        if len(tries) == 1:
            raise Unavailable("503 Slow Down")

    monkeypatch.setattr(Objects, "create", create)
    with stored_run(address, seconds=NEVER) as run:
        add(run.folder, "one")
    assert tries[:2] == [manifest_name(1)] * 2
    assert read_manifest(Objects(address)).writer is None


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Takes Ctrl-C as a terminal's process does: a shell's background job begins without."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("ends", [SystemExit, KeyboardInterrupt])
def test_a_run_is_released_where_its_fetching_is_ended(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch, ends: Any
) -> None:
    stored(address)
    machine("second")
    number = signal.SIGTERM if ends is SystemExit else signal.SIGINT
    with monkeypatch.context() as patch:
        patch.setattr(StoredCopy, "take", lambda *_: signal.raise_signal(number))
        with pytest.raises(ends), stored_run(address, seconds=NEVER):
            pass
    assert read_manifest(Objects(address)).writer is None
    assert read(fetched_copy(address)) == ["one"]


def test_ctrl_c_says_that_it_stores(address: StoreAddress, machine: Machine) -> None:
    class Told(Watch):
        def message(self, text: str) -> None:
            told.append(text)

    def work() -> None:
        with stored_run(address, Told(), seconds=NEVER) as run:
            add(run.folder, "one")
            raise KeyboardInterrupt

    told: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        work()
    assert "storing what is new" in told[0]
    assert len(objects_of(address)) == 1


def test_keys_that_ran_out_say_where_the_rest_is(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Objects, *given: Any) -> None:
        raise ConfigError("may not be used from here: ExpiredToken", hint="Set the keys.")

    def work() -> None:
        with stored_run(address, seconds=NEVER) as run:
            add(run.folder, "one")
            monkeypatch.setattr(Objects, "write", refuse)

    with pytest.raises(ConfigError, match="not everything is stored: may not be used") as caught:
        work()
    assert "Set the keys." in str(caught.value.hint)
    assert "keeps it; the same command" in str(caught.value.hint)


def test_a_call_that_fails_at_the_end_does_not_keep_the_run(
    address: StoreAddress, machine: Machine
) -> None:
    def look() -> None:
        if looks:
            raise DataError("is damaged", path="a shard")
        looks.append(1)

    looks: list[int] = []
    with (
        pytest.raises(DataError, match="a shard"),
        stored_run(address, seconds=NEVER, on_sync=look) as run,
    ):
        add(run.folder, "one")
    assert read_manifest(Objects(address)).writer is None
    assert read(fetched_copy(address)) == ["one"]


def test_a_file_that_cannot_be_read_is_an_error_of_ours(
    address: StoreAddress, machine: Machine
) -> None:
    with pytest.raises(DataError, match="cannot be written"), stored_run(address) as run:
        (run.folder / "ledger.jsonl").mkdir()


@pytest.fixture
def lagging(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store whose lists show manifests one call late, and its objects at once."""
    real = Objects.names
    shown: set[str] = set()

    def names(self: Objects) -> list[str]:
        there = real(self)
        late = [name for name in there if name in shown or not name.startswith("manifest")]
        shown.update(there)
        return late

    monkeypatch.setattr(Objects, "names", names)


def test_a_list_that_lags_ends_no_session(
    address: StoreAddress, machine: Machine, lagging: None
) -> None:
    with stored_run(address, seconds=NEVER) as run:
        for number in range(5):
            add(run.folder, str(number))
            run.sync()
    machine("second")
    read_manifest(Objects(address))
    assert read(fetched_copy(address)) == [str(number) for number in range(5)]


def test_a_list_that_lags_lets_no_second_writer_in(
    address: StoreAddress, machine: Machine, lagging: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stored_run(address, seconds=NEVER):
        monkeypatch.setattr(ownership, "_ownerless_manifest", lambda *_: Manifest())
        machine("second")
        with pytest.raises(RunBusy), stored_run(address, seconds=NEVER):
            pass


def test_a_run_that_has_not_ended_is_merged_and_told_of(
    address: StoreAddress, machine: Machine, caplog: Any
) -> None:
    stored(address)
    assert fetched_runs(address)
    assert not caplog.records
    live_elsewhere(address, read_manifest(Objects(address)).number + 1)
    assert fetched_runs(address)
    assert "was not ended by process 7 on host" in caplog.text


def lose(address: StoreAddress, line: str) -> None:
    with stored_run(address, seconds=NEVER) as run:
        add(run.folder, line)
        raise Killed


def test_all_answers_that_others_went_on_without_are_kept(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "_LEAST_DEAD_SECONDS", 0.0)
    monkeypatch.setattr(ownership, "_DEAD_AFTER", 0)
    for number in range(2):
        machine("first")
        with monkeypatch.context() as patch:
            patch.setattr(session._Session, "finish", lambda its: None)
            with pytest.raises(Killed):
                lose(address, f"lost {number}")
        machine("second")
        with stored_run(address, seconds=NEVER) as other:
            add(other.folder, f"kept {number}")
    machine("first")
    with stored_run(address, seconds=NEVER) as run:
        assert read(run.folder) == ["kept 0", "kept 1"]
    lost = read(run.folder, "ledger.jsonl.earlier")
    assert {"lost 0", "lost 1"} <= {*lost}


@pytest.mark.parametrize("ends", [None, Unavailable("the judge is down")])
def test_sigterm_while_runs_are_stored_at_their_end_waits_until_all_are(
    address: StoreAddress,
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    ends: Exception | None,
) -> None:
    addresses = [address, address / "first", address / "second"]
    real, before = Objects.write, signal.getsignal(signal.SIGTERM)

    def write(self: Objects, *given: Any) -> None:
        signal.raise_signal(signal.SIGTERM)
        real(self, *given)
        signal.raise_signal(signal.SIGTERM)

    def work() -> None:
        with ExitStack() as opened:
            runs = [opened.enter_context(stored_run(its, seconds=NEVER)) for its in addresses]
            for run in runs:
                add(run.folder, "one")
            patch.setattr(Objects, "write", write)
            if ends is not None:
                raise ends

    with monkeypatch.context() as patch:
        with pytest.raises(SystemExit) as caught:
            work()
        assert caught.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before
    for place in addresses:
        assert read_manifest(Objects(place)).writer is None
        assert read(fetched_copy(place)) == ["one"]


def test_sigterm_at_work_ends_a_run_whose_neighbour_has_ended(
    machine: Machine, address: StoreAddress
) -> None:
    def work() -> None:
        with stored_run(address, seconds=NEVER) as run:
            with stored_run(address / "within", seconds=NEVER) as other:
                add(other.folder, "one")
            add(run.folder, "two")
            signal.raise_signal(signal.SIGTERM)
            add(run.folder, "three")

    with pytest.raises(SystemExit):
        work()
    assert read_manifest(Objects(address)).writer is None
    assert read(fetched_copy(address)) == ["two"]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any writer counts as dead."""
    monkeypatch.setattr(ownership, "_ownerless_manifest", lambda its, *_: read_manifest(its))


@pytest.mark.parametrize("step", ["sync", "finish"])
def test_a_suspended_writer_does_not_remove_what_its_successor_stored(
    address: StoreAddress,
    machine: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    impatient: None,
    step: str,
) -> None:
    slow, other = (writer_of(address, tmp_path, name) for name in ("slow", "other"))
    slow.claim()
    settings = slow.copy.folder / "run.json"
    settings.write_text("first\n")
    slow.sync()
    settings.write_text("second\n")
    real = Objects.remove
    removed: list[str] = []

    def remove(self: Objects, name: str) -> None:
        # It comes back after another has gone on, and stored the very content that goes here.
        if name.startswith("run.json") and self is slow.copy.objects and not removed:
            removed.append(name)
            other.claim()
            (other.copy.folder / "run.json").write_text("first\n")
            other.sync()
        real(self, name)

    monkeypatch.setattr(Objects, "remove", remove)
    getattr(slow, step)()
    assert removed
    assert read(fetched_copy(address), "run.json") == ["first"]
    other.finish()
    assert read(fetched_copy(address), "run.json") == ["first"]


def test_a_replaced_writer_removes_nothing(
    address: StoreAddress, machine: Machine, tmp_path: Path, impatient: None
) -> None:
    slow, other = (writer_of(address, tmp_path, name) for name in ("slow", "other"))
    slow.claim()
    other.claim()
    Objects(address).create(name := "ledger.jsonl." + "0" * 40, b"")
    slow.ownership.remove({name})
    assert Objects(address).holds(name)
    other.ownership.remove({name})
    assert not Objects(address).holds(name)


def test_a_slow_writer_is_not_let_back_in_where_nothing_was_released(
    address: StoreAddress, machine: Machine, tmp_path: Path, impatient: None
) -> None:
    slow, other, third = (writer_of(address, tmp_path, name) for name in ("slow", "other", "third"))
    slow.claim()
    other.claim()
    other.finish()
    third.claim()
    add(slow.copy.folder, "one")
    with pytest.raises(RunBusy):
        slow.sync()
    third.finish()
