"""The data set that flags name: one file, two joined files, questions with answers, or columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from autoj.cli import _console, _options
from autoj.datasets import Join, open_answers, open_cases, open_joined, parse_map
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.inputs import is_stream, stream_name

Map: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="The columns, for files of no known format: query=question,a=one,b=two,"
        "label=winner for pairs, query=question,response=text for one response. Paths reach into "
        "nested fields (messages.0.content); a label's codes follow it in the order a, b, tie "
        "(label=winner:1/2/0).",
        rich_help_panel=_options.JUDGED,
    ),
]
JoinRule: TypeAlias = Annotated[
    Join | None,
    typer.Option(
        "--join",
        help="If the queries of two files do not match: strict is an error, inner uses those "
        "that both have. Default: strict.",
        rich_help_panel=_options.JUDGED,
    ),
]
Questions: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        help="The question.jsonl of MT-Bench or Arena-Hard, if the files have answers only.",
        rich_help_panel=_options.JUDGED,
    ),
]
Turn: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--turn",
        min=1,
        help="With --questions: the turn to judge, after those before it. Default: 1.",
        rich_help_panel=_options.JUDGED,
    ),
]


def tell_stream(path: Path) -> None:
    """Say that a stream is read to its end, which may wait for another program."""
    if is_stream(path):
        _console.print_message(f"reading {stream_name(path)} to its end")


def tell_format(paths: Sequence[Path], format: str) -> None:
    """Say how files were recognised; a stream by its own name, as `-` is none."""
    named = " and ".join(stream_name(path) if is_stream(path) else str(path) for path in paths)
    _console.print_message(f"reading {named} as {format}")


def find_cases(
    data: Path | None,
    a: Path | None,
    b: Path | None,
    format: str | None = None,
    *,
    columns: list[str] | None = None,
    join: Join | None = None,
    questions: Path | None = None,
    turn: int | None = None,
) -> Cases:
    """The data set that the flags name; a message says how it was recognised.

    Args:
        data: one file.
        a: the first of two files of responses.
        b: the second of them.
        format: a format's name, if the fields fit several.
        columns: the columns, in place of a format.
        join: the treatment of queries that only one of several files has.
        questions: the file of the questions that the files answer.
        turn: the turn of a conversation to judge.

    Raises:
        ConfigError: neither one file nor two are named, or both; or flags cannot be used together.
        DataError: a file cannot be read, or the files do not match.
    """
    named = tuple(path for path in (data, a, b) if path is not None)
    two = data is None and len(named) == 2
    if not two and named != (data,):
        raise ConfigError("give one file of cases, or two files of responses with --a and --b")
    if turn is not None and questions is None:
        raise ConfigError("--turn needs --questions, the file with the question of each turn")
    if join is not None and not two and questions is None:
        raise ConfigError("--join needs two files: --a and --b, or --questions")
    if questions is not None and (format is not None or columns):
        raise ConfigError(
            f"--questions and {'--map' if columns else '--format'} cannot be used together"
        )
    mapped = parse_map(columns) if columns else None
    for path in named:
        tell_stream(path)
    rule = join or "strict"
    if questions is not None:
        cases = open_answers(questions, named, turn=turn or 1, join=rule)
    elif two:
        cases = open_joined(*named, format=format, columns=mapped, join=rule)
    else:
        cases = open_cases(named[0], format, mapped)
    tell_format(named, cases.format)
    if cases.note is not None:
        _console.print_message(cases.note)
    return cases
