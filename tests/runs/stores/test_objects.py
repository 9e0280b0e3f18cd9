"""The seam to fsspec: its errors, and the two ways of writing."""

from __future__ import annotations

import errno
import io
import sys
from typing import Any

import pytest

from autoj.errors import ConfigError, MissingExtra, Unavailable
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

    monkeypatch.setattr(objects._system, "open", fail)
    with pytest.raises(kind, match=said) as caught:
        objects.write("x", io.BytesIO(b"x"))
    assert str(address) in caught.value.message


def test_a_local_file_that_cannot_be_written_is_not_the_stores_fault(
    address: StoreAddress,
) -> None:
    class Full(io.BytesIO):
        def write(self, content: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    objects = Objects(address)
    objects.create("x", b"x")
    with pytest.raises(OSError, match="No space left"):
        objects.copy_to("x", Full())


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
