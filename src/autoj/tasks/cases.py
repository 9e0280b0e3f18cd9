"""The data set that a caller names: one file, two joined files, or questions with answers."""

from collections.abc import Sequence
from pathlib import Path

from autoj.datasets import Join, open_answers, open_cases, open_joined, parse_map
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.inputs import is_stream, stream_name
from autoj.runs.watch import SILENT, Watch


def open_named(
    data: Path | None,
    a: Path | None = None,
    b: Path | None = None,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    *,
    join: Join | None = None,
    questions: Path | None = None,
    turn: int | None = None,
    watch: Watch = SILENT,
) -> Cases:
    """The data set that is named.

    Args:
        data: one file.
        a: the first of two files of responses.
        b: the second of them.
        format: a format's name, if the fields fit several.
        columns: the columns, as `--map` takes them, in place of a format.
        join: the treatment of queries that only one of several files has; None is strict.
        questions: the file of the questions that the files answer.
        turn: the turn of a conversation to judge; None is the first.
        watch: told how the files were recognised.

    Raises:
        ConfigError: neither one file nor two are named, or both; or settings exclude each other.
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
        tell_stream(path, watch)
    rule = join or "strict"
    if questions is not None:
        cases = open_answers(questions, named, turn=turn or 1, join=rule)
    elif two:
        cases = open_joined(*named, format=format, columns=mapped, join=rule)
    else:
        cases = open_cases(named[0], format, mapped)
    tell_format(named, cases, watch)
    if cases.note is not None:
        watch.message(cases.note)
    return cases


def tell_stream(path: Path, watch: Watch) -> None:
    """Says that a stream is read to its end, which may wait for another program."""
    if is_stream(path):
        watch.message(f"reading {stream_name(path)} to its end")


def tell_format(paths: Sequence[Path], cases: Cases, watch: Watch) -> None:
    """Says how files were recognised; a stream by its own name, as `-` is none."""
    named = " and ".join(stream_name(path) if is_stream(path) else str(path) for path in paths)
    watch.message(f"reading {named} as {cases.format}")
