"""`autoj view`: it names its address and ends on Ctrl-C, or says what cannot be shown."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from typer.testing import CliRunner

import autoj.cli.view
from autoj.cli.app import app
from autoj.errors import ConfigError

from ..reports.html.stored import judged, pairs

pytest.importorskip("uvicorn", reason="the extra `serve` is missing")
pytest.importorskip("sse_starlette", reason="the extra `serve` is missing")


def test_view_serves_until_ctrl_c(tmp_path):
    run = judged(tmp_path / "run", pairs(6))
    command = [sys.executable, "-m", "autoj", "view", str(run), "--no-open"]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        # A shell lets what it starts in the background ignore Ctrl-C, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        line = process.stderr.readline()
        assert line.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(line.split()[0]) as answer:
            assert answer.status == 200
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""


def test_view_opens_a_browser_unless_told_not_to(tmp_path, monkeypatch):
    run = judged(tmp_path / "run", pairs(2))
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(
        autoj.cli.view, "serve_view", lambda viewed, port, started: started(f"http://x:{port}/")
    )
    found = CliRunner().invoke(app, ["view", str(run), "--port", "7"])
    assert (found.exit_code, opened) == (0, ["http://x:7/"])
    found = CliRunner().invoke(app, ["view", str(run), "--no-open"])
    assert (found.exit_code, len(opened)) == (0, 1)


def test_view_refuses_a_folder_that_is_no_run(run, tmp_path):
    code, _, err = run("view", str(tmp_path))
    assert code == 2
    assert "is not a run folder" in err


def test_view_refuses_a_damaged_ledger(run, tmp_path):
    folder = judged(tmp_path / "run", pairs(4))
    ledger = folder / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b"accuracy", b"accurate", 1))
    code, _, err = run("view", str(folder))
    assert code == 2
    assert "ledger.jsonl" in err
    assert "autoj check" in err


def test_view_refuses_a_port_that_is_taken(tmp_path):
    run = judged(tmp_path / "run", pairs(2))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        error = CliRunner().invoke(app, ["view", str(run), "--port", port, "--no-open"]).exception
    assert isinstance(error, ConfigError)
    assert port in str(error)
