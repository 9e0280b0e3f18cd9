"""The command that adds an extra: as the package was installed, whatever the index knows."""

from __future__ import annotations

import importlib.metadata
import json
from typing import Any

import pytest

from autoj import errors
from autoj.errors import MissingExtra, install_command


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
