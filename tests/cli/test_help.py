"""Help shows each flag once, under a title that says what it is for, and cuts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from autoj.cli import app
from autoj.cli._options import TITLES

ROOT = typer.main.get_command(app)


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*path, name))


COMMANDS = dict(_commands(ROOT))
each_command = pytest.mark.parametrize("path", COMMANDS, ids=lambda path: " ".join(path) or "autoj")


def _sections(text: str) -> dict[str, str]:
    """The text below each title, which stands at the margin and ends in a colon."""
    found: dict[str, str] = {}
    title = ""
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            title = line.removesuffix(":")
            found[title] = ""
        else:
            found[title] = found.get(title, "") + line + "\n"
    return found


def _words(text: str) -> str:
    """A text without its line breaks, one of which may stand after a hyphen of a word."""
    return "".join(text.split())


@pytest.mark.parametrize("columns", [140, 80, 60])
@each_command
def test_help_holds_every_flag_and_its_whole_text(run, monkeypatch, path, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = run(*path, "--help")
    assert code == 0
    # The first line holds the program's name, which is pytest's here and no short one.
    assert max(map(len, out.splitlines()[1:])) <= columns
    shown = _words(out)
    context = typer.Context(COMMANDS[path])
    for parameter in COMMANDS[path].params:
        name, text = parameter.get_help_record(context)
        assert _words(name) in shown
        assert _words(text) in shown
    assert _words(COMMANDS[path].help) in shown


def test_help_is_as_wide_as_the_terminal(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    assert 120 < max(map(len, run("judge", "--help")[1].splitlines())) <= 140


@each_command
def test_flags_stand_under_the_titles_of_their_options(run, path):
    sections = _sections(run(*path, "--help")[1])
    context = typer.Context(COMMANDS[path])
    for parameter in COMMANDS[path].params:
        if parameter.param_type_name == "option" and path:
            assert parameter.rich_help_panel in TITLES
            (flag, _) = parameter.get_help_record(context)
            assert _words(flag) in _words(sections[parameter.rich_help_panel])
    shown = [title for title in sections if title in TITLES]
    assert shown == [title for title in TITLES if title in sections]
    if path:
        assert _words(sections["Options"]) == "-h,--helpShowthismessageandexit."


@each_command
def test_the_short_flag_shows_the_same_help(run, path):
    assert run(*path, "-h") == run(*path, "--help")


def test_a_list_of_commands_says_of_each_what_its_own_help_says_first(run):
    shown = _words(run("--help")[1])
    for name, command in ROOT.commands.items():
        assert name + _words(command.help.partition("\n\n")[0]) in shown
