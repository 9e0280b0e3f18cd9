"""`autoj drift`: the exit code is the answer."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from autoj.cli.app import app

from ..tasks.test_diff import judge, rows


def test_exit_code_says_whether_a_limit_is_passed(tmp_path):
    before = judge(tmp_path / "before", rows(10), "aaaaaaaabb")
    after = judge(tmp_path / "after", rows(10), "aaaaaabbbb")
    command = ["drift", str(before), str(after), "--max-flipped"]
    kept = CliRunner().invoke(app, [*command, "20"])
    passed = CliRunner().invoke(app, [*command, "10", "--json"])
    assert (kept.exit_code, passed.exit_code) == (0, 1)
    assert "Within the limits." in kept.output
    assert json.loads(passed.stdout)["beyond"] == [
        "20.0 % of the verdicts flipped, and the limit is 10 %"
    ]
