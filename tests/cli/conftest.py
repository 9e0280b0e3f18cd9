"""What every test of a command needs."""

from __future__ import annotations

import sys
from functools import cache

import pytest
import typer.main

from autoj.cli import main

# Building all commands from their signatures takes longer than most of them run.
_get_command = cache(typer.main.get_command)


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Runs the command line in a folder of its own; gives the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(typer.main, "get_command", _get_command)

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["autoj", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0), out, err

    return command
