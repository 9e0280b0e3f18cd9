"""Generates the reference of commands from `--help`, while the site is built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from autoj.cli import app

_PAGE = "reference/commands.md"
_INTRODUCTION = """# Commands

Generated from `autoj --help`. With `--json` a command writes machine output to stdout (`train` and
`export-model` have none); progress and messages always go to stderr. [Exit codes](exit-codes.md)
say how a command ended.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the page; MkDocs calls this hook by its name."""
    files.append(File.generated(config, _PAGE, content=render()))
    return files


def render() -> str:
    """Render the whole page."""
    return "\n".join([_INTRODUCTION, *_sections(typer.main.get_command(app), "autoj", level=2)])


# Commands are Click's or Typer's own, by the version of Typer, so their types are not named.


def _sections(group: Any, path: str, level: int) -> Iterator[str]:
    for name, command in group.commands.items():
        title = f"{path} {name}"
        yield f"{'#' * level} {title}\n"
        yield from _described(command)
        if hasattr(command, "commands"):
            yield from _sections(command, title, level + 1)
        else:
            yield from _parameters(command, title)


def _described(command: Any) -> Iterator[str]:
    """The help, with its example as code."""
    for paragraph in (command.help or "").split("\n\n"):
        text = " ".join(paragraph.split())
        if text.startswith("Example: "):
            yield f"```sh\n{text.removeprefix('Example: ')}\n```\n"
        else:
            yield f"{_escaped(text)}\n"


def _parameters(command: Any, title: str) -> Iterator[str]:
    context = typer.Context(command, info_name=title)
    records = [
        (parameter.param_type_name == "option", *parameter.get_help_record(context))
        for parameter in command.params
        if not getattr(parameter, "hidden", False)
    ]
    yield "| argument or option | |\n|---|---|"
    for is_option, name, text in sorted(records, key=lambda record: record[0]):
        yield f"| {_name(name, is_option)} | {_escaped(' '.join(text.split()))} |"
    yield ""


def _name(name: str, is_option: bool) -> str:
    """A flag with the kind of its value, which may be a long list of choices."""
    flag, _, kind = name.partition(" <") if is_option else (name, "", "")
    # A line of code is never broken, and a list of choices must be.
    kind = kind.removesuffix(">").replace("|", ", ")
    return f"`{flag.strip()}`" + (f"<br>{_escaped(kind)}" if kind else "")


def _escaped(text: str) -> str:
    for mark in ("|", "*", "_", "["):
        text = text.replace(mark, "\\" + mark)
    return text.replace("<", "&lt;")
