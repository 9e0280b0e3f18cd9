"""Stores without a network: in memory, and in a folder."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fsspec", reason="the extra `stores` is not installed")

import fsspec

from autoj.runs.stores.address import StoreAddress


@pytest.fixture(params=["memory", "file"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreAddress]:
    """The address of a run that is not there yet."""
    root = "/" + uuid.uuid4().hex if request.param == "memory" else str(tmp_path / "bucket")
    yield StoreAddress.parse(f"{request.param}://{root}/runs/part")
    if request.param == "memory":
        fsspec.filesystem("memory").store.clear()


@pytest.fixture(autouse=True)
def without_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files need not outlive a power cut."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Calls that let the test go on as another machine, with an empty disk or its own again."""

    def become(name: str) -> None:
        monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / name))

    become("first")
    return become
