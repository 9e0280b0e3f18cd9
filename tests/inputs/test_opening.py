"""Streams are read once, as files of the kind that their first bytes show."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autoj.datasets import open_cases, open_queries
from autoj.errors import DataError
from autoj.inputs import is_stream, local_file, stream_name
from autoj.inputs.faults import ending_of
from autoj.records import Case

ROW = b'{"query": "q", "responses": ["x", "y"], "label": "a"}\n'
TABLE = b"query,response_a,response_b\nq,x,y\n"


@pytest.fixture
def pipe() -> Iterator[Callable[[bytes], Path]]:
    """Makes a pipe as a shell's `<(…)` does, into which a thread writes."""
    ends: list[int] = []
    writers: list[threading.Thread] = []

    def make(content: bytes) -> Path:
        reads, writes = os.pipe()
        ends.append(reads)

        def write() -> None:
            with os.fdopen(writes, "wb") as stream:
                stream.write(content)

        writers.append(threading.Thread(target=write))
        writers[-1].start()
        return Path(f"/dev/fd/{reads}")

    yield make
    for writer in writers:
        writer.join()
    for end in ends:
        os.close(end)


def cases_of(path: Path) -> list[Case]:
    found = [row.case for row in open_cases(path).read()]
    assert all(isinstance(case, Case) for case in found)
    return [case for case in found if isinstance(case, Case)]


@pytest.mark.parametrize(
    ("content", "n_cases"),
    [
        (ROW * 3, 3),
        (gzip.compress(ROW * 3, mtime=0), 3),
        (b"\xef\xbb\xbf" + ROW, 1),
        (b"[" + ROW + b"]", 1),
        (b'{\n"query": "q",\n"response": "r"}', 1),
        (TABLE, 1),
        (gzip.compress(TABLE, mtime=0), 1),
        (TABLE.replace(b",", b";"), 1),
        (TABLE.replace(b",", b"\t"), 1),
        (ROW * 20_000, 20_000),
    ],
)
def test_a_pipe_is_read_whatever_it_holds(
    pipe: Callable[[bytes], Path], content: bytes, n_cases: int
) -> None:
    path = pipe(content)
    assert (is_stream(path), stream_name(path)) == (True, "pipe")
    # More than once, as a file is.
    assert len(cases_of(path)) == len(cases_of(path)) == n_cases
    assert open_cases(path).name == "pipe"


def test_parquet_comes_through_a_pipe(pipe: Callable[[bytes], Path], tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "rows.parquet"
    parquet.write_table(arrow.Table.from_pylist([{"query": "q", "response": "r"}]), file)
    assert len(cases_of(pipe(file.read_bytes()))) == 1


def test_queries_a_line_come_through_a_pipe(pipe: Callable[[bytes], Path]) -> None:
    opened = open_queries(pipe(b"Why?\nHow?\n"))
    assert opened.format == "a query a line"
    assert len(list(opened.read())) == 2


def test_a_bad_row_is_told_by_the_path_that_was_given(pipe: Callable[[bytes], Path]) -> None:
    path = pipe(ROW + b'{"query"\n')
    _, (line, error) = open_cases(path).read()
    assert isinstance(error, DataError)
    assert (error.path, error.line, line) == (path, 2, 2)


def test_a_named_pipe_is_read_and_its_name_says_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TABLE,))
    writer.start()
    opened = open_cases(path)
    writer.join()
    assert (opened.name, opened.format, len(list(opened.read()))) == ("pairs", "table", 1)


def test_a_stream_without_end_is_cut_off(
    pipe: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOJ_MAX_STREAM_MB", "1")
    path = pipe(ROW * 40_000)
    with pytest.raises(DataError, match="sends more than 1 MB") as told:
        open_cases(path)
    assert "AUTOJ_MAX_STREAM_MB" in str(told.value.hint)
    # The writer waits until all is read.
    while os.read(int(path.name), 1 << 20):
        pass


def test_an_empty_stream_is_an_empty_file(pipe: Callable[[bytes], Path]) -> None:
    with pytest.raises(DataError, match="is empty"):
        open_cases(pipe(b""))


def test_a_terminal_is_not_waited_for() -> None:
    main, other = os.openpty()
    try:
        with pytest.raises(DataError, match="is a terminal") as told:
            open_cases(Path(f"/dev/fd/{other}"))
    finally:
        os.close(main)
        os.close(other)
    assert "zcat pairs.jsonl.gz | autoj judge -" in str(told.value.hint)


def test_a_descriptor_that_is_closed_is_told() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    os.close(writes)
    with pytest.raises(DataError, match="cannot be read: Bad file descriptor"):
        open_cases(Path(f"/dev/fd/{reads}"))


def test_files_are_no_streams(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ROW)
    assert not is_stream(path)
    assert not is_stream(tmp_path / "nothing")
    assert local_file(path) == path


@pytest.mark.parametrize(
    ("head", "ending"),
    [
        (b"", ".txt"), (b"plain words\n", ".txt"), (b"PAR1xx", ".parquet"),
        (b"PK\x03\x04", ".xlsx"),
        (b"\xff\xfeq\x00", ".csv"), (b'  \n{"a": 1}\n', ".jsonl"), (b'{"a": [\n1]}', ".json"),
        (b'{"a": 1', ".jsonl"), (b"a\tb\n", ".tsv"), (b"a;b\n", ".csv"),
    ],
)  # fmt: skip
def test_the_first_bytes_say_the_kind(head: bytes, ending: str) -> None:
    assert ending_of(head) == ending
