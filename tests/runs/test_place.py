"""The names of a run's files, which are listed once."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.errors import ConfigError
from autoj.runs.place import HOLDER, LOCK, check_place, is_of_a_run


@pytest.mark.parametrize(
    "name",
    [
        "run.json", "run.json.draft", "jury.json", "ledger.jsonl", "cases.jsonl.draft",
        "verdicts.jsonl.new", "picks.jsonl", "matches.jsonl", "scenarios.jsonl", HOLDER, LOCK,
    ],
)  # fmt: skip
def test_a_file_of_a_run_is_known_and_no_other_thing(tmp_path: Path, name: str) -> None:
    assert is_of_a_run(name)
    (tmp_path / name).write_text("{}")
    check_place(tmp_path)


@pytest.mark.parametrize("name", ["notes.txt", "ledger.json", "run.json.bak", ".gitignore"])
def test_other_files_are_the_users(tmp_path: Path, name: str) -> None:
    assert not is_of_a_run(name)
    (tmp_path / name).write_text("")
    if not name.startswith("."):
        with pytest.raises(ConfigError, match="the folder holds other things"):
            check_place(tmp_path)
