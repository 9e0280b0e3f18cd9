"""The walk of a case from `autoj judge` to its prompt: the frames of ours on the stack, in order.

Run it with `python -m benchmarks.frames`; it judges one pair by a scripted judge and prints each
frame, from the command's function to the protocol that builds the prompt.
"""

from __future__ import annotations

import io
import sys
import tempfile
from contextlib import redirect_stdout, suppress
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import autoj
from autoj.backends import scripted
from autoj.cli import main
from autoj.protocols import load_protocol
from autoj.records import JudgeCard

_PACKAGE = Path(autoj.__file__).parent
_CARD = """
title: A script
backend: scripted
model: none
wrapper: none
protocols: [pairwise]
context_tokens: 4096
"""
_COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>"}
"""These have frames of their own up to Python 3.11 only."""
_PAIR = '{"id": "1", "query": "Why?", "responses": ["So.", "No."]}\n'


def walk(task: str = "judge") -> list[tuple[str, str]]:
    """The frames between a command and a prompt: (file, function), outermost first."""
    found: list[list[tuple[str, str]]] = []
    protocol = load_protocol("pairwise")
    kind: Any = type(protocol)
    built = kind.build

    def build(self: object, *args: object, **settings: object) -> object:
        found.append(_frames(sys._getframe(1)))
        return built(self, *args, **settings)

    def load(card: JudgeCard, **_: object) -> scripted.ScriptedBackend:
        return scripted.ScriptedBackend(card, lambda _: "Response 1")

    with tempfile.TemporaryDirectory() as place:
        card, pairs, out = (Path(place) / name for name in ("card.yaml", "pairs.jsonl", "run"))
        card.write_text(_CARD)
        pairs.write_text(_PAIR)
        words = ["autoj", task, str(pairs), "--judge", str(card), "--out", str(out), "--json"]
        with (
            patch.object(kind, "build", build),
            patch.object(scripted, "load", load),
            patch.object(sys, "argv", words),
            redirect_stdout(io.TextIOWrapper(io.BytesIO())),
            suppress(SystemExit),
        ):
            main()
    # The deepest is the one that plans; others check the context.
    return [*max(found, key=len), ("protocols/pairwise.py", "build")]


def _frames(frame: FrameType | None) -> list[tuple[str, str]]:
    frames: list[tuple[str, str]] = []
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_PACKAGE) and frame.f_code.co_name not in _COMPREHENSIONS:
            frames.append((path.relative_to(_PACKAGE).as_posix(), frame.f_code.co_name))
        frame = frame.f_back
    frames.reverse()
    start = next(i for i, (path, _) in enumerate(frames) if path == "cli/judge.py")
    return frames[start:]


if __name__ == "__main__":
    frames = walk()
    for number, (path, name) in enumerate(frames, start=1):
        print(f"{number:3} {path:28} {name}")
    print(f"{len(frames)} frames over {len({path for path, _ in frames})} files")
