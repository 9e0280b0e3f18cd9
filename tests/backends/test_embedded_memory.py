"""Memory that is left, and an engine that does without one of its halves."""

from __future__ import annotations

import mmap
import os
import sys
import threading
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from autoj.backends._choices import build_trie
from autoj.backends.embedded import engine, memory, model
from autoj.backends.embedded.inputs import lay_out
from autoj.backends.embedded.memory import available_bytes, check_memory
from autoj.errors import BackendError, NoRoom

GIB = 2**30


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with 8 GiB available whose control groups are in a folder of the test's."""
    pytest.importorskip("psutil")
    free = type("Memory", (), {"available": 8 * GIB})
    monkeypatch.setattr("psutil.virtual_memory", lambda: free)
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(memory, "_GROUPS", tmp_path / "groups")
    (tmp_path / "groups").write_text("0::/job\n")
    return tmp_path


def limit(folder: Path, most: str, used: int, cached: int, mapped: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "memory.max").write_text(most)
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 7\ninactive_file {cached}\nactive_file {mapped}\n")


def test_without_limits_all_that_is_free_is_available(machine):
    assert available_bytes() == 8 * GIB
    limit(machine, "max\n", 5, 5)
    assert available_bytes() == 8 * GIB


def test_a_containers_limit_counts_without_its_caches_of_files(machine):
    limit(machine, str(4 * GIB), 3 * GIB, 2 * GIB)
    assert available_bytes() == 3 * GIB


def test_pages_of_files_that_are_in_use_are_no_memory_taken(machine):
    limit(machine, str(4 * GIB), 4 * GIB, 1 * GIB, 2 * GIB)
    assert available_bytes() == 3 * GIB


def test_the_least_of_nested_limits_counts(machine):
    limit(machine, str(6 * GIB), 0, 0)
    limit(machine / "job", str(5 * GIB), 1 * GIB, 0)
    assert available_bytes() == 4 * GIB


def test_limits_of_the_older_layout_count(machine):
    (machine / "groups").write_text("4:memory:/old\n3:cpuset:/\n")
    folder = machine / "memory" / "old"
    folder.mkdir(parents=True)
    (folder / "memory.limit_in_bytes").write_text(str(2 * GIB))
    (folder / "memory.usage_in_bytes").write_text(str(GIB))
    assert available_bytes() == GIB
    (folder / "memory.stat").write_text(
        "inactive_file 5\nactive_file 5\ntotal_inactive_file 1\ntotal_active_file 2\n"
    )
    assert available_bytes() == GIB + 3


@pytest.mark.skipif(sys.platform == "win32", reason="names there are no bytes")
def test_a_group_of_any_name_is_found(machine):
    name = b"job-\xe9-\xe2\x80\xa8"
    (machine / "groups").write_bytes(b"0::/" + name + b"\n")
    limit(machine / os.fsdecode(name), str(3 * GIB), 0, 0)
    assert available_bytes() == 3 * GIB


