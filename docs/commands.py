"""Writes the reference of commands from what `--help` says, while the site is built."""

from __future__ import annotations

from collections.abc import Iterator

import click
import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from autoj.cli import app

_PAGE = "reference/commands.md"
_INTRODUCTION = """# Commands

Generated from `autoj --help`. With `--json` a command writes one JSON document to stdout; progress and messages go
to stderr always. [Exit codes](exit-codes.md) say how it ended.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page; MkDocs calls this hook by its name."""
    files.append(File.generated(config, _PAGE, content=render()))
    return files


def render() -> str:
    """Render the whole page."""
    group = typer.main.get_command(app)
    assert isinstance(group, click.Group) or hasattr(group, "commands")
    return "\n".join([_INTRODUCTION, *_sections(group, "autoj", level=2)])


def _sections(group: click.Group, path: str, level: int) -> Iterator[str]:
    for name, command in group.commands.items():
        title = f"{path} {name}"
        yield f"{'#' * level} {title}\n"
        yield from _described(command)
        if hasattr(command, "commands"):
            yield from _sections(command, title, level + 1)
        else:
            yield from _usage(command, title)


def _described(command: click.Command) -> Iterator[str]:
    """The help, with the line of its example as code."""
    for paragraph in (command.help or "").split("\n\n"):
        text = " ".join(paragraph.split())
        if text.startswith("Example: "):
            yield f"```sh\n{text.removeprefix('Example: ')}\n```\n"
        else:
            yield f"{_escaped(text)}\n"


def _usage(command: click.Command, title: str) -> Iterator[str]:
    parameters = [one for one in command.params if not getattr(one, "hidden", False)]
    arguments = [one for one in parameters if one.param_type_name == "argument"]
    options = [one for one in parameters if one.param_type_name == "option"]
    names = " ".join(_argument(one) for one in arguments)
    yield f"```text\n{title} {names}{' ' if names else ''}[OPTIONS]\n```\n"
    if parameters:
        yield "| | |\n|---|---|"
        yield from (f"| {_cell(_argument(one))} | {_help(one)} |" for one in arguments)
        yield from (f"| {_option(one)} | {_help(one)} |" for one in options)
        yield ""


def _argument(parameter: click.Parameter) -> str:
    name = (parameter.name or "").upper()
    many = "..." if parameter.nargs == -1 else ""
    return f"{name}{many}" if parameter.required else f"[{name}{many}]"


def _option(parameter: click.Parameter) -> str:
    names = " / ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    kind = "" if getattr(parameter, "is_flag", False) else f" {_cell(_kind(parameter))}"
    return names + kind


def _kind(parameter: click.Parameter) -> str:
    choices = getattr(parameter.type, "choices", None)
    if choices:
        return " | ".join(str(choice) for choice in choices)
    return str(getattr(parameter, "metavar", None) or parameter.type.name).upper()


def _help(parameter: click.Parameter) -> str:
    text = _escaped(" ".join((getattr(parameter, "help", None) or "").split()))
    default = parameter.default
    # "Default: …" stands in the help where None means more than nothing.
    if isinstance(default, bool) or not isinstance(default, str | int | float):
        return text
    return f"{text} Default: `{default}`."


def _cell(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
