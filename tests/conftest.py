"""What tests of several folders share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis.strategies import just

pytest_plugins = ["tests.embedded", "tests.scripted"]

# Workers share the cores: threads of one that wait for each other take time from the other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Cards of tests name this module as their engine.
os.environ.setdefault("AUTOJ_PLUGINS", "tests.frozen.script")

_MANY_MODULES = 100
"""So many new ones are a library, and not a module of ours."""
_NUMBERS = count()
_REPOSITORY = Path(__file__).resolve().parent.parent

# The same examples on each machine, however busy it is; --hypothesis-profile=search looks further.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=1000, deadline=None)
settings.load_profile("repeatable")


def _unsynced(handle: int) -> None:
    """Stands in for `os.fsync`, for which a test that writes runs waits longer than it computes.

    No test takes the machine's power away: a killed process leaves its files to the system, synced
    or not. Programs that tests start do sync.
    """
    os.fstat(handle)


os.fsync = _unsynced


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Looks for no garbage while 9,000 tests are made, nor among them afterwards."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        _seed_numpy()
        _Kept.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Looks for no garbage among libraries that a test has imported."""
    if len(sys.modules) > _Kept.n_modules + _MANY_MODULES:
        gc.collect()
        _Kept.freeze()


class _Kept:
    """What lives as long as the process: garbage is looked for among the rest.

    A training looks for garbage twice: among a million objects, nine tenths of its time.
    """

    n_modules = 0

    @classmethod
    def freeze(cls) -> None:
        gc.freeze()
        cls.n_modules = len(sys.modules)


def _seed_numpy() -> None:
    """Has Hypothesis take hold of numpy's random state, which it does at the first test.

    Until 6.100 it then looks for what refers to it, finds nothing among what is frozen, and warns.
    """

    @given(just(None))
    @settings(max_examples=1, database=None)
    def nothing(_: None) -> None:
        pass

    nothing()


@pytest.fixture(autouse=True)
def answers_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of answers that runs reuse: one of the test's own, and not the user's."""
    folder = tmp_path_factory.getbasetemp() / f"answers-{next(_NUMBERS)}"
    monkeypatch.setattr("autoj.runs.cache.answers_folder", lambda: folder)
    return folder


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets: `AUTOJ_DATA`, else `../shared/data`; skips without it."""
    folder = Path(os.environ.get("AUTOJ_DATA", _REPOSITORY.parent / "shared" / "data"))
    if not (folder / "autoj").is_dir():
        pytest.skip(f"no real data: {folder} has no autoj/ (set AUTOJ_DATA to the data folder)")
    return folder
