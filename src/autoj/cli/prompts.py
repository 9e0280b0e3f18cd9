"""`autoj prompts`: ours as files to start from, one's own checked, and those of other tools."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from autoj.cli import _console, _options
from autoj.cli._help import App
from autoj.prompts import import_alpaca_eval, import_prometheus, write_prompt
from autoj.protocols import file_of, load_protocol, protocol_names
from autoj.reports.prompts import outline_record, prompt_record, prompt_view, prompts_table
from autoj.reports.text import visible
from autoj.tasks.prompts import save_text, text_of

prompts_app = App(invoke_without_command=True)
imports_app = App(
    no_args_is_help=True, help="Write a prompt of another tool as a file: AlpacaEval, Prometheus."
)
prompts_app.add_typer(imports_app, name="import")

Out: TypeAlias = Annotated[
    Path | None,
    _options.output("--out", help="The prompt's file (….md). Default: stdout."),
]
Name: TypeAlias = Annotated[
    str | None,
    _options.shown(
        "--name",
        help="The prompt's name, if not that of its source. AlpacaEval: the annotator, if there "
        "are several.",
    ),
]


@prompts_app.callback()
def prompts(context: typer.Context, as_json: _options.Json = False) -> None:
    """List the prompts that judges are asked by; --prompt takes one of these or a file of your own.

    Example: autoj prompts
    """
    if context.invoked_subcommand is None:
        list_prompts()


@prompts_app.command("list")
def list_prompts(as_json: _options.Json = False) -> None:
    """List the prompts, as `autoj prompts` alone does.

    Example: autoj prompts list
    """
    found = [load_protocol(name) for name in protocol_names()]
    _console.show(found, lambda its: [*map(outline_record, its)], prompts_table)


@prompts_app.command("show")
def show_prompt(
    name: Annotated[str, typer.Argument(help="A protocol's name, a prompt's file, or a run.")],
    out: Out = None,
) -> None:
    """Print a prompt as a file to change: one of ours, or the one that a run was made with.

    Example: autoj prompts show pairwise --out my-prompt.md
    """
    _write(text_of(name) or file_of(load_protocol(name)), out)


@prompts_app.command("check")
def check_prompt(
    file: Annotated[Path, typer.Argument(help="A prompt's file.")],
    as_json: _options.Json = False,
) -> None:
    """Check a prompt's file, and show what a judge would read of an example.

    Example: autoj prompts check my-prompt.md
    """
    _console.show(load_protocol(str(file.absolute())), prompt_record, prompt_view)


@imports_app.command("alpaca-eval")
def from_alpaca_eval(
    folder: Annotated[Path, typer.Argument(help="A folder with configs.yaml, as in AlpacaEval.")],
    name: Name = None,
    out: Out = None,
) -> None:
    """Write an annotator of AlpacaEval (its annotators_config) as a prompt's file.

    Its model, temperature and max_tokens belong in --judge, --temperature and --max-tokens.

    Example: autoj prompts import alpaca-eval alpaca_eval_gpt4 --out my-prompt.md
    """
    _write(write_prompt(import_alpaca_eval(folder, name)), out)


@imports_app.command("prometheus")
def from_prometheus(
    rubric: Annotated[
        Path, typer.Argument(help="A JSON file: criteria, score1_description … score5_description.")
    ],
    kind: Annotated[
        Literal["single", "pairwise"],
        _options.shown(help="Rate one response, or compare two."),
    ] = "single",
    reference: Annotated[
        bool,
        _options.shown("--reference", help="Show the rows' reference answers."),
    ] = False,
    name: Name = None,
    out: Out = None,
) -> None:
    """Write a rubric of Prometheus (scores 1 to 5) as a prompt's file, in our words around it.

    Example: autoj prompts import prometheus rubric.json --out my-prompt.md
    """
    _write(write_prompt(import_prometheus(rubric, kind, reference=reference, name=name)), out)


def _write(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(visible(text), nl=False)
        return
    save_text(text, out)
    _console.print_message(f"{out} is written; --prompt {out} judges by it")
