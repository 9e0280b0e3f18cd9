"""Help in sections: each flag stands under the title that its option names, in plain text.

Typer draws such sections as Rich panels only, whose tables leave 20 columns for the help text on a
terminal of 80, and cut flags and words on one of 60.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from autoj.cli._lazy import Commands, Listed
from autoj.cli._options import TITLES
from autoj.cli._words import checked_words

_ARGUMENTS = "Arguments"
_OPTIONS = "Options"
_MOST_COLUMNS = 1000

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


class _Command(TyperCommand):
    """A command whose help has sections, and which refuses empty values."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections; Click calls this by its name."""
        _write_sections(self, ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the flags, also by their former names; Click calls this by its name."""
        try:
            return super().parse_args(ctx, checked_words(args, self.params))
        except typer.BadParameter as error:
            # Later versions of Typer check values with pydantic, and leave its words before theirs.
            error.message = error.message.removeprefix("Value error, ")
            raise


class _Group(TyperGroup):
    """A group of commands whose help has sections and lists the commands uncut."""

    listed: ClassVar[Mapping[str, Listed]] = {}
    """Commands that are imported when they are used."""
    default: ClassVar[str | None] = None
    """The command that is meant where the first word names none."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Commands = Commands(self.listed, self.commands, _built)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections and the commands; Click calls this by its name."""
        _write_sections(self, ctx, formatter)
        _write_list(formatter, "Commands", list(self.commands.summaries().items()))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command's name, or put the default's first; Click calls this by its name."""
        if self.default and args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete a command's name without importing any; Click calls this by its name."""
        summaries = self.commands.summaries()
        commands: dict[str, Any] = {
            name: _Command(name=name, help=text, short_help=text)
            for name, text in summaries.items()
        }
        outline = TyperGroup(name=self.name, commands=commands, params=self.params)
        inner = typer.Context(outline, parent=ctx.parent, info_name=ctx.info_name)
        return outline.shell_complete(inner, incomplete)


def _built(name: str, found: Any) -> Any:
    """The command or group of a function or an application."""
    app = found
    if not isinstance(found, typer.Typer):
        app = App()
        app.command(name)(found)
    command: Any = typer.main.get_command(app)
    command.name = name
    return command


class App(typer.Typer):
    """A Typer application whose commands and groups have help in sections; `-h` shows it, too.

    Args:
        listed: commands that are imported when they are used.
        default: the command that is meant where the first word names none.
        settings: arguments of Typer.
    """

    def __init__(
        self,
        listed: Mapping[str, Listed] | None = None,
        *,
        default: str | None = None,
        add_completion: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(
            cls=type("_Group", (_Group,), {"listed": listed or {}, "default": default}),
            # As wide as the terminal: Click alone writes 80 columns at most.
            context_settings={
                "help_option_names": ["--help", "-h"],
                "max_content_width": _MOST_COLUMNS,
            },
            add_completion=add_completion,
            pretty_exceptions_enable=False,
            rich_markup_mode=None,
            **settings,
        )

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Register a command, as in Typer."""
        return super().command(name, cls=_Command, **settings)
