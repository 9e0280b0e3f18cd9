"""What every test of a command needs."""

from __future__ import annotations

import sys

import pytest

from autoj.cli import main


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Runs the command line in a folder of its own; gives the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["autoj", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0), out, err

    return command
