"""Files of one JSON value a line: what is wrong is said with its place, what is torn is mended."""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autoj import inputs, jsonl
from autoj.errors import DataError, StorageFull
from autoj.records import Failure

RECORDS = [Failure(key=f"k{n}", error="E", message="m", retryable=True, attempts=n) for n in (1, 2)]


def rows(path: Path) -> list[tuple[int, dict[str, Any] | DataError]]:
    return list(inputs.read_rows(path))


def write(folder: Path, data: bytes, name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


# --- Files that somebody else wrote


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a": 1}\n{"a": 2}\n', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'{"a": 1}\n{"a": 2}', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'\xef\xbb\xbf{"a": 1}\n', [(1, {"a": 1})]),
        (b'\n  \n\r\n{"a": 1}\r\n\t\n', [(4, {"a": 1})]),
        (b"\xef\xbb\xbf\n", []),
        (b"", []),
        ('{"a": "\u2028é"}\n'.encode(), [(1, {"a": "\u2028é"})]),
    ],
    ids=["lines", "no last newline", "byte-order mark", "blank lines", "only a mark", "empty", "é"],
)
def test_rows_are_read_with_their_line_numbers(
    tmp_path: Path, data: bytes, expected: list[tuple[int, dict[str, Any]]]
) -> None:
    assert rows(write(tmp_path, data)) == expected
    packed = write(tmp_path, gzip.compress(data), "rows.jsonl.gz")
    assert rows(packed) == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a": "\xe9"}', r"is not UTF-8 \(byte 8 of the line is 0xe9\)"),
        (b'{"a": 1', "is not JSON"),
        (b"{'a': 1}", "is not JSON"),
        (b'{"a": NaN}', "is not JSON"),
        (b'{"a": 1e999}', "is not JSON"),
        (b'{"a": "\\ud800"}', "is not JSON"),
        (b'{"a": 1} {"a": 2}', "is not JSON"),
        (b"[1]", "expected a JSON object, found list"),
        (b'"text"', "expected a JSON object, found str"),
        (b"null", "expected a JSON object, found NoneType"),
        (b"[" * 100_000, "is not JSON"),
    ],
)
def test_a_wrong_line_is_an_error_with_its_place_and_the_others_are_read(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    path = write(tmp_path, b'{"a": 1}\n' + line + b'\n{"a": 3}\n')
    first, (number, error), last = rows(path)
    assert (first, number, last) == ((1, {"a": 1}), 2, (3, {"a": 3}))
    assert isinstance(error, DataError)
    assert (error.path, error.line) == (path, 2)
    with pytest.raises(DataError, match=rf"rows\.jsonl:2: {reason}"):
        raise error


def test_a_file_that_is_not_utf_8_says_how_to_convert_it(tmp_path: Path) -> None:
    ((_, error),) = rows(write(tmp_path, '{"a": "é"}'.encode("latin1")))
    assert isinstance(error, DataError)
    assert "iconv" in str(error)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing\.jsonl: there is no such file"):
        rows(tmp_path / "nothing.jsonl")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder, not a file"):
        rows(tmp_path)


# --- One JSON value in a file


@pytest.mark.parametrize("name", ["rows.json", "rows.json.gz"])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'[{"a": 1}, {"a": 2}]', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'\n[\n {"a": 1},\n\n {"a": 2}\n]\n', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'\xef\xbb\xbf[{"a": 1}]', [(1, {"a": 1})]),
        (b"[]", []),
        (b"", []),
        (b'{\n "a": 1\n}', [(1, {"a": 1})]),
        (b'{"a": [{"b": 1}], "c": 2}', [(1, {"a": [{"b": 1}], "c": 2})]),
        (b'{"name": "x", "examples": [{"a": 1}, {"a": 2}]}', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'{"x": [{"a": 1}, {"a": 2}], "y": [{"a": 3}]}', [(n, {"a": n}) for n in (1, 2, 3)]),
        (b'{"a": 1}\n{"a": 2}\n', [(1, {"a": 1}), (2, {"a": 2})]),
        (b"{}", [(1, {})]),
    ],
)
def test_a_json_file_may_be_one_value_or_one_a_line(
    tmp_path: Path, name: str, data: bytes, expected: list[tuple[int, dict[str, Any]]]
) -> None:
    packed = gzip.compress(data) if name.endswith(".gz") else data
    assert rows(write(tmp_path, packed, name)) == expected


def test_an_item_of_a_list_that_is_no_row_is_told_with_its_number(tmp_path: Path) -> None:
    path = write(tmp_path, b'[{"a": 1}, "text", {"a": 3}]', "rows.json")
    first, (number, error), last = rows(path)
    assert (first, number, last) == ((1, {"a": 1}), 2, (3, {"a": 3}))
    assert isinstance(error, DataError)
    assert str(error) == f"{path}:2: expected a JSON object, found str"


@pytest.mark.parametrize(
    "data", [b'[{"a": 1}, {"a"', b'[{"a": 1}]]', b'[{"a": "\xe9"}]', b"[" * 100_000]
)
def test_a_list_that_is_not_whole_is_an_error_of_the_file(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DataError, match=r"rows\.json: is not JSON"):
        rows(write(tmp_path, data, "rows.json"))


def test_a_jsonl_file_is_never_read_as_one_list(tmp_path: Path) -> None:
    ((_, error),) = rows(write(tmp_path, b'[{"a": 1}]', "rows.jsonl"))
    assert isinstance(error, DataError)


PACKED = gzip.compress(b'{"a": 1}\n' * 1000)
DAMAGES = {
    "no gzip at all": b'{"a": 1}\n',
    "cut off": PACKED[:30],
    "no end": PACKED[:-8],
    "damaged inside": PACKED[:12] + bytes(byte ^ 0xFF for byte in PACKED[12:20]) + PACKED[20:],
    "wrong checksum": PACKED[:-8] + bytes(4) + PACKED[-4:],
}


