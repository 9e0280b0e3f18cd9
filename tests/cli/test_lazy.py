"""Commands are imported when they are used: names, versions and help need none of them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import typer.main

from autoj.cli import _commands, app, bench, construct
from autoj.cli._lazy import Commands, Listed, find

# None of them is needed to say a version or a name; each takes a tenth of a second or more.
HEAVY = {"numpy", "scipy", "pydantic", "msgspec", "yaml", "autoj.runs", "autoj.api"}
BASH = {"_AUTOJ_COMPLETE": "complete_bash"}


def imported(*arguments: str, **environment: str) -> set[str]:
    """The heavy modules that a command line imports, in a process of its own."""
    code = (
        "import os, sys, atexit\n"
        f"os.environ.update({environment!r}); sys.argv = {['autoj', *arguments]!r}\n"
        f"atexit.register(lambda: print('HEAVY', *sorted(set(sys.modules) & {HEAVY!r})))\n"
        "from autoj.cli import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_the_version_and_the_list_of_commands_import_nothing_heavy():
    assert imported("--version") == imported("--help") == set()


# Below the first word Typer itself may import pydantic.
def test_help_of_a_group_and_completion_of_a_name_import_nothing_heavy_of_ours():
    assert imported("bench", "--help") <= {"pydantic"}
    assert imported(**BASH, COMP_WORDS="autoj ", COMP_CWORD="1") <= {"pydantic"}


def test_the_list_of_judges_needs_no_numbers_and_no_runs():
    assert imported("judges") <= {"pydantic", "yaml", "msgspec"}


@pytest.mark.parametrize(
    ("group", "listed"), [((), _commands.COMMANDS), (("bench",), bench.COMMANDS)]
)
def test_what_a_list_says_of_a_command_is_the_first_paragraph_of_its_help(group, listed):
    command = typer.main.get_command(app)
    for name in group:
        command = command.commands[name]
    assert list(command.commands) == list(listed)
    for name, inner in command.commands.items():
        assert listed[name].summary == " ".join(inner.help.partition("\n\n")[0].split())
        assert inner.name == name


def test_what_construct_lists_is_the_first_paragraph_of_its_commands_help():
    commands = typer.main.get_command(app).commands["construct"].commands
    for name, listed in construct.COMMANDS.items():
        assert listed.summary == " ".join(commands[name].help.partition("\n\n")[0].split())


def test_a_command_is_imported_once_and_when_it_is_looked_up():
    loads = []
    commands = Commands(
        {"later": Listed("autoj.errors:UserError", "Later.")},
        {},
        lambda name, found: loads.append((name, found)) or name,
    )
    assert list(commands) == ["later"]
    assert "later" in commands
    assert commands.summaries() == {"later": "Later."}
    assert loads == []
    assert commands["later"] == commands.get("later") == "later"
    assert loads == [("later", find("autoj.errors:UserError"))]
    assert commands.get("never") is None


@pytest.fixture
def complete(run, monkeypatch):
    """Gives the words that bash is offered for the last of some words."""
    # Else the program would have the name of pytest, and so would its variable.
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)

    def words(*typed: str) -> list[str]:
        monkeypatch.setenv("_AUTOJ_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(typed))
        monkeypatch.setenv("COMP_CWORD", str(len(typed) - 1))
        code, out, err = run()
        assert (code, err) == (0, "")
        return out.split()

    return words


@pytest.mark.parametrize(
    ("typed", "some"),
    [
        ("autoj ju", {"judge", "judges"}),
        ("autoj bench eval", {"eval-p", "eval-c", "eval-r"}),
        ("autoj judges sh", {"show"}),
        ("autoj judge x.jsonl --judge autoj-1", {"autoj-13b"}),
        ("autoj judge x.jsonl --judge embedded,autoj-1", {"embedded,autoj-13b"}),
        ("autoj rate x.jsonl --protocol single-v", {"single-verdict"}),
        ("autoj bench pairs x.jsonl --judge emb", {"embedded"}),
        ("autoj audit --judge emb", {"embedded"}),
        ("autoj judges show autoj-1", {"autoj-13b"}),
        ("autoj scenarios show plan", {"planning"}),
        ("autoj data get llm", {"llmbar"}),
        ("autoj export r --format a", {"alpaca_eval"}),
        ("autoj judge --lim", {"--limit"}),
    ],
)
def test_the_shell_completes_commands_flags_and_names(complete, typed, some):
    last = typed.split()[-1]
    found = complete(*typed.split())
    assert some <= set(found)
    assert all(name.startswith(last) for name in found)


def test_the_former_name_of_a_flag_is_read_and_not_shown(run):
    code, out, _ = run("audit", "--help")
    assert code == 0
    assert "--limit" in out
    assert "--sample" not in out
    for flag in (("--sample", "0"), ("--sample=0",), ("--limit", "0")):
        code, _, err = run("audit", "--judge", "embedded", *flag)
        assert code == 2
        assert "'--limit'" in err
    # By the version of typer a colon or quotation marks.
    assert re.search("No such option:? '?--sample", run("export", "r", "--sample", "3")[2])
