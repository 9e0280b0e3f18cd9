"""The commands, and the one place where an error becomes an exit code.

Exit codes: 0 done; 1 done with failures; 2 a user error; 3 the engine broke down;
130 stopped by Ctrl-C.
"""

from __future__ import annotations

import logging
import sys
import traceback
from importlib.metadata import version
from typing import Annotated

import typer

from autoj.cli import _console
from autoj.cli._help import App
from autoj.cli.audit import audit
from autoj.cli.bench import bench_app
from autoj.cli.cache import cache_app
from autoj.cli.calibrate import calibrate
from autoj.cli.check import check
from autoj.cli.classify import classify
from autoj.cli.data import data_app
from autoj.cli.export import export
from autoj.cli.export_model import export_model
from autoj.cli.judge import judge
from autoj.cli.judges import judges_app
from autoj.cli.leaderboard import leaderboard
from autoj.cli.merge import merge
from autoj.cli.rate import rate
from autoj.cli.scenarios import scenarios_app
from autoj.cli.select import select
from autoj.cli.show import show
from autoj.cli.train import train
from autoj.errors import AutojError, UserError

app = App(
    name="autoj",
    help="Generative judges of language models: compare two responses, rate one, and explain why.",
    no_args_is_help=True,
)
app.command()(judge)
app.command()(rate)
app.command()(select)
app.command()(classify)
app.command()(show)
app.command()(export)
app.command()(merge)
app.command()(check)
app.command()(audit)
app.command()(calibrate)
app.command()(leaderboard)
app.command()(train)
app.command("export-model")(export_model)
app.add_typer(judges_app, name="judges")
app.add_typer(bench_app, name="bench")
app.add_typer(data_app, name="data")
app.add_typer(scenarios_app, name="scenarios")
app.add_typer(cache_app, name="cache")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"autoj {version('autoj')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log to stderr.")] = False,
) -> None:
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        format="%(name)s: %(message)s",
        stream=sys.stderr,
    )


def main() -> None:
    """Run the command line and exit."""
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
        _console.print_error(UserError(str(error)))
        sys.exit(2)
    except Exception:
        # Python's own code for a crash is 1, which here says that a command is done.
        traceback.print_exc()
        _console.print_message("This is a bug in autoj. Please report it with the lines above.")
        sys.exit(4)
