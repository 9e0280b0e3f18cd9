"""Help in sections: each flag stands under the title that its option names, in plain text.

Typer draws such sections as Rich panels only, whose tables leave 20 columns for the help text on a
terminal of 80, and cut flags and words on one of 60.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from autoj.cli._options import TITLES
from autoj.errors import ConfigError

_ARGUMENTS = "Arguments"
_OPTIONS = "Options"
_FLAG = re.compile(r"--[a-z][a-z-]*")

# Contexts and formatters are Click's or Typer's own, by the version of Typer, so their types are
# not named.


def _write_sections(command: Any, context: Any, formatter: Any) -> None:
    """Write the arguments and flags, each under its title."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            sections.setdefault(_title(parameter), []).append(record)
    for title in (_ARGUMENTS, *TITLES, _OPTIONS):
        if title in sections:
            _write_list(formatter, title, sections[title])


def _title(parameter: Any) -> str:
    default = _ARGUMENTS if parameter.param_type_name == "argument" else _OPTIONS
    # The flag --help is made by Click and has no title.
    return getattr(parameter, "rich_help_panel", None) or default


def _write_list(formatter: Any, title: str, records: list[tuple[str, str]]) -> None:
    with formatter.section(title):
        # Long names stand on a line of their own, so that a narrow terminal has room for the text.
        formatter.write_dl(records, col_max=formatter.width // 3)


def _check_values(args: list[str]) -> None:
    """Refuse empty values, as of an unset variable: as a path, one would mean this folder.

    Raises:
        ConfigError: an argument is empty, or the value of a flag.
    """
    for before, given in pairwise(["", *args]):
        flag = before if given == "" else given.removesuffix("=")
        if given == "" or (flag != given and _FLAG.fullmatch(flag)):
            what = f"the value of {flag}" if _FLAG.fullmatch(flag) else "an argument"
            raise ConfigError(
                f"{what} is empty", hint="Leave it out, or check the variable that it came from."
            )


class _Command(TyperCommand):
    """A command whose help has sections, and which refuses empty values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; Click calls this by its name."""
        _check_values(args)
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections; Click calls this by its name."""
        _write_sections(self, ctx, formatter)


class _Group(TyperGroup):
    """A group of commands whose help has sections and lists the commands uncut."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections and the commands; Click calls this by its name."""
        _write_sections(self, ctx, formatter)
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        _write_list(
            formatter,
            "Commands",
            [(name, _first_paragraph(command)) for name, command in commands if command],
        )


def _first_paragraph(command: Any) -> str:
    return " ".join((command.help or "").strip().partition("\n\n")[0].split())


class App(typer.Typer):
    """A Typer application whose commands and groups have help in sections; `-h` shows it, too."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            cls=_Group,
            context_settings={"help_option_names": ["--help", "-h"]},
            add_completion=False,
            pretty_exceptions_enable=False,
            rich_markup_mode=None,
            **settings,
        )

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Register a command, as in Typer."""
        return super().command(name, cls=_Command, **settings)
