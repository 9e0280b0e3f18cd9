"""What the documents say is true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer.main

from autoj.backends.embedded import EmbeddedBackend
from autoj.cli import app
from autoj.datasets import format_names, open_cases
from autoj.errors import DataError
from autoj.protocols import load_protocol, protocol_names

_ROOT = Path(__file__).parents[1]
README = (_ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def _all_commands(commands):
    """Commands with those below them."""
    for command in commands:
        yield command
        yield from _all_commands(getattr(command, "commands", {}).values())


def test_each_bench_is_in_the_readme():
    for name in COMMANDS["bench"].commands:
        assert f"autoj bench {name}" in README


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_each_command_is_in_the_readme(command):
    assert f"autoj {command}" in README


def test_each_flag_of_the_readme_exists():
    options = {
        name
        for command in _all_commands(COMMANDS.values())
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help"}
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", README))
    assert flags
    assert flags <= options


def test_each_protocol_name_of_the_readme_loads():
    (row,) = re.findall(r"^\| `--protocol` \|(.*)\|$", README, re.MULTILINE)
    names = [name for name in re.findall(r"`([a-z_-]+)`", row) if name != "-zh"]
    assert {load_protocol(name).name for name in names} | {
        f"{name}-zh" for name in protocol_names()
    } >= set(protocol_names())


def test_each_room_of_the_readmes_tree_is_there_and_each_room_is_in_the_tree():
    tree = README.split("## The tree")[1].split("```")[1]
    named = set(re.findall(r"^  ([a-z_]+(?:\.py|/))", tree, re.MULTILINE))
    package = _ROOT / "src" / "autoj"
    there = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in package.iterdir()
        if (path.suffix == ".py" and not path.name.startswith("__"))
        or (path / "__init__.py").is_file()
    }
    assert named == there


def test_the_readmes_python_runs(embedded: EmbeddedBackend):
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


@pytest.mark.parametrize("path", sorted((_ROOT / "examples").glob("*.jsonl")), ids=lambda p: p.name)
def test_each_example_file_can_be_read(path):
    rows = list(open_cases(path).read())
    assert rows
    assert not [row for row in rows if isinstance(row.case, DataError)]


def test_each_format_of_the_readme_is_one_that_is_read():
    table = README.split("## Files it reads")[1].split("##")[0]
    assert table.count("\n| ") - 1 >= len(format_names())
    for row in re.findall(r"`(\{.*?\})`(?: \(|,? or| \|)", table):
        json.loads(row.replace("{…}", "{}"))
