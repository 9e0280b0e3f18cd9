"""`autoj bench critique-quality` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from autoj.cli.bench_critique_quality import critique_quality
from autoj.errors import ConfigError

SHIPPED = Path(__file__).parents[2] / "data" / "own" / "planted_errors.jsonl"
app = typer.Typer()
app.command()(critique_quality)


def test_the_baselines_stand_beside_published_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    shown = CliRunner().invoke(app, ["--cases", str(SHIPPED), "--limit", "40"])
    assert shown.exit_code == 0
    for word in ("template", "echo", "Auto-J", "76.4", "70.7", "71.1", "on data of its own"):
        assert word in shown.output
    found = CliRunner().invoke(app, ["--cases", str(SHIPPED), "--limit", "40", "--json"])
    assert [each["judge"] for each in json.loads(found.output)["baselines"]] == ["template", "echo"]


def test_a_judge_and_a_run_are_not_both_measured() -> None:
    found = CliRunner().invoke(app, ["--judge", "embedded", "--run", "x"])
    assert isinstance(found.exception, ConfigError)
