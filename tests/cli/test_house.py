"""Commands parse flags, make one call and show its result: their files stay short."""

from __future__ import annotations

from pathlib import Path

from benchmarks.frames import walk
from benchmarks.house import logic_lines

import autoj.cli

FILES = sorted(Path(autoj.cli.__file__).parent.glob("*.py"))
MOST_LINES, MOST_LOGIC, MOST_FRAMES = 150, 1200, 10


def test_no_command_is_longer_than_a_page_or_two() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}


def test_all_commands_together_hold_little_logic() -> None:
    assert 0 < sum(logic_lines(path.read_text("utf-8")) for path in FILES) < MOST_LOGIC


def test_a_pair_walks_straight_to_its_prompt_and_meets_no_jury(capsys) -> None:
    frames = walk()
    assert frames[0] == ("cli/judge.py", "judge")
    assert frames[-1] == ("protocols/pairwise.py", "build")
    assert len(frames) <= MOST_FRAMES
    assert not [path for path, _ in frames if "jury" in path]