@pytest.mark.parametrize("data", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_gzip_file_is_an_error_of_ours(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DataError, match=r"rows\.jsonl\.gz: the gzip file is damaged or incomplete"):
        rows(write(tmp_path, data, "rows.jsonl.gz"))


# --- Files that we wrote


def test_whole_lines_leave_out_a_torn_one(tmp_path: Path) -> None:
    path = write(tmp_path, b"1\n2\n3")
    assert list(jsonl.whole_lines(path)) == [b"1\n", b"2\n"]
    assert jsonl.count_lines(path) == 2
    assert list(jsonl.whole_lines(tmp_path / "nothing")) == []
    assert jsonl.count_lines(tmp_path / "nothing") == 0


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (b"", b""),
        (b"torn", b""),
        (b"1\n", b"1\n"),
        (b"1\n2\ntorn", b"1\n2\n"),
        (b"1\n" + b"t" * 200_000, b"1\n"),
        (b"t" * 65_536, b""),
        (b"1\n" + b"t" * 65_536, b"1\n"),
        (b"1" * 65_535 + b"\n" + b"t" * 65_536, b"1" * 65_535 + b"\n"),
    ],
)
def test_repairing_cuts_off_what_stands_after_the_last_newline(
    tmp_path: Path, data: bytes, whole: bytes
) -> None:
    path = write(tmp_path, data)
    jsonl.repair(path)
    assert path.read_bytes() == whole
    jsonl.repair(path)
    assert path.read_bytes() == whole


def test_repairing_a_missing_file_makes_none(tmp_path: Path) -> None:
    jsonl.repair(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_appended_records_are_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    for record in RECORDS:
        appender = jsonl.Appender(path)
        appender.append(record)
        # It reached the operating system: another reader sees it before it is closed.
        assert list(jsonl.read_records(path, Failure))[-1] == record
        appender.close()
    assert list(jsonl.read_records(path, Failure)) == RECORDS


def test_a_record_never_continues_a_torn_line(tmp_path: Path) -> None:
    path = write(tmp_path, jsonl.encode(RECORDS[0]) + b'{"key": "to')
    appender = jsonl.Appender(path)
    appender.append(RECORDS[1])
    appender.close()
    assert list(jsonl.read_records(path, Failure)) == RECORDS


class Disk:
    """A disk that takes `room` bytes more, a few at a time, and then no more."""

    def __init__(self, room: int, code: int = errno.ENOSPC) -> None:
        self.room, self.code, self.write = room, code, os.write

    def __call__(self, handle: int, data: bytes) -> int:
        if self.room == 0:
            raise OSError(self.code, os.strerror(self.code))
        taken = self.write(handle, data[: min(self.room, 7)])
        self.room -= taken
        return taken


def test_a_write_that_takes_only_parts_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    appender = jsonl.Appender(tmp_path / "ledger.jsonl")
    monkeypatch.setattr(os, "write", Disk(room=1_000_000))
    for record in RECORDS:
        appender.append(record)
    assert list(jsonl.read_records(tmp_path / "ledger.jsonl", Failure)) == RECORDS
    appender.close()


@pytest.mark.parametrize("room", [0, 1, 20])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_keeps_whole_lines_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, code: int
) -> None:
    path = tmp_path / "ledger.jsonl"
    appender = jsonl.Appender(path)
    appender.append(RECORDS[0])
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", Disk(room, code))
        with pytest.raises(StorageFull, match=r"ledger\.jsonl: the disk is full"):
            appender.append(RECORDS[1])
    assert path.read_bytes() == jsonl.encode(RECORDS[0])
    appender.append(RECORDS[1])
    appender.close()
    assert list(jsonl.read_records(path, Failure)) == RECORDS


def test_another_error_of_the_disk_stays_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    appender = jsonl.Appender(tmp_path / "ledger.jsonl")
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", Disk(3, errno.EIO))
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            appender.append(RECORDS[0])
    appender.close()
    assert (tmp_path / "ledger.jsonl").read_bytes() == b""


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    assert jsonl.write_records(path, RECORDS) == 2
    assert list(jsonl.read_records(path, Failure)) == RECORDS
    assert jsonl.write_records(path, []) == 0
    assert path.read_bytes() == b""
    assert [item.name for item in tmp_path.iterdir()] == ["verdicts.jsonl"]


@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyboardInterrupt()])
def test_a_file_that_could_not_be_written_whole_stays_as_it_was(
    tmp_path: Path, error: BaseException
) -> None:
    def broken() -> Iterator[Failure]:
        yield RECORDS[0]
        raise error

    path = write(tmp_path, b"old\n")
    with pytest.raises(type(error)):
        jsonl.write_records(path, broken())
    assert path.read_bytes() == b"old\n"
    assert [item.name for item in tmp_path.iterdir()] == ["rows.jsonl"]


@pytest.mark.parametrize("place", ["nowhere/rows.jsonl", "file/rows.jsonl", "folder"])
def test_a_place_that_takes_nothing_is_told(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    path = tmp_path / place
    with pytest.raises(DataError) as raised:
        jsonl.write_records(path, RECORDS)
    assert str(raised.value).startswith(f"{path}: cannot be written: ")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "folder"]


def test_a_file_that_the_disk_has_no_room_for_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    path = write(tmp_path, b"old\n")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFull):
        jsonl.write_records(path, RECORDS)
    assert path.read_bytes() == b"old\n"
    assert [item.name for item in tmp_path.iterdir()] == ["rows.jsonl"]
