"""Width of results: the terminal's, what COLUMNS says, or 80 columns in a pipe."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

CODE = (
    "from autoj.cli import _console\nfrom rich.text import Text\n"
    "_console.print_result(Text('word ' * 100))"
)


def printed(columns: int, *, piped: bool, **environment: str) -> list[str]:
    """Lines of a result; the standard input is a terminal of so many columns."""
    termios = pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, columns))
    kept = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(
        [sys.executable, "-c", CODE],
        stdin=theirs,
        stdout=subprocess.PIPE if piped else theirs,
        env={**kept, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    if process.stdout is not None:
        text = process.communicate()[0]
    else:
        text = b""
        # At the end of a process its terminal can no longer be read.
        while block := _read(ours):
            text += block
        process.wait()
    os.close(ours)
    return text.decode().splitlines()


def _read(place: int) -> bytes:
    try:
        return os.read(place, 65_536)
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("columns", "piped", "environment", "widest"),
    [(140, False, {}, 140), (60, False, {}, 60), (140, True, {}, 80), (60, True, {}, 80),
     (140, True, {"COLUMNS": "100"}, 100)],
)  # fmt: skip
def test_a_result_is_as_wide_as_what_it_is_read_on(columns, piped, environment, widest):
    lines = printed(columns, piped=piped, **environment)
    longest = max(len(line.rstrip()) for line in lines)
    assert widest - 5 <= longest <= widest
