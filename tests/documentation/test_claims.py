"""Claims of the pages that are checked against the code."""

from __future__ import annotations

import json
import re

import pytest
import typer.main

from autoj.backends import scalar
from autoj.backends.embedded.weights import OPTIONS as EMBEDDED_OPTIONS
from autoj.backends.hf import models as hf_models
from autoj.backends.openai.settings import Settings
from autoj.backends.vllm import loading as vllm_loading
from autoj.cli import app
from autoj.datasets import format_names, open_cases
from autoj.errors import DataError
from autoj.protocols import load_protocol, protocol_names
from autoj.reports.exports import EXPORTS
from autoj.verdicts.resolve import RULES

from .pages import PAGES, REPOSITORY, blocks_of, name_of

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
TEXTS = {name_of(page): page.read_text(encoding="utf-8") for page in PAGES}
FILES = TEXTS["docs/reference/files.md"]
ENGINES = TEXTS["docs/reference/engines.md"]
PROTOCOLS = TEXTS["docs/reference/protocols.md"]
ROOT = typer.main.get_command(app)
COMMANDS = ROOT.commands  # type: ignore[attr-defined]


def _all_commands(commands):
    """Commands with those below them."""
    for command in commands:
        yield command
        yield from _all_commands(getattr(command, "commands", {}).values())


def test_the_readme_is_short():
    lines = README.splitlines()
    assert len(lines) <= 150
    # A cell of a table is read in one glance.
    assert max(len(cell) for line in lines if line[:1] == "|" for cell in line.split("|")) < 240


@pytest.mark.parametrize("target", ["judge", "test", "docs"])
def test_the_readme_names_what_make_does(target):
    assert f"make {target}" in README
    assert f"\n{target}: " in (REPOSITORY / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(COMMANDS["bench"].commands))
def test_each_bench_is_explained(name):
    assert f"autoj bench {name}" in TEXTS["docs/reference/benchmarks.md"]


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_each_command_is_in_the_readme_and_shown_on_a_page(command):
    assert f"`{command}`" in README
    shown = [block for page in PAGES for block in blocks_of(page) if block.language == "sh"]
    assert any(f"autoj {command} " in block.text.replace("\n", " ") for block in shown)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_each_flag_of_a_document_exists(name):
    options = {
        name
        for command in _all_commands([ROOT])
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    # What tools that people come from call theirs stands in the first column of a table, and the
    # commands of harnesses that a judge goes into are lines of their own.
    text = re.sub(
        r"^\| `(?:gen_judgment|rewardbench|run_generative)[^|]*\||^(?:inspect|lm_eval) .*$",
        "",
        TEXTS[name],
        flags=re.M,
    )
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))
    # The last three are of `autoj` itself, of pip and of accelerate (--config_file).
    assert flags - {"--help", "--install-completion", "--no-deps", "--config"} <= options


@pytest.mark.parametrize("page", sorted(TEXTS))
def test_each_link_between_pages_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", TEXTS[page]):
        path = (REPOSITORY / page).parent / target
        # Pages that are generated have no file.
        assert path.exists() or path.name == "commands.md", target


def test_each_page_is_in_the_site():
    nav = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    pages = {name.removeprefix("docs/") for name in TEXTS if name.startswith("docs/")}
    assert set(re.findall(r"[\w/-]+\.md", nav)) == pages | {"reference/commands.md"}


def test_each_protocol_is_in_the_reference():
    named = set(re.findall(r"`([a-z_-]+)`", PROTOCOLS))
    assert set(protocol_names()) <= named
    (aliases,) = re.findall(r"The release's (.*?) are aliases", PROTOCOLS, re.DOTALL)
    for alias in re.findall(r"`(.+?)`", aliases):
        assert load_protocol(alias).name in protocol_names()


def test_the_rules_of_the_documents_are_those_of_verdicts():
    table = TEXTS["docs/explanation/calibration.md"].split("| the verdict's `rule` |")[1]
    assert re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE) == list(RULES)


@pytest.mark.parametrize("page", sorted(TEXTS))
def test_each_path_that_a_page_names_is_there(page):
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|yaml|md))`", TEXTS[page])
    package = REPOSITORY / "src" / "autoj"
    assert not [
        path for path in named if not (package / path).exists() and not (REPOSITORY / path).exists()
    ]


def test_each_room_of_the_package_is_in_the_tree():
    tree = TEXTS["docs/explanation/design.md"].split("## The tree")[1].split("```")[1]
    named = set(re.findall(r"^  ([a-z_]+(?:\.py|/))", tree, re.MULTILINE))
    package = REPOSITORY / "src" / "autoj"
    there = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in package.iterdir()
        if (path.suffix == ".py" and not path.name.startswith("__"))
        or (path / "__init__.py").is_file()
    }
    assert named == there


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / "examples").glob("*.jsonl")), ids=lambda p: p.name
)
def test_each_example_file_can_be_read(path):
    rows = list(open_cases(path).read())
    assert rows
    assert not [row for row in rows if isinstance(row.case, DataError)]


def test_the_formats_of_the_documents_are_those_that_are_read():
    rows = re.findall(r"^\| [^|]+ \| `([a-z0-9-]+)` \| `(\{.*?\})`", FILES, re.MULTILINE)
    assert {name for name, _ in rows} == set(format_names())
    assert f"{len(format_names())} layouts" in TEXTS["docs/how-to/own-files.md"]
    assert f"{len(format_names()) - 4} other layouts" in README
    for _, row in rows:
        json.loads(row.replace("{…}", "{}"))


def test_the_exports_of_the_documents_are_those_that_are_written():
    table = TEXTS["docs/how-to/export.md"].split("| `--format` |")[1]
    rows = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", table, re.MULTILINE)
    assert {name for row in rows for name in re.findall("`(.+?)`", row)} == set(EXPORTS)


OPTIONS = {
    "embedded": EMBEDDED_OPTIONS,
    "hf": hf_models._OPTIONS,
    "vllm": vllm_loading._OPTIONS,
    "openai": tuple(Settings.model_fields),
    "scalar": scalar._OPTIONS,
}


@pytest.mark.parametrize("backend", OPTIONS)
def test_the_options_of_the_documents_are_those_of_the_engines(backend):
    section = ENGINES.split(f"\n## {backend}\n")[1].split("\n## ")[0]
    table = section.split("| option |")[1]
    rows = re.findall(r"^\| ((?:`[a-z0-9_]+`(?:, )?)+) \|", table, re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall("`(.+?)`", row)) == sorted(
        OPTIONS[backend]
    )
