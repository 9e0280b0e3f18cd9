"""`autoj report`: a file is named, or an error that helps."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from autoj.cli.app import app

from ..reports.html.stored import judged, pairs

pytest.importorskip("vl_convert", reason="the extra `report` is missing")


def test_report_names_its_files(tmp_path):
    run = judged(tmp_path / "run", pairs(6))
    out = tmp_path / "new" / "report.html"
    found = CliRunner().invoke(app, ["report", str(run), "--out", str(out), "--cases", "2"])
    assert found.exit_code == 0, found.output
    assert "report.html(0.1MB)" in "".join(found.output.split())
    assert "report.cases.jsonl" in "".join(found.output.split())
    again = CliRunner().invoke(app, ["report", str(run), "--out", str(out), "--json"])
    written = json.loads(again.stdout)
    assert (written["n_cases"], written["left_path"]) == (6, None)
    assert out.stat().st_size == written["n_bytes"]
