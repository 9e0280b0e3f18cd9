"""Runs a page's blocks as a reader would: one folder, line after line, Python in one session."""

from __future__ import annotations

import contextlib
import functools
import glob
import io
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import typer.main

from autoj.cli import main
from autoj.training.classifier.recipe import read_classifier_recipe
from autoj.training.judge.recipe import read_recipe

from .pages import Block

_build_once = functools.cache(typer.main.get_command)
"""Typer builds all commands anew for each call, which is half the time of a short one."""

LOADERS: Mapping[str, Callable[[Path], object]] = {
    "recipe": read_recipe,
    "classifier recipe": read_classifier_recipe,
}
"""What reads files that no command on the page takes, because it would train for hours."""


class Session:
    """A reader at a terminal, in the current folder."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, addresses: Mapping[str, str]) -> None:
        monkeypatch.setattr(typer.main, "get_command", _build_once)
        self._monkeypatch = monkeypatch
        self._addresses = addresses
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self.printed: list[str] = []
        """What the commands of the last block wrote to stdout."""

    def run(self, block: Block) -> None:
        """Run a block that holds code, or write the file that it holds."""
        text = self._redirected(block.text)
        if block.title is not None:
            path = Path(block.title)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if block.loader is not None:
                LOADERS[block.loader](path)
        elif block.language == "python":
            code = compile("\n" * (block.line - 1) + text, str(block.page), "exec")
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code, self._names)
        elif block.language == "sh":
            self.printed = [self._run_line(line) for line in text.replace("\\\n", " ").splitlines()]
        else:
            pytest.fail(f"{block.place}: nothing runs a block of {block.language or 'no language'}")

    def _redirected(self, text: str) -> str:
        """The text with servers that only the reader has replaced by those that tests have."""
        for address, stand_in in self._addresses.items():
            text = text.replace(address, stand_in)
        return text

    def _run_line(self, line: str) -> str:
        words = shlex.split(line, comments=True)
        target = None
        if "<" in words:
            words, (source,) = words[: words.index("<")], words[words.index("<") + 1 :]
            keys = io.StringIO(Path(source).read_text(encoding="utf-8"))
            self._monkeypatch.setattr(sys, "stdin", keys)
        if ">" in words:
            words, (target,) = words[: words.index(">")], words[words.index(">") + 1 :]
        words = [found for word in words for found in _expanded(word)]
        if not words:
            return ""
        if words[0] == "export":
            self._monkeypatch.setenv(*words[1].split("=", 1))
            return ""
        if words[0] != "autoj":
            pytest.fail(f"a test runs lines of autoj and export, and this is another: {line}")
        printed = self._autoj(line, words)
        if target is not None:
            Path(target).write_text(self._redirected(printed), encoding="utf-8")
        return printed

    def _autoj(self, line: str, words: list[str]) -> str:
        self._monkeypatch.setattr(sys, "argv", words)
        # Commands write to the buffer of stdout, too.
        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as ended,
        ):
            main()
        out.seek(0)
        printed = out.read()
        assert ended.value.code in (None, 0), f"{line}\n{printed}\n{err.getvalue()}"
        return printed


def _expanded(word: str) -> list[str]:
    return sorted(glob.glob(word)) or [word] if "*" in word else [word]
