"""A stored run: one writer at a time, synced at an interval, gone on with elsewhere."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autoj.errors import Cancelled, ConfigError, DataError, RunBusy, StorageFull, Unavailable
from autoj.runs.stores import objects, ownership, storing
from autoj.runs.stores import stored_run as session
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.fetching import StoredCopy, fetched_copy, fetched_runs
from autoj.runs.stores.manifest import (
    NEEDED,
    Manifest,
    Writer,
    commit,
    manifest_name,
    manifest_names,
    read_manifest,
)
from autoj.runs.stores.objects import Objects
from autoj.runs.stores.stored_run import stored_run
from autoj.runs.watch import SILENT, Watch

NEVER = 3600.0


@pytest.fixture(autouse=True)
def soon_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer counts as dead after three intervals, however short."""
    monkeypatch.setattr(ownership, "_LEAST_DEAD_SECONDS", 0.0)


Machine = Callable[[str], None]


def add(folder: Path, *lines: str, name: str = "ledger.jsonl") -> None:
    with (folder / name).open("a") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def read(folder: Path, name: str = "ledger.jsonl") -> list[str]:
    return (folder / name).read_text().splitlines()


def wait_for(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < until, "what was waited for did not come"
        time.sleep(0.01)


def objects_of(address: StoreAddress, beginning: str = "ledger") -> list[str]:
    return [name for name in Objects(address).names() if name.startswith(beginning)]


def test_another_machine_goes_on_where_one_has_ended(
    address: StoreAddress, machine: Machine
) -> None:
    with stored_run(address, seconds=NEVER) as run:
        (run.folder / "run.json").write_text("{}\n")
        add(run.folder, "one")
        run.sync()
        add(run.folder, "two")
        add(run.folder, "derived", name="verdicts.jsonl")
        add(run.folder, "not ours", name="notes.txt")
    machine("second")
    with stored_run(address, seconds=NEVER) as again:
        assert again.folder != run.folder
        assert read(again.folder) == ["one", "two"]
        assert read(again.folder, "verdicts.jsonl") == ["derived"]
        assert not (again.folder / "notes.txt").exists()
        add(again.folder, "three")
    machine("first")
    assert fetched_runs(address) == [fetched_copy(address)]
    assert read(fetched_copy(address)) == ["one", "two", "three"]
    with stored_run(address, seconds=NEVER) as back:
        # Its own copy is older, and no line of it is lost by that.
        assert back.folder == run.folder
        assert read(back.folder) == ["one", "two", "three"]
        assert not list(back.folder.glob("*.earlier"))


def test_it_is_synced_at_an_interval_whole_lines_alone(
    address: StoreAddress, machine: Machine
) -> None:
    with stored_run(address, seconds=0.05) as run:
        (run.folder / "run.json").write_text("{}\n")
        add(run.folder, "one")
        with (run.folder / "ledger.jsonl").open("a") as stream:
            stream.write("in the middle of")
        wait_for(lambda: "ledger.jsonl" in read_manifest(Objects(address)).files)
        assert read(fetched_copy(address)) == ["one"]


def test_pieces_stay_few_and_the_manifest_short(address: StoreAddress, machine: Machine) -> None:
    with stored_run(address, seconds=NEVER) as run:
        for number in range(64):
            add(run.folder, f"{number:07}")
            run.sync()
        assert len(objects_of(address)) == 1
        add(run.folder, "1000000")
        run.sync()
        assert len(objects_of(address)) == 2
        assert len(manifest_names(Objects(address))) <= 4
    machine("second")
    assert len(read(fetched_copy(address))) == 65


def test_a_long_ledger_is_stored_in_pieces(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "_MOST_BYTES", 100)
    lines = [f"{number:09}" for number in range(95)]
    with stored_run(address, seconds=NEVER) as run:
        add(run.folder, *lines)
        run.sync()
        assert len(objects_of(address)) == 10
        # The last piece has room, the others have not.
        add(run.folder, *lines[:6])
    assert len(objects_of(address)) == 11
    machine("second")
    assert read(fetched_copy(address)) == [*lines, *lines[:6]]


class Killed(BaseException):
    """Stands for a machine that is lost."""


def lose(address: StoreAddress, monkeypatch: pytest.MonkeyPatch, *lines: str) -> Path:
    """A machine that is lost after a sync, with lines that came since."""
    folders: list[Path] = []

    def work() -> None:
        with stored_run(address, seconds=0.1) as run:
            folders.append(run.folder)
            (run.folder / "run.json").write_text("{}\n")
            add(run.folder, "one")
            run.sync()
            add(run.folder, *lines)
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(session._Session, "finish", lambda its: None)
        with pytest.raises(Killed):
            work()
    return folders[0]


def test_a_lost_machine_loses_what_came_since_its_last_sync(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(session, "SYNC_SECONDS", 0.1)
    # One sync at the interval may still come between.
    monkeypatch.setattr(session._Session, "_sync_at_interval", lambda its: None)
    first = lose(address, monkeypatch, "lost")
    machine("second")
    with stored_run(address, seconds=NEVER) as run:
        assert read(run.folder) == ["one"]
        add(run.folder, "asked again", "two")
    machine("first")
    with stored_run(address, seconds=NEVER) as run:
        assert run.folder == first
        assert read(run.folder) == ["one", "asked again", "two"]
    assert read(first, "ledger.jsonl.earlier") == ["one", "lost"]
    assert "are asked again" in caplog.text


def test_the_machine_that_comes_back_first_loses_nothing(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session._Session, "_sync_at_interval", lambda its: None)
    lose(address, monkeypatch, "not stored")
    with stored_run(address, seconds=NEVER) as run:
        assert read(run.folder) == ["one", "not stored"]
    machine("second")
    assert read(fetched_copy(address)) == ["one", "not stored"]


def live_elsewhere(address: StoreAddress, number: int, seconds: float = 0.2) -> None:
    writer = Writer(id="other", name="process 7 on host", seconds=seconds)
    found = read_manifest(Objects(address))
    assert commit(Objects(address), replace(found, number=number, writer=writer))


def test_a_run_that_another_writes_is_left_alone(address: StoreAddress, machine: Machine) -> None:
    live_elsewhere(address, 1)

    class Waits(Watch):
        def message(self, text: str) -> None:
            assert "process 7 on host: waiting up to 1 s" in text
            live_elsewhere(address, 2)

    with (
        pytest.raises(RunBusy, match="is being written by process 7 on host"),
        stored_run(address, Waits()),
    ):
        pass


def test_a_dead_writers_run_is_taken_over_and_a_slow_ones_commit_is_refused(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "_DEAD_AFTER", 2)
    number = 0

    def work() -> None:
        nonlocal number
        with stored_run(address, seconds=0.05) as slow:
            add(slow.folder, "one")
            slow.sync()
            # It stops committing for a while, as a machine that is suspended.
            number = read_manifest(Objects(address)).number
            while not slow.watch.cancelled():
                live_elsewhere(address, number := number + 100)
                time.sleep(0.1)
            add(slow.folder, "two")
            raise Cancelled("as the run's loop does")

    with pytest.raises(RunBusy, match="was taken over"):
        work()
    last = read_manifest(Objects(address))
    assert last.writer is not None
    assert (last.number, last.writer.id) == (number, "other")
    assert [piece.n_lines for piece in last.files["ledger.jsonl"]] == [1]


def test_of_two_that_take_a_run_over_one_is_refused(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = commit

    def beaten(objects: Objects, manifest: Manifest) -> bool:
        live_elsewhere(address, manifest.number)
        return real(objects, manifest)

    monkeypatch.setattr(ownership, "commit", beaten)
    with pytest.raises(RunBusy, match="process 7"), stored_run(address):
        pass


@pytest.mark.parametrize("text", ["0", "0.9", "-1", "nan", "soon", "1e9"])
def test_an_interval_is_a_number_of_seconds(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("AUTOJ_SYNC_SECONDS", text)
    with pytest.raises(ConfigError, match="AUTOJ_SYNC_SECONDS is"), stored_run(address):
        pass


def test_two_processes_of_a_machine_do_not_share_a_copy(
    address: StoreAddress, machine: Machine
) -> None:
    with stored_run(address), pytest.raises(RunBusy), stored_run(address):
        pass


@pytest.fixture
def down(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Says whether the store is down: `down[0]`."""
    state = [False]
    real = Objects.names

    def names(self: Objects) -> list[str]:
        if state[0]:
            raise Unavailable(f"{self.address} cannot be reached")
        return real(self)

    monkeypatch.setattr(Objects, "names", names)
    monkeypatch.setattr(objects, "_WAITS_SECONDS", (0.0,))
    return state


def test_a_store_that_is_down_for_a_while_holds_nothing_up(
    address: StoreAddress, machine: Machine, down: list[bool], caplog: Any
) -> None:
    with stored_run(address, seconds=0.02) as run:
        down[0] = True
        add(run.folder, "one")
        wait_for(lambda: "cannot be reached" in caplog.text)
        time.sleep(0.2)
        down[0] = False
        wait_for(lambda: bool(objects_of(address)))
        add(run.folder, "two")
    assert caplog.text.count("cannot be reached") == 1
    machine("second")
    assert read(fetched_copy(address)) == ["one", "two"]


def test_what_could_not_be_stored_at_the_end_is_stored_by_the_next_start(
    address: StoreAddress, machine: Machine, down: list[bool]
) -> None:
    def work() -> None:
        with stored_run(address, seconds=0.1) as run:
            add(run.folder, "one")
            down[0] = True

    with pytest.raises(Unavailable, match="not everything is stored") as caught:
        work()
    assert "the same command on this machine" in str(caught.value.hint)
    with pytest.raises(Unavailable, match="cannot be reached"), stored_run(address):
        pass
    down[0] = False
    with stored_run(address, seconds=0.1):
        pass
    machine("second")
    assert read(fetched_copy(address)) == ["one"]


def test_an_error_before_anything_leaves_numbers_alone(
    address: StoreAddress, machine: Machine
) -> None:
    with pytest.raises(ConfigError), stored_run(address):
        raise ConfigError("a bad row, for example")
    assert Objects(address).names() == manifest_names(Objects(address))
    left = read_manifest(Objects(address))
    assert (left.writer, left.files) == (None, {})
    with stored_run(address, seconds=NEVER) as run:
        add(run.folder, "one")
        assert read_manifest(Objects(address)).number > left.number


def test_what_killed_writers_left_is_removed_at_the_end(
    address: StoreAddress, machine: Machine
) -> None:
    orphan = "ledger.jsonl." + "0" * 40
    Objects(address).create(orphan, b"half of")
    Objects(address).create("README", b"somebody's")
    with stored_run(address) as run:
        add(run.folder, "one")
    assert len(objects_of(address)) == 1
    assert orphan not in objects_of(address)
    assert Objects(address).read("README") == b"somebody's"


def stored(address: StoreAddress) -> tuple[Objects, str]:
    """A run of one line, and the name of that piece."""
    with stored_run(address, seconds=NEVER) as run:
        (run.folder / "run.json").write_text("{}\n")
        add(run.folder, "one")
    return Objects(address), objects_of(address)[0]


@pytest.mark.parametrize("content", [b"", b"on", b"two\n", b"one\none\n", None])
def test_a_damaged_object_is_an_error(
    address: StoreAddress, machine: Machine, content: bytes | None
) -> None:
    there, name = stored(address)
    there.remove(name)
    if content is not None:
        there.create(name, content)
    machine("second")
    with pytest.raises(DataError, match=r"is damaged|is missing") as caught:
        fetched_copy(address)
    assert name in caught.value.message
    assert "Restore the object" in str(caught.value.hint)
    with pytest.raises(DataError), stored_run(address):
        pass


def test_a_commit_that_is_cut_off_never_was(address: StoreAddress, machine: Machine) -> None:
    there, _ = stored(address)
    last = read_manifest(there).number
    there.create(manifest_name(last + 1), b'{"number":')
    machine("second")
    with stored_run(address, seconds=NEVER) as run:
        assert read(run.folder) == ["one"]
    assert read_manifest(there).number > last + 1


@pytest.mark.parametrize(
    "content",
    [b"{}", b'{"number":1,"files":{"../../x":[]}}\n', b"\xff" * 100],
)
def test_manifests_that_are_all_damaged_are_an_error(
    address: StoreAddress, machine: Machine, content: bytes
) -> None:
    Objects(address).create(manifest_name(1), content)
    with pytest.raises(DataError, match="is damaged"):
        fetched_copy(address)


def test_manifests_that_are_all_cut_off_are_an_error(
    address: StoreAddress, machine: Machine
) -> None:
    for number in (7, 8):
        Objects(address).create(manifest_name(number), b'{"number":')
    assert read_manifest(Objects(address)) == Manifest(number=8), "claims of nothing"
    Objects(address).create("ledger.jsonl." + "0" * 40, b"one\n")
    with pytest.raises(DataError, match="none of its manifests is whole"):
        fetched_copy(address)


def test_a_manifest_leads_to_no_other_file(address: StoreAddress, machine: Machine) -> None:
    there, _ = stored(address)
    found = read_manifest(there)
    pieces = found.files["ledger.jsonl"]
    for name in ("../../x", "/etc/x", "notes.txt"):
        hostile = replace(found, number=found.number + 1, files={name: pieces})
        assert commit(there, hostile)
        with pytest.raises(DataError, match="other files"):
            read_manifest(there)
        there.remove(manifest_name(hostile.number))
    hostile = replace(
        found,
        number=found.number + 1,
        files={"ledger.jsonl": (replace(pieces[0], sha256="../../../x"),)},
    )
    assert commit(there, hostile)
    with pytest.raises(DataError, match="a digest that is none"):
        read_manifest(there)
    there.remove(manifest_name(hostile.number))
    hostile = replace(hostile, files={"ledger.jsonl": (replace(pieces[0], mark="../../x"),)})
    assert commit(there, hostile)
    with pytest.raises(DataError, match="a mark that no session has"):
        read_manifest(there)


def test_where_there_is_nothing_is_said(address: StoreAddress, machine: Machine) -> None:
    with pytest.raises(DataError, match="there is no run"):
        fetched_runs(address)
    Objects(address).create("README", b"")
    with pytest.raises(DataError, match="there is no run"):
        fetched_runs(address)


def test_a_folder_of_runs_is_all_of_them(address: StoreAddress, machine: Machine) -> None:
    for name in ("part-1", "part-2"):
        stored(address / name)
    assert [path.name for path in fetched_runs(address)] == ["part-1", "part-2"]


def test_a_local_copy_with_more_than_is_stored_is_no_stored_run(
    address: StoreAddress, machine: Machine
) -> None:
    for name in ("part-1", "part-2"):
        stored(address / name)
    Objects(address / "part-3").create("README", b"")
    for place in (address, address / "part-3"):
        folder = fetched_copy(place)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.json").write_text("{}\n")
    assert [path.name for path in fetched_runs(address)] == ["part-1", "part-2"]


def writer_of(address: StoreAddress, folder: Path, name: str) -> session._Session:
    """A writer whose steps the test takes, without threads in between."""
    writer = Writer(id=name, name=name, seconds=NEVER)
    copy = StoredCopy(Objects(address), folder / name)
    owner = ownership.Ownership(copy.objects, writer, copy.folder)
    files = storing.LocalFiles(copy.folder, copy.objects)
    return session._Session(copy, owner, files, SILENT, NEEDED, None)


@pytest.fixture
def overtaken(
    address: StoreAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[session._Session, session._Session]:
    """A writer whose next upload is so slow that another takes the run over and goes on."""
    slow, other = (writer_of(address, tmp_path, name) for name in ("slow", "other"))
    slow.claim()
    add(slow.copy.folder, "one")
    slow.sync()
    real, uploads = Objects.write, []
    monkeypatch.setattr(ownership, "_ownerless_manifest", lambda its, *_: read_manifest(its))

    def write(self: Objects, name: str, source: Any) -> None:
        real(self, name, source)
        if self is slow.copy.objects and not uploads:
            uploads.append(name)
            other.claim()
            add(other.copy.folder, "a longer answer")
            other.sync()

    monkeypatch.setattr(Objects, "write", write)
    add(slow.copy.folder, "two")
    return slow, other


@pytest.mark.parametrize("step", ["sync", "finish"])
def test_a_slow_upload_neither_replaces_nor_removes_what_its_successor_stored(
    address: StoreAddress, machine: Machine, overtaken: Any, step: str
) -> None:
    slow, other = overtaken
    with pytest.raises(RunBusy, match="was taken over"):
        getattr(slow, step)()
    assert slow.ownership.is_lost
    assert read(fetched_copy(address)) == ["one", "a longer answer"]
    other.finish()


def test_a_claim_follows_the_state_that_it_read(
    address: StoreAddress, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, late = (writer_of(address, tmp_path, name) for name in ("first", "late"))
    first.claim()
    found = read_manifest(Objects(address))
    add(first.copy.folder, "one")
    first.finish()
    monkeypatch.setattr(ownership, "_ownerless_manifest", lambda *_: found)
    with pytest.raises(RunBusy):
        late.claim()
    assert read(fetched_copy(address)) == ["one"]


def test_giving_free_takes_no_others_manifest_for_its_own(
    address: StoreAddress, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other = (writer_of(address, tmp_path, name) for name in ("first", "other"))
    first.claim()
    add(first.copy.folder, "one")
    real = Objects.create
    monkeypatch.setattr(ownership, "_ownerless_manifest", lambda its, *_: read_manifest(its))
    monkeypatch.setattr(objects, "_WAITS_SECONDS", (0.0,))

    def create(self: Objects, name: str, content: bytes) -> None:
        if self is first.copy.objects and not other.ownership._committed:
            other.claim()
            raise Unavailable("409 ConditionalRequestConflict")
        real(self, name, content)

    monkeypatch.setattr(Objects, "create", create)
    with pytest.raises(RunBusy, match="was taken over"):
        first.finish()


def test_files_that_a_session_deletes_stay_deleted(address: StoreAddress, machine: Machine) -> None:
    with stored_run(address, seconds=NEVER) as run:
        for name in ("run.json", "verdicts.jsonl", "follow.jsonl"):
            add(run.folder, "old", name=name)
    machine("second")
    with stored_run(address, seconds=NEVER) as again:
        (again.folder / "verdicts.jsonl").unlink()
        again.sync()
        assert not objects_of(address, "verdicts")
        (again.folder / "follow.jsonl").unlink()
    machine("first")
    with stored_run(address, seconds=NEVER) as back:
        assert {path.name for path in back.folder.iterdir()} == {"run.json"}


def test_a_sync_of_a_run_that_was_taken_over_says_so(
    address: StoreAddress, machine: Machine, caplog: Any
) -> None:
    def work() -> None:
        with stored_run(address, seconds=NEVER) as run:
            live_elsewhere(address, read_manifest(Objects(address)).number + 1)
            run.sync()

    with pytest.raises(RunBusy, match="was taken over"):
        work()
    assert not caplog.records


def test_a_writer_commits_also_in_a_long_upload(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Objects.write

    def write(self: Objects, name: str, source: Any) -> None:
        last = read_manifest(Objects(address)).number
        wait_for(lambda: read_manifest(Objects(address)).number >= last + 3)
        real(self, name, source)

    with stored_run(address, seconds=NEVER) as run:
        add(run.folder, "one")
    monkeypatch.setattr(Objects, "write", write)
    with stored_run(address, seconds=0.05) as run:
        add(run.folder, "two")
    assert read(fetched_copy(address)) == ["one", "two"]


def test_a_writer_is_waited_for_half_a_minute_at_least(
    address: StoreAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "_LEAST_DEAD_SECONDS", 30.0)
    live_elsewhere(address, 1, seconds=1.0)

    class Ends(Watch):
        def message(self, text: str) -> None:
            assert "waiting up to 30 s" in text

        def cancelled(self) -> bool:
            return True

    with pytest.raises(Cancelled):
        ownership._ownerless_manifest(Objects(address), Ends())


def test_a_changed_manifest_is_no_older_state(address: StoreAddress, machine: Machine) -> None:
    there, _ = stored(address)
    name = manifest_names(there)[-1]
    content = there.read(name)
    for place in (3, 20, len(content) - 15, len(content) - 2, len(content) - 1):
        changed = bytearray(content)
        changed[place] ^= 1
        there.remove(name)
        there.create(name, bytes(changed))
        with pytest.raises(DataError, match="is damaged") as caught:
            fetched_copy(address)
        assert name in caught.value.message
    for n_bytes in (0, 5, 40, len(content) - 2):
        there.remove(name)
        there.create(name, content[:n_bytes])
        assert read_manifest(there).writer is not None, "the state before"


def test_a_copy_for_reading_is_what_is_stored(address: StoreAddress, machine: Machine) -> None:
    there, _ = stored(address)
    copy = fetched_copy(address)
    add(copy, "more")
    add(copy, "old", name="follow.jsonl")
    assert read(fetched_copy(address)) == ["one"]
    assert {path.name for path in copy.iterdir()} == {"run.json", "ledger.jsonl"}
    for name in there.names():
        there.remove(name)
    with pytest.raises(DataError, match="there is no run"):
        fetched_runs(address)


def test_a_run_that_cannot_be_fetched_is_given_free(
    address: StoreAddress, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(address)
    machine("second")

    real = Objects.copy_to

    def full(self: Objects, name: str, target: Any, most_bytes: int) -> None:
        if not name.startswith("manifest"):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, name, target, most_bytes)

    with monkeypatch.context() as patch:
        patch.setattr(Objects, "copy_to", full)
        with pytest.raises(StorageFull), stored_run(address):
            pass
    assert read_manifest(Objects(address)).writer is None
    assert read(fetched_copy(address)) == ["one"]


CHILD = """
import sys, time
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.stored_run import stored_run

with stored_run(StoreAddress.parse(sys.argv[1]), seconds=3600) as run:
    (run.folder / "run.json").write_text("{}\\n")
    (run.folder / "ledger.jsonl").write_text("one\\n")
    print("ready", flush=True)
    time.sleep(600)
"""


def test_sigterm_stores_what_is_there(tmp_path: Path, machine: Machine) -> None:
    address = StoreAddress.parse(f"file://{tmp_path}/bucket/part")
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(address)], stdout=subprocess.PIPE, env={**os.environ}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    assert read_manifest(Objects(address)).writer is None
    machine("second")
    assert read(fetched_copy(address)) == ["one"]
