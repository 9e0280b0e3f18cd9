"""Paths that lead nowhere are told with what may have been meant, and errors with advice."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.errors import DataError, StorageFull, UserError
from autoj.inputs import cannot_read
from autoj.jsonl import write_records
from autoj.system_errors import storage_error, system_error


@pytest.mark.parametrize(
    ("path", "reason", "hint"),
    [
        (
            "https://huggingface.co/datasets/a/b/resolve/main/x.json",
            "address of a",
            "hf-dataset:a/b",
        ),
        ("hf://datasets/a/b/x.parquet", "address of a data set", "hf-dataset:a/b"),
        ("https://example.org/pairs.jsonl", "is an address, not a file", "Download it first"),
        ("s3://bucket/pairs.jsonl", "is an address, not a file", "Download it first"),
        ("allenai/reward-bench", "there is no such file", "hf-dataset:allenai/reward-bench"),
        ("allenai/pairs.jsonl", "there is no such file", None),
        ("pairs", "there is no such file", None),
    ],
)
def test_a_path_that_is_no_file_is_told_with_what_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, reason: str, hint: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as told:
        open_cases(Path(path))
    assert reason in told.value.reason
    assert (hint or "None") in str(told.value.hint)
    assert path.partition("/")[0] in str(told.value)


def test_a_name_in_a_folder_that_is_here_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    with pytest.raises(DataError) as told:
        open_cases(Path("data/pairs"))
    assert told.value.hint is None


def test_a_folder_is_told_with_a_file_in_it(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"{}\n")
    with pytest.raises(DataError, match="is a folder, not a file") as told:
        open_cases(tmp_path)
    assert told.value.hint == f"Name a file in it, such as {tmp_path / 'rows.jsonl'}"
    (tmp_path / "run.json").write_bytes(b"{}")
    with pytest.raises(DataError) as told:
        open_cases(tmp_path)
    assert f"autoj show {tmp_path}" in str(told.value.hint)


def test_devices_are_not_read_for_ever() -> None:
    with pytest.raises(DataError, match="is a device or a socket, not a file"):
        open_cases(Path("/dev/zero"))
    with pytest.raises(DataError, match="is empty"):
        open_cases(Path("/dev/null"))


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.ENOSPC, "Free some space"),
        (errno.ENAMETOOLONG, "Choose a shorter name"),
        (errno.EMFILE, "ulimit -n"),
        (errno.EACCES, "ls -ld"),
        (errno.EIO, "has failed"),
    ],
)
def test_errors_of_the_system_have_advice(code: int, advice: str) -> None:
    error = OSError(code, "said by the system", "place")
    ours = system_error(error)
    assert isinstance(ours, UserError)
    assert (ours.message, isinstance(ours, StorageFull)) == (
        "place: said by the system", code == errno.ENOSPC,
    )  # fmt: skip
    assert advice in str(ours.hint)
    assert "[Errno" not in str(ours)
    assert advice in str(cannot_read(error, Path("place")).hint)


def test_a_name_that_is_too_long_to_write_has_advice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="File name too long") as told:
        write_records(tmp_path / ("x" * 300), [])
    assert "shorter name" in str(told.value.hint)
    full = storage_error(OSError(errno.EMFILE, "Too many open files"), tmp_path)
    assert isinstance(full, DataError)
    assert "ulimit -n" in str(full.hint)


def test_a_name_that_is_too_long_to_read_has_advice() -> None:
    with pytest.raises(DataError, match="File name too long") as told:
        open_cases(Path("x" * 300 + ".jsonl"))
    assert "shorter name" in str(told.value.hint)
