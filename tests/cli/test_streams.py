"""Data that come through stdin and pipes, and the folders that runs may be written to."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from autoj.runs import RunFolder

from ..scripted import Recorder

ROW = '{"query": "q%d", "responses": ["x", "y"], "label": "A"}\n'
ROWS = "".join(ROW % n for n in range(3)).encode()


@pytest.fixture
def engine(monkeypatch):
    """A scripted judge that notes what it is asked."""
    recorder = Recorder()
    monkeypatch.setattr("autoj.tasks.engine.load_backend", lambda card, **options: recorder)
    return recorder


JUDGE = ("--judge", "scripted:script", "--protocol", "pairwise-verdict")


def piped(content: bytes) -> Path:
    reads, writes = os.pipe()

    def write() -> None:
        with os.fdopen(writes, "wb") as stream:
            stream.write(content)

    threading.Thread(target=write).start()
    return Path(f"/dev/fd/{reads}")


@pytest.fixture
def stdin(monkeypatch):
    """Puts bytes on the process's standard input."""
    kept = os.dup(0)

    def put(content: bytes) -> None:
        path = piped(content)
        os.dup2(int(path.name), 0)
        os.close(int(path.name))

    yield put
    os.dup2(kept, 0)
    os.close(kept)


def test_stdin_is_judged_and_the_same_rows_resume_the_run(run, engine, stdin):
    stdin(ROWS)
    code, _, err = run("judge", "-", *JUDGE)
    assert code == 0, err
    assert "reading stdin as native" in err
    assert "reading stdin to its end" in err
    assert "reading - as" not in err
    (folder,) = Path("runs").iterdir()
    assert folder.name.startswith("stdin-")
    assert [case.label for case in RunFolder.existing(folder).cases()] == ["a"] * 3
    n_asked = len(engine.asked)
    stdin(ROWS)
    code, _, err = run("judge", "/dev/stdin", *JUDGE)
    assert code == 0
    assert "no new requests were needed" in err
    assert len(engine.asked) == n_asked
    # Other rows are another run.
    stdin(ROWS * 2)
    assert run("judge", "-", "--skip-bad-rows", *JUDGE)[0] == 0
    assert len(list(Path("runs").iterdir())) == 2


def test_two_pipes_are_joined(run, engine):
    one, other = (
        piped(b'{"query": "q", "response": "%s"}\n' % text) for text in (b"First.", b"Second.")
    )
    code, _, err = run("judge", "--a", one, "--b", other, *JUDGE, "--out", "r")
    assert code == 0, err
    (case,) = RunFolder.existing(Path("r")).cases()
    assert [response.text for response in case.responses] == ["First.", "Second."]


def test_a_bad_row_of_a_pipe_is_told_with_its_line(run, engine):
    code, _, err = run("judge", piped(ROWS + b"{\n"), *JUDGE)
    assert code == 2
    assert ":4: is not JSON" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["https://example.org/pairs.jsonl", "owner/name"])
def test_addresses_and_names_of_the_hub_are_told(run, engine, name):
    code, _, err = run("judge", name, *JUDGE)
    assert code == 2
    assert "hf-dataset:owner/name" in err


# --- The folder of a run


@pytest.mark.parametrize("command", ["judge", "select", "jury"])
def test_a_folder_of_other_things_is_no_place_for_a_run(run, engine, tmp_path, command):
    (tmp_path / "rows.jsonl").write_bytes(ROWS)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_bytes(b"x")
    jury = ("--judge", "scripted:other") if command == "jury" else ()
    name = "select" if command == "select" else "judge"
    flags = (*JUDGE[:2], *jury) if name == "select" else (*JUDGE, *jury)
    by = ("--by", "pairs") if name == "select" else ()
    code, _, err = run(name, "rows.jsonl", *flags, *by, "--out", "thesis")
    assert code == 2
    assert "--out thesis is no run, and the folder holds other things: 'chapter.tex'" in err
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["chapter.tex"]


def test_an_empty_folder_a_run_and_a_start_that_was_killed_are_places(run, engine, tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(ROWS)
    for there in ([], [".gitignore"], ["run.lock", "holder.json", "cases.jsonl.draft"]):
        place = tmp_path / f"r{len(there)}"
        place.mkdir()
        for name in there:
            (place / name).write_bytes(b"")
        assert run("judge", "rows.jsonl", *JUDGE, "--out", place)[0] == 0
        (place / "notes.txt").write_bytes(b"mine")
        assert run("judge", "rows.jsonl", *JUDGE, "--out", place)[0] == 0


@pytest.mark.parametrize("given", [("--out", ""), ("--out=",)])
def test_an_empty_path_is_not_this_folder(run, engine, tmp_path, given):
    (tmp_path / "rows.jsonl").write_bytes(ROWS)
    code, _, err = run("judge", "rows.jsonl", *JUDGE, *given)
    assert code == 2
    assert "the value of --out is empty" in err
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_an_error_of_the_system_is_told_with_advice(run, engine, tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(ROWS)
    code, _, err = run("judge", "rows.jsonl", *JUDGE, "--out", "x" * 300)
    assert code == 2
    assert "File name too long" in err
    assert "Choose a shorter name" in err
    assert "[Errno" not in err


def test_meta_that_is_nested_deep_is_a_bad_row(run, engine, tmp_path):
    deep = json.loads("[" * 300 + "]" * 300)
    row = {"query": "q", "responses": ["x", "y"], "meta": {"x": deep}}
    (tmp_path / "rows.jsonl").write_bytes(ROWS + json.dumps(row).encode())
    code, _, err = run("judge", "rows.jsonl", *JUDGE)
    assert code == 2
    assert "rows.jsonl:4:meta: is nested deeper than 100 levels" in err
    code, _, err = run("judge", "rows.jsonl", *JUDGE, "--skip-bad-rows")
    assert code == 0
    assert "1 bad rows were left out" in err
