"""Errors say what to do: the nearest names, and the command that adds an extra here."""

from __future__ import annotations

import importlib.metadata
import json
from typing import Any

import pytest

from autoj import errors
from autoj.errors import MissingExtra, UnknownComponent, install_command
from autoj.scenarios import scenario_names


class Installed:
    """The record of an installation."""

    def __init__(self, found: Any) -> None:
        self._found = found

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self._found is None else json.dumps(self._found)


@pytest.mark.parametrize(
    ("found", "command"),
    [
        (None, "pip install 'autoj[train]'"),
        (
            {"url": "file:///home/me/my%20code/autoj", "dir_info": {"editable": True}},
            "pip install -e '/home/me/my code/autoj[train]'",
        ),
        ({"url": "file:///src/autoj", "dir_info": {}}, "pip install '/src/autoj[train]'"),
        (
            {"url": "file:///dist/autoj-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip install 'autoj[train] @ file:///dist/autoj-0.1.0-py3-none-any.whl'",
        ),
        (
            {
                "url": "https://example.org/autoj.git",
                "vcs_info": {"vcs": "git", "commit_id": "abc"},
            },
            "pip install 'autoj[train] @ git+https://example.org/autoj.git@abc'",
        ),
    ],
)
def test_an_extra_is_installed_from_where_the_package_was(found, command, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed(found))
    assert install_command("train") == command
    assert MissingExtra("train", "training", note="see there").hint == f"{command}  (see there)"


def test_a_clone_that_is_run_by_its_path_is_installed_from_there(monkeypatch, tmp_path):
    def absent(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", absent)
    assert install_command("hf").endswith("[hf]'")
    assert install_command("hf").startswith("pip install -e ")
    monkeypatch.setattr(errors, "_CLONE", tmp_path)
    assert install_command("hf") == "pip install 'autoj[hf]'"


@pytest.mark.parametrize(
    ("kind", "name", "known", "hint"),
    [
        ("judge", "embeded", ["embedded", "gpt-4"], "Did you mean embedded?"),
        ("wrapper", "xyz", ["b", "a"], "Available: a, b."),
        ("case", "xyz", map(str, range(100, 1300)), "1000, 1001, 1002, 1003 and 1,195 more."),
        ("scenario", "xyz", [f"s{n}" for n in range(58)], "53 more; autoj scenarios lists them."),
        ("data set", "xyz", [f"d{n}" for n in range(30)], "25 more; autoj data list lists them."),
    ],
)  # fmt: skip
def test_a_wrong_name_gets_the_near_ones_or_a_few(kind, name, known, hint):
    error = UnknownComponent(kind, name, known)
    assert error.message == f"there is no {kind} {name!r}"
    assert str(error.hint).endswith(hint)


def test_no_scenario_is_near_and_not_all_are_printed():
    error = UnknownComponent("scenario", "zzzzzz", scenario_names())
    assert sum(name in str(error) for name in scenario_names()) == 5