def test_what_does_not_fit_is_refused_with_a_judge_that_does(machine):
    check_memory(8 * GIB, "judge 'large'")
    with pytest.raises(NoRoom, match=r"judge 'large' takes 9\.7 GB .* 8\.6 GB are") as refused:
        check_memory(9 * GIB, "judge 'large'")
    assert "--judge embedded-small" in str(refused.value.hint)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A converted model of 2 GiB in 8 bits, by its size alone."""
    folder = tmp_path / "openvino"
    folder.mkdir()
    (folder / "openvino_model.xml").write_text('<data element_type="u8" shape="2, 3"/>')
    with (folder / "openvino_model.bin").open("wb") as stream:
        stream.truncate(2 * GIB)
    return folder


def halves(folder: Path, monkeypatch: pytest.MonkeyPatch, left: int) -> engine.EmbeddedBackend:
    """An engine with both halves, on a machine with so much left beside both."""
    backend = object.__new__(engine.EmbeddedBackend)
    backend._folder, backend.card = folder, type("Card", (), {"name": "large"})
    backend._choice_model, backend._writer = object(), object()
    backend._has_changed = True

    def left_now() -> int:
        held = backend._choice_model is not None and backend._writer is not None
        return left if held else 8 * GIB

    monkeypatch.setattr(engine, "available_bytes", left_now)
    monkeypatch.setattr(memory, "available_bytes", left_now)
    return backend


def held(backend: engine.EmbeddedBackend) -> tuple[bool, bool]:
    return backend._choice_model is not None, backend._writer is not None


@pytest.mark.parametrize(("left", "freed"), [(8 * GIB, False), (2 * GIB, True)])
@pytest.mark.parametrize("writing", [True, False])
def test_who_changes_often_loses_the_other_half_only_where_both_do_not_fit(
    folder, monkeypatch, left, freed, writing
):
    backend = halves(folder, monkeypatch, left)
    backend._make_room(writing=writing)
    assert held(backend) == ((not freed, True) if writing else (True, not freed))


@pytest.mark.parametrize("writing", [True, False])
def test_the_first_change_frees_what_a_run_is_done_with(folder, monkeypatch, writing):
    backend = halves(folder, monkeypatch, 8 * GIB)
    backend._has_changed = False
    backend._make_room(writing=writing)
    assert held(backend) == (not writing, writing)
    backend._choice_model = backend._writer = object()
    backend._make_room(writing=not writing)
    assert held(backend) == (True, True)


def test_a_half_that_comes_first_is_no_change(folder, monkeypatch):
    backend = halves(folder, monkeypatch, 8 * GIB)
    backend._choice_model, backend._has_changed = None, False
    backend._make_room(writing=True)
    assert not backend._has_changed


@pytest.mark.skipif(sys.platform != "linux", reason="pages are given back on Linux alone")
def test_pages_of_a_mapped_file_are_given_back_and_read_again(tmp_path):
    path = tmp_path / "weights.bin"
    path.write_bytes(b"weight\n!" * 2**17)
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as pages:
        assert pages[:].count(b"\n") == 2**17
        assert resident_kib(path) == 1024
        memory.release_pages(path)
        assert resident_kib(path) == 0
        assert pages[:8] == b"weight\n!"


@pytest.mark.skipif(sys.platform != "linux", reason="pages are given back on Linux alone")
@pytest.mark.parametrize(
    "name",
    [b"mod\xe8les", "one\u2028two \x85 three".encode(), b"two\nlines", b" spaces  inside "],
)
def test_pages_are_given_back_beside_a_file_of_any_name(tmp_path, name):
    other = tmp_path / os.fsdecode(name)
    path = tmp_path / "weights.bin"
    for file in (other, path):
        file.write_bytes(b"weight\n!" * 2**17)
    with (
        other.open("rb") as beside,
        mmap.mmap(beside.fileno(), 0, prot=mmap.PROT_READ) as kept,
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as pages,
    ):
        assert kept[:] == pages[:]
        memory.release_pages(path)
        assert resident_kib(path) == 0
        memory.release_pages(other)
        if b"\n" not in name:
            assert resident_kib(other) == 0
        assert kept[:] == pages[:]


@pytest.mark.skipif(sys.platform != "linux", reason="pages are given back on Linux alone")
def test_pages_that_a_program_may_write_are_left_alone(tmp_path):
    path = tmp_path / "weights.bin"
    path.write_bytes(b"before")
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, mmap.MAP_PRIVATE) as pages:
        pages[:6] = b"after!"
        memory.release_pages(path)
        assert pages[:6] == b"after!"


def resident_kib(file: Path) -> int:
    """KiB of a file that this process has in memory through its mappings; it must have some."""
    lines = Path("/proc/self/smaps").read_bytes().split(b"\n")
    named = b" " + os.fsencode(file)
    starts = [number for number, line in enumerate(lines) if line.endswith(named)]
    assert starts
    sizes = [next(line for line in lines[start:] if line.startswith(b"Rss:")) for start in starts]
    return sum(int(size.split()[1]) for size in sizes)


def test_a_long_prompt_needs_no_second_array_of_its_masks_size():
    trie = build_trie([[*range(1500), 1, 9], [*range(1500), 2, 0]])
    tracemalloc.start()
    try:
        mask = lay_out([trie]).mask
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert mask.shape == (1, 1, 1504, 1504)
    assert mask.nbytes == 4 * 1504**2
    assert peak_bytes < 1.1 * mask.nbytes


def test_a_token_attends_to_what_is_before_it_and_a_node_to_its_ancestors():
    long = build_trie([[7, 8, 1, 9], [7, 8, 1, 0, 9], [7, 8, 2, 9]])
    short = build_trie([[7, 1, 9], [7, 2]])
    mask = lay_out([long, short]).mask
    assert mask.dtype == np.float32
    assert set(mask[mask != 0]) == {-np.inf}
    assert (mask[:, 0, :, 5:] == -np.inf).all(), "nothing attends to what pads"
    assert (mask[:, 0, :5, :5] == 0).astype(int).tolist() == [
        # 7, 8, then the nodes 1, 1 0 and 2; 7, then the node 1, and tokens that pad.
        [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 0, 0, 1]],
        [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0]],
    ]


def test_a_model_in_16_bits_takes_more_than_its_file(folder):
    assert model.loaded_bytes(folder) == pytest.approx(0.97 * 2 * GIB + 5e8)
    (folder / "openvino_model.xml").write_text(
        '<data element_type="u8" shape="2, 3"/><data element_type="f16" shape="2, 1"/>'
    )
    assert model.loaded_bytes(folder) == pytest.approx(1.1 * 2 * GIB + 5e8)
    (folder / "openvino_model.xml").write_text('<data element_type="f16" shape="2, 3"/>')
    assert model.loaded_bytes(folder) == pytest.approx(2.2 * 2 * GIB + 5e8)


@pytest.mark.skipif(sys.platform != "linux", reason="pages are given back on Linux alone")
def test_no_model_is_loaded_or_freed_while_pages_are_given_back(folder, monkeypatch):
    backend = halves(folder, monkeypatch, 8 * GIB)
    listed, go_on = threading.Event(), threading.Event()

    def slow(_: Path) -> list[tuple[int, int]]:
        listed.set()
        assert go_on.wait(10)
        return []

    monkeypatch.setattr(memory, "_mappings", slow)
    giving_back = threading.Thread(target=memory.release_pages, args=[folder])
    closing = threading.Thread(target=backend.close)
    giving_back.start()
    assert listed.wait(10)
    closing.start()
    closing.join(0.05)
    assert held(backend) == (True, True)
    go_on.set()
    closing.join(10)
    giving_back.join(10)
    assert held(backend) == (False, False)


@pytest.mark.parametrize("writing", [True, False])
def test_a_half_is_loaded_and_the_other_freed_under_the_lock(folder, monkeypatch, writing):
    backend = halves(folder, monkeypatch, 2 * GIB)
    taken: list[bool] = []

    def load(*_: object) -> None:
        taken.append(memory.MAPPING.locked())
        raise RuntimeError("no such model")

    monkeypatch.setattr(engine, "ChoiceModel", load)
    monkeypatch.setattr(backend, "_load_writer", load, raising=False)
    backend._choice_model = None if not writing else backend._choice_model
    backend._writer = None if writing else backend._writer
    fields = {"choices": None if writing else (" a", " b"), "proofreading": None, "opening": ""}
    asked = [type("Request", (), fields)]
    with pytest.raises(BackendError, match="no such model"):
        list(backend.complete(asked))
    assert taken == [True]
    assert not memory.MAPPING.locked()


def test_what_a_failed_load_left_is_freed_before_its_error_is_told(folder, monkeypatch):
    backend = halves(folder, monkeypatch, 8 * GIB)
    backend._choice_model = None
    parts: list[weakref.ref[object]] = []

    def load(_: Path) -> None:
        part = type("Model", (), {})()
        parts.append(weakref.ref(part))
        raise RuntimeError("no such model")

    monkeypatch.setattr(engine, "ChoiceModel", load)
    with pytest.raises(BackendError) as failed:
        list(backend.complete([type("Request", (), {"choices": (" a", " b")})]))
    assert failed.value.__cause__ is not None
    assert parts[0]() is None


def test_engines_that_load_and_free_at_once_do_not_wait_for_each_other_for_ever(
    folder, monkeypatch
):
    monkeypatch.setattr(engine, "ChoiceModel", lambda _: type("Model", (), {"read": list})())
    monkeypatch.setattr(engine, "in_batches", lambda _: [[]])
    backends = [halves(folder, monkeypatch, 8 * GIB) for _ in range(4)]

    def work(backend: engine.EmbeddedBackend) -> None:
        for _ in range(20):
            backend.close()
            assert list(backend._score([])) == []

    with ThreadPoolExecutor(4) as pool:
        for worked in [pool.submit(work, backend) for backend in backends]:
            worked.result(timeout=30)


def test_an_engine_without_memory_names_a_judge_that_takes_less(folder, monkeypatch):
    backend = object.__new__(engine.EmbeddedBackend)
    backend.card = type("Card", (), {"name": "large"})

    def score(_: object) -> object:
        raise RuntimeError("[CPU] Check 'ptr' failed: Failed to allocate 13787136 bytes of memory")

    monkeypatch.setattr(backend, "_score", score)
    asked = [type("Request", (), {"choices": (" a", " b")})]
    with pytest.raises(NoRoom, match="judge 'large' ran out of memory") as refused:
        list(backend.complete(asked))
    assert "--judge embedded-small" in str(refused.value.hint)
