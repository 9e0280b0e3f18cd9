"""Runs command lines in this process, and compares all that they print and write with a record."""

from __future__ import annotations

import contextlib
import difflib
import io
import json
import logging
import os
import re
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

import orjson
import pytest
import typer.main

import autoj
from autoj.cli import main
from autoj.judges import readiness as judge_readiness

HERE = Path(__file__).parent
RECORDING = os.environ.get("AUTOJ_RECORD") == "1"
UNKEPT = {"run.lock", "holder.json"}
PACKAGE = str(Path(autoj.__file__).parent)
# Building all commands from their signatures takes longer than most of them run.
_get_command = cache(typer.main.get_command)
_N_DIFFERENT_LINES = 80
# Lines are broken before what begins a field or an object, outside of strings: it can be undone.
_BREAKS = re.compile(r'("(?:[^"\\]|\\.)*")|,(?="(?:[^"\\]|\\.)*":|\{)')
# Checksums of lines and digests of files follow from what is recorded here.
_SUM = re.compile(r',"sum":"[0-9a-f]{8}"')
_DIGESTS = ("files", "sha256")
# The last digits follow from the processor's instructions, and from the version of SciPy.
_LONG_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d{11,}(?:e[+-]?\d+)?(?![\w.])")
_VARYING = [
    (re.compile(r'("[a-z_]*(?:seconds|started|ended|tstamp)":)[^,}]+'), r"\1…"),
    (re.compile(r'("versions":\s*)\{[^}]*\}'), r"\1{…}"),
    # Wide figures break a line elsewhere, so the cell is one line here.
    (
        re.compile(
            r"judgments\s+in\s+[\d.,]+\s+s,\s+[\d,]+/min;"
            r"\s+([\d,]+)\s+tokens\s+read,\s+([\d,]+)\s+written *"
        ),
        r"judgments in … s, …/min; \1 tokens read, \2 written",
    ),
    # Where the package lies is longer or shorter, and may break the line.
    (re.compile(r"(?m)^ file   .*(?:\n {8,}\S.*)*$"), " file   …"),
    (re.compile(r"about [\d,.]+ (?:s|min|h|seconds|minutes|hours)\b"), "about … s"),
]


def prepare(monkeypatch: pytest.MonkeyPatch, folder: Path, source: Path) -> None:
    """Go to a folder that holds a copy of another, with no data and no cache but what it holds."""
    shutil.copytree(source, folder, dirs_exist_ok=True)
    monkeypatch.chdir(folder)
    for name, value in (
        ("COLUMNS", "80"), ("LINES", "40"), ("NO_COLOR", "1"), ("TERM", "dumb"),
        ("AUTOJ_CACHE", str(folder / "no-cache")),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    for name in ("AUTOJ_DATA", "FORCE_COLOR", "STOPS_AFTER", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    # A machine of its own: what can run there does not follow from what is installed here.
    monkeypatch.setenv("HF_HUB_CACHE", str(folder / "no-hub"))
    monkeypatch.setattr(judge_readiness, "has_gpu", lambda: False)
    monkeypatch.setattr(judge_readiness, "_is_missing", lambda backend: backend == "vllm")


def run(command: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command line, which may begin with `NAME=value`."""
    words = shlex.split(command)
    with pytest.MonkeyPatch.context() as patch:
        while "=" in words[0]:
            patch.setenv(*words.pop(0).split("=", 1))
        assert words[0] == "autoj"
        found = _call(patch, words)
        if "--json" in words:
            # A process speaks to a machine or does not; the next command is another process.
            _call(patch, ["autoj", "judges"])
    return found


def _call(patch: pytest.MonkeyPatch, words: list[str]) -> tuple[int, str, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    # With pytest's own handlers there, the command would set up no logging.
    root.handlers.clear()
    patch.setattr(sys, "argv", words)
    # Else usage errors would name pytest.
    patch.setattr(sys.modules["__main__"], "__package__", None)
    patch.setattr(typer.main, "get_command", _get_command)
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as ended:
                code = ended.code
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    for stream in (out, err):
        stream.flush()
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return (code if isinstance(code, int) else int(code is not None)), *texts


def transcript(commands: list[str], folder: Path) -> str:
    """What a terminal would show of some commands."""
    parts = []
    for command in commands:
        code, out, err = run(command)
        if "--json" in command:
            out = broken(out)
        parts.append(f"$ {command}\nexit {code}\n--- stdout\n{out}--- stderr\n{err}")
    return normalised("\n".join(parts), folder)


def normalised(text: str, folder: Path) -> str:
    """Without what differs from run to run: the folder, times and versions."""
    text = text.replace(str(folder), "FOLDER").replace(PACKAGE, "PACKAGE")
    for pattern, with_ in _VARYING:
        text = pattern.sub(with_, text)
    text = _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.8g}", text)
    # A table is as wide as the line of its speed, so its lines end in more or fewer spaces.
    blocks = (
        re.sub(r" +$", "", block, flags=re.MULTILINE) if " judgments in … s" in block else block
        for block in text.split("\n\n")
    )
    return "\n\n".join(blocks)


def broken(text: str) -> str:
    """JSON with a line for each field, so that a difference can be read."""
    return _BREAKS.sub(lambda found: found[1] or ",\n", text)


def written(folder: Path, source: Path) -> dict[str, str]:
    """The files in a folder that were not in what it is a copy of, or are other ones now."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        before = source / name
        if not path.is_file() or path.name in UNKEPT:
            continue
        if before.is_file() and before.read_bytes() == path.read_bytes():
            continue
        found[name] = normalised(_text(path), folder)
    return found


def _text(path: Path) -> str:
    if path.suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        table = parquet.read_table(path)
        rows = [json.dumps(row, ensure_ascii=False) for row in table.to_pylist()]
        return "\n".join([*(f"{field.name}: {field.type}" for field in table.schema), *rows, ""])
    text = _SUM.sub("", path.read_bytes().decode())
    if path.name in ("run.json", "jury.json"):
        text = _without_digests(path.name, text)
    return broken(text) if path.suffix == ".json" else text


def _without_digests(name: str, text: str) -> str:
    """Without the digests of the folder's files, which follow from these; `tests/runs` has them."""
    record = {key: value for key, value in orjson.loads(text).items() if key not in _DIGESTS}
    layout = orjson.OPT_INDENT_2 if name == "run.json" else orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(record, option=layout).decode()


def compare(found: dict[str, str], place: Path) -> None:
    """Compare texts with the files of a folder, or write them there where that is asked for."""
    if RECORDING:
        shutil.rmtree(place, ignore_errors=True)
        for name, text in found.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(text.encode())
        return
    paths = (path for path in place.rglob("*") if path.is_file())
    kept = {path.relative_to(place).as_posix(): path.read_bytes().decode() for path in paths}
    different = [name for name in sorted({*kept, *found}) if kept.get(name) != found.get(name)]
    if different:
        lines = [line for name in different for line in _difference(name, kept, found)]
        more = len(lines) - _N_DIFFERENT_LINES
        told = "\n".join(lines[:_N_DIFFERENT_LINES] + [f"… {more} more lines"] * (more > 0))
        pytest.fail(f"{place.name}: {', '.join(different)} changed\n{told}", pytrace=False)


def _difference(name: str, kept: dict[str, str], found: dict[str, str]) -> list[str]:
    if name not in found or name not in kept:
        return [f"{name}: {'is no longer written' if name in kept else 'was not written before'}"]
    before, now = (broken(texts[name]).splitlines() for texts in (kept, found))
    return list(difflib.unified_diff(before, now, f"recorded {name}", f"now {name}", "", "", 1, ""))
