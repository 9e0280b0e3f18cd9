"""What the documents say is true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer.main

from autoj.backends import scalar
from autoj.backends.embedded import EmbeddedBackend
from autoj.backends.hf import models as hf_models
from autoj.backends.openai.settings import Settings
from autoj.backends.vllm import loading as vllm_loading
from autoj.cli import app
from autoj.datasets import format_names, open_cases
from autoj.errors import DataError
from autoj.judges import load_card
from autoj.protocols import load_protocol, protocol_names
from autoj.reports.exports import EXPORTS

_ROOT = Path(__file__).parents[1]
README = (_ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {path.name: path.read_text(encoding="utf-8") for path in (_ROOT / "docs").glob("*.md")}
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


@pytest.mark.parametrize("name", ["README.md", *sorted(DOCS)])
def test_each_flag_of_a_document_exists(name):
    options = {
        name
        for command in _all_commands(COMMANDS.values())
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", DOCS.get(name, README)))
    # The last one is pip's.
    assert flags - {"--help", "--no-deps"} <= options


@pytest.mark.parametrize("name", sorted(DOCS))
def test_each_document_is_linked_from_the_readme(name):
    assert f"docs/{name}" in README or f"{name}:" in README


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


def test_the_formats_of_the_documents_are_those_that_are_read():
    rows = re.findall(r"^\| [^|]+ \| `([a-z0-9-]+)` \| `(\{.*?\})`", DOCS["files.md"], re.MULTILINE)
    assert {name for name, _ in rows} == set(format_names())
    assert f"{len(format_names())} layouts" in README
    for _, row in rows:
        json.loads(row.replace("{…}", "{}"))


def test_the_exports_of_the_documents_are_those_that_are_written():
    table = DOCS["files.md"].split("## For other tools")[1]
    rows = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", table, re.MULTILINE)
    assert {name for row in rows for name in re.findall("`(.+?)`", row)} == set(EXPORTS)


def test_the_card_of_the_documents_is_one(tmp_path):
    (card,) = re.findall(r"```yaml\n(.*?)```", DOCS["engines.md"], re.DOTALL)
    path = tmp_path / "mine.yaml"
    path.write_text(card, encoding="utf-8")
    assert load_card(str(path)).title == "My judge"


OPTIONS = {
    "embedded": ("package", "file", "url", "size_bytes"),
    "hf": hf_models._OPTIONS,
    "vllm": vllm_loading._OPTIONS,
    "openai": tuple(Settings.model_fields),
    "scalar": scalar._OPTIONS,
}


@pytest.mark.parametrize("backend", OPTIONS)
def test_the_options_of_the_documents_are_those_of_the_engines(backend):
    section = DOCS["engines.md"].split(f"\n## {backend}\n")[1].split("\n## ")[0]
    table = section.split("| option |")[1]
    rows = re.findall(r"^\| ((?:`[a-z0-9_]+`(?:, )?)+) \|", table, re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall("`(.+?)`", row)) == sorted(
        OPTIONS[backend]
    )
