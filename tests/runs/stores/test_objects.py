"""The seam to fsspec: its errors, and the two ways of writing."""

from __future__ import annotations

import errno
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from autoj.errors import ConfigError, MissingExtra, StorageFull, Unavailable
from autoj.runs.stores import objects as seam
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.objects import Absent, Objects, persistently


def test_what_is_written_is_read_and_listed(address: StoreAddress) -> None:
    objects = Objects(address)
    assert objects.names() == []
    with pytest.raises(Absent):
        objects.read("one")
    objects.write("one", io.BytesIO(b"1"))
    objects.write("one", io.BytesIO(b"2"))
    Objects(address / "below").write("two", io.BytesIO(b""))
    assert (objects.read("one"), objects.names()) == (b"2", ["below", "one"])
    assert (objects.holds("one"), objects.holds("two")) == (True, False)
    for _ in range(2):
        objects.remove("one")
    assert objects.names() == ["below"]


def test_the_first_of_two_creators_wins(address: StoreAddress) -> None:
    objects = Objects(address)
    objects.create("mark", b"first")
    Objects(address).create("mark", b"second")
    assert objects.read("mark") == b"first"


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(ConfigError, match="needs the package s3fs, which is not") as caught:
        Objects(StoreAddress.parse("s3://bucket/x"))
    assert caught.value.hint == "pip install s3fs"
    with pytest.raises(ConfigError, match="fsspec knows no store 'nowhere'"):
        Objects(StoreAddress.parse("nowhere://bucket/x"))
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtra):
        Objects(StoreAddress.parse("memory://bucket/x"))


class NoCredentialsError(Exception):
    """As botocore's."""


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (NoCredentialsError("Unable to locate credentials"), ConfigError, "may not be used"),
        (PermissionError("Access Denied"), ConfigError, "may not be used"),
        (FileNotFoundError("The specified bucket does not exist"), ConfigError, "cannot be writ"),
        (ConnectionError("refused"), Unavailable, "cannot be reached"),
        (TimeoutError(), Unavailable, "cannot be reached: TimeoutError"),
        (RuntimeError("what a store's package may raise"), Unavailable, "cannot be reached"),
    ],
)
def test_errors_of_stores_become_ours(
    address: StoreAddress, error: Exception, kind: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = Objects(address)

    def fail(*given: Any, **named: Any) -> Any:
        raise error

    monkeypatch.setattr(objects._system, "exists", fail)
    with pytest.raises(kind, match=said) as caught:
        objects.holds("x")
    assert str(address) in caught.value.message


@pytest.mark.parametrize(
    ("said", "secret"),
    [
        ("cannot connect to https://user:s3cr3t@host:9000/x", "s3cr3t"),
        ("403, url='https://account.blob.core.windows.net/x?sv=2&sig=s3cr3t'", "s3cr3t"),
        ("bad settings: AccountName=a;AccountKey=s3cr3t==;Suffix=x", "s3cr3t"),
        ('{"access_token": "s3cr3t", "scope": 1}', "s3cr3t"),
    ],
)
def test_keys_in_a_stores_words_are_not_passed_on(said: str, secret: str) -> None:
    address = StoreAddress.parse("memory:///bucket/part")
    with pytest.raises(Unavailable) as caught, seam._told(address):
        raise RuntimeError(said)
    assert secret not in str(caught.value)
    assert "cannot be reached: RuntimeError: " in caught.value.message


def test_a_page_in_place_of_an_answer_is_shortened() -> None:
    with pytest.raises(Unavailable) as caught, seam._told(StoreAddress.parse("memory:///b/part")):
        raise RuntimeError("<html>\n" * 9999)
    assert len(caught.value.message) < 700
    assert "\n" not in caught.value.message


def test_a_folder_that_cannot_be_written_is_no_matter_of_keys(tmp_path: Path) -> None:
    address = StoreAddress.parse(f"file://{tmp_path}/bucket/part")
    for error, kind in (
        (PermissionError(errno.EACCES, "Permission denied"), ConfigError),
        (OSError(errno.ENOSPC, "No space left on device"), StorageFull),
    ):
        with pytest.raises(kind) as caught, seam._told(address):
            raise error
        assert "AWS" not in str(caught.value)


def test_a_file_in_the_way_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "bucket").write_text("")
    objects = Objects(StoreAddress.parse(f"file://{tmp_path}/bucket/part"))
    with pytest.raises(ConfigError, match="cannot be used"):
        objects.create("x", b"")


def test_a_kind_of_store_that_needs_a_host_is_a_user_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def filesystem(scheme: str, **options: Any) -> None:
        raise TypeError("missing 1 required positional argument: 'host'")

    monkeypatch.setattr("fsspec.filesystem", filesystem)
    with pytest.raises(ConfigError, match="'sftp' needs more than an address"):
        Objects(StoreAddress.parse("sftp://host/runs/part"))


def test_a_local_object_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    class Breaks(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell():
                raise KeyboardInterrupt
            return super().read(2)

    objects = Objects(StoreAddress.parse(f"file://{tmp_path}/bucket/part"))
    objects.write("one", io.BytesIO(b"whole"))
    with pytest.raises(KeyboardInterrupt):
        objects.write("one", Breaks(b"whole"))
    assert (objects.read("one"), objects.names()) == (b"whole", ["one"])


def test_of_a_longer_object_only_the_beginning_is_read(address: StoreAddress) -> None:
    objects = Objects(address)
    objects.write("long", io.BytesIO(bytes(5 << 20)))
    objects.copy_to("long", target := io.BytesIO(), 10)
    assert 10 < len(target.getvalue()) <= 1 << 20
    assert objects.read("long", 10) == bytes(10)


def test_a_local_file_that_cannot_be_written_is_not_the_stores_fault(
    address: StoreAddress,
) -> None:
    class Full(io.BytesIO):
        def write(self, content: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    objects = Objects(address)
    objects.create("x", b"x")
    with pytest.raises(OSError, match="No space left"):
        objects.copy_to("x", Full(), 1)


def test_a_store_that_comes_back_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seam, "_WAITS_SECONDS", (0, 0))
    n_calls = 0

    def call(works_at: int) -> int:
        nonlocal n_calls
        n_calls += 1
        if n_calls < works_at:
            raise Unavailable("down")
        return n_calls

    assert persistently(lambda: call(3)) == 3
    n_calls = 0
    with pytest.raises(Unavailable):
        persistently(lambda: call(4))
    assert n_calls == 3
