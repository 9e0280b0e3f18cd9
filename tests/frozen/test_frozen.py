"""Holds what every command prints and writes: nothing of it may change unseen.

Each scenario (`scenarios.py`) is a few command lines on small files (`inputs/`) and scripted judges
(`script.py`). What they print at 80 columns and with `--json`, their exit codes, and all files that
they write are compared with `expected/`, byte for byte but for times and versions. Where a change
is meant, `AUTOJ_RECORD=1 python -m pytest tests/frozen` records anew; then read the difference
(`git diff tests/frozen/expected`) before it is committed.

The suite enters through the command line alone, so that it stays as it is while modules move.
"""

from __future__ import annotations

import re

import pytest

from tests.frozen.harness import HERE, compare, prepare, transcript, written
from tests.frozen.scenarios import KEPT, SCENARIOS

INPUTS = HERE / "inputs"


@pytest.mark.parametrize("name", SCENARIOS)
def test_commands_print_and_write_what_is_recorded(name, monkeypatch, tmp_path):
    prepare(monkeypatch, tmp_path, INPUTS)
    found = {"transcript.txt": transcript(SCENARIOS[name], tmp_path)}
    kept = re.compile(KEPT.get(name, ".*"))
    for path, text in written(tmp_path, INPUTS).items():
        if kept.fullmatch(path):
            found[f"files/{path}"] = text
    compare(found, HERE / "expected" / name)


def test_nothing_is_recorded_of_scenarios_that_are_gone():
    recorded = {path.name for path in (HERE / "expected").iterdir()}
    assert {name for name in recorded if not name.startswith("v0_1")} == set(SCENARIOS)
