"""The commands, and the one place where an error becomes an exit code.

Exit codes: 0 done; 1 done with failures; 2 a user error; 3 the engine broke down;
130 stopped by Ctrl-C.
"""

import logging
import sys
import traceback
from importlib.metadata import version
from typing import Annotated

import typer

from autoj import components, trust
from autoj.cli import _console
from autoj.cli._commands import COMMANDS
from autoj.cli._help import App
from autoj.errors import AutojError, ConfigError, UserError
from autoj.reports.text import visible
from autoj.system_errors import system_error

app = App(
    COMMANDS,
    name="autoj",
    help="Generative judges of language models: compare two responses, rate one, and explain why.",
    no_args_is_help=True,
    add_completion=True,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"autoj {version('autoj')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log to stderr.")] = False,
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE",
            help="Allow a module of another package as a backend or a protocol, such as "
            "their_package.engine; say it once per module.",
        ),
    ] = None,
    allow_key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VARIABLE@HOST",
            help="Allow judges' cards to send the key in an environment variable to a host; kept "
            "for the next time.",
        ),
    ] = None,
    trust_remote_code: Annotated[
        bool,
        typer.Option(
            "--trust-remote-code",
            help="Let models of transformers and vLLM run code that comes with their weights.",
        ),
    ] = False,
) -> None:
    _log_to_stderr(logging.INFO if verbose else logging.WARNING)
    for name in plugin or ():
        components.allow(name)
    for grant in allow_key or ():
        _console.print_message(f"{grant} is allowed, and kept in {trust.allow_key(grant)}.")
    if trust_remote_code:
        trust.allow_remote_code()
    if context.invoked_subcommand is None and not allow_key:
        raise ConfigError("give a command", hint="autoj --help lists them.")


def _log_to_stderr(level: int) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])


class _Formatter(logging.Formatter):
    """Spells out control characters: messages may quote a server or a file."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record; logging calls this by its name."""
        return visible(super().format(record))


def main() -> None:
    """Run the command line and exit."""
    _console.spell_out_unknown_characters()
    try:
        app()
    except UserError as error:
        _console.print_error(error)
        sys.exit(2)
    except AutojError as error:
        _console.print_error(error)
        sys.exit(3)
    except KeyboardInterrupt:
        _console.print_message("Stopped.")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output is gone, as with `autoj show … | head`.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        _console.print_error(system_error(error))
        sys.exit(2)
    except Exception:
        # Python's own code for a crash is 1, which here says that a command is done.
        traceback.print_exc()
        _console.print_message("This is a bug in autoj. Please report it with the lines above.")
        sys.exit(4)
