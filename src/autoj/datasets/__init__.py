"""Data sets: reads files into cases, with one module per external format, recognised by fields."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from autoj import components
from autoj.datasets._answers import AnswerFiles, is_answer, is_question
from autoj.datasets._columns import map_flag
from autoj.datasets._hub import data_files, is_at_hand, is_dataset, parse_name
from autoj.datasets._joined import Join, check_joined, read_joined
from autoj.datasets._mapping import ColumnMap, parse_map
from autoj.datasets._queries import is_query, is_text_file, read_queries, read_text_file
from autoj.datasets._rows import data_files_in, first_row, read_rows
from autoj.datasets.base import Cases, read_file
from autoj.datasets.published_verdicts import verdict_format_of
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.inputs import is_stream, stream_name

__all__ = [
    "ColumnMap",
    "Join",
    "data_files_in",
    "data_name",
    "data_paths",
    "format_names",
    "is_at_hand",
    "is_dataset",
    "open_answers",
    "open_cases",
    "open_joined",
    "open_queries",
    "parse_map",
]


_NO_FORMATS = {"catalog", "overlap", "placed-queries", "published-verdicts", "sampling"}
"""Modules of this room that do not read cases."""
_N_CHECKED = 100
"""Number of rows read to find the columns of a map, as rows may leave fields out."""


def format_names() -> tuple[str, ...]:
    """The names of all formats, sorted."""
    return tuple(name for name in components.names("datasets") if name not in _NO_FORMATS)


def open_cases(
    path: Path,
    format: str | None = None,
    columns: ColumnMap | None = None,
    *,
    first_turns: bool = False,
) -> Cases:
    """Opens a file of cases, or a data set of Hugging Face.

    Args:
        path: a file whose name ends in `.jsonl`, `.json` (a list of rows), `.csv`, `.tsv` (each
            compressed where `.gz` follows) or `.parquet`; `-` (stdin) or a pipe, whose kind is
            recognised; or `hf-dataset:NAME[:SPLIT]`, or the folder of a saved data set.
        format: a format's name; None recognises it from the fields of the first row.
        columns: maps columns to fields, in place of a format.
        first_turns: True takes the first turn of conversations alone, with the label of the whole,
            where a format holds conversations that differ in their earlier turns.

    Raises:
        DataError: the file cannot be read, is empty, is of no known format, or lacks a column.
        ConfigError: several formats fit, or both a format and columns are given.
        MissingExtra: reading it needs packages that are not installed.
    """
    paths, name = _place(path)
    if columns is not None:
        if format is not None:
            raise ConfigError("--format and --map cannot be used together")
        first_row(path)
        columns.check(path, _rows_alone(path))
        return Cases(
            format="mapped columns",
            paths=paths,
            read=lambda: read_file(path, columns.to_case, as_texts=True),
            derivation=f"map {columns}",
            name=name,
        )
    chosen = format or _recognise(path)
    if "." not in chosen and chosen.replace("_", "-") not in format_names():
        raise UnknownComponent("data format", chosen, format_names())
    module = components.load("datasets", chosen)
    # A format whose columns may have several names says which it reads.
    describe = getattr(module, "describe", None)
    note = None if describe is None else describe(first_row(path)[1])
    read = getattr(module, "read_first_turns", module.read) if first_turns else module.read
    return Cases(
        format=chosen,
        paths=paths,
        read=lambda: read(path),
        name=name,
        note=note,
        testing_only=getattr(module, "TESTING_ONLY", False),
    )


def open_queries(path: Path, format: str | None = None, columns: ColumnMap | None = None) -> Cases:
    """Opens a file for its queries alone: cases in any format, or rows with nothing to judge.

    Args:
        path: as in `open_cases`; also rows of a `query` without responses, and text files
            (`.txt`) with a query on each line.
        format: as in `open_cases`.
        columns: as in `open_cases`; the query's column is enough.

    Raises:
        DataError: as `open_cases`.
        ConfigError: as `open_cases`.
        MissingExtra: as `open_cases`.
    """
    if format is None and columns is None:
        if is_text_file(path):
            # A missing file is better reported now than at its first row.
            next(iter(read_text_file(path)), None)
            paths, name = _place(path)
            return Cases(
                format="a query a line", paths=paths, read=lambda: read_text_file(path), name=name
            )
        if is_query(first_row(path)[1]):
            paths, name = _place(path)
            return Cases(format="queries", paths=paths, read=lambda: read_queries(path), name=name)
    return open_cases(path, format, columns)


def open_joined(
    a: Path,
    b: Path,
    *,
    format: str | None = None,
    columns: ColumnMap | None = None,
    join: Join = "strict",
) -> Cases:
    """Joins two files with one response per query each, on the query.

    Args:
        a: the file of response a.
        b: the file of response b; it is held in memory.
        format: as in `open_cases`, of both.
        columns: as in `open_cases`, of both.
        join: "strict" raises for a query that one file lacks, "inner" leaves it out.

    Raises:
        DataError: as `open_cases`; or the files' queries do not match.
    """
    first, second = open_cases(a, format, columns), open_cases(b, format, columns)
    reads = (first.read, second.read)
    note = check_joined((a, b), reads, join)
    made = [first.derivation, f"{join} join" if note else None]
    return Cases(
        format=f"{first.format} joined with {second.format}",
        paths=(*first.paths, *second.paths),
        read=lambda: read_joined((a, b), reads),
        derivation="; ".join(part for part in made if part) or None,
        name=first.name,
        note=note,
    )


def open_answers(
    questions: Path, answers: tuple[Path, ...], *, turn: int = 1, join: Join = "strict"
) -> Cases:
    """Opens MT-Bench's or Arena-Hard's questions with the answers of one model, or of two.

    Args:
        questions: `question.jsonl`.
        answers: one file of `model_answer/` to rate, or two to compare, a first.
        turn: the turn to judge, counted from 1.
        join: "strict" raises for a question that a file does not answer, "inner" leaves it out.

    Raises:
        DataError: a file cannot be read, or the questions do not match.
    """
    files = AnswerFiles(questions=questions, answers=answers, turn=turn, join=join)
    note = files.check()
    made = [f"turn {turn}", f"{join} join" if note else None]
    return Cases(
        format="answers to questions",
        paths=(*answers, questions),
        read=files.read,
        derivation="; ".join(part for part in made if part),
        note=note,
    )


def data_name(path: Path) -> str:
    """A short name of a file or a data set, for tables and ids; nothing is read.

    >>> data_name(Path("votes/june.jsonl.gz")), data_name(Path("hf-dataset:owner/name:train"))
    ('june', 'name-train')
    """
    if str(path) == "-":
        return "stdin"
    if not is_dataset(path):
        return path.name.partition(".")[0]
    wanted = parse_name(path)
    named = [Path(wanted.name).name, wanted.config, wanted.split]
    return "-".join(part for part in named if part)


def data_paths(path: Path) -> tuple[Path, ...]:
    """The local files that hold the rows of a file or a data set, whatever its format.

    Raises:
        DataError: there is no such data set.
        MissingExtra: a data set needs packages that are not installed.
    """
    return data_files(path) if is_dataset(path) else (path,)


def _place(path: Path) -> tuple[tuple[Path, ...], str | None]:
    """The files that hold a data set, and the name of its runs where it is not the first file's."""
    if is_dataset(path):
        return data_paths(path), data_name(path)
    return data_paths(path), stream_name(path) if is_stream(path) else None


def _rows_alone(path: Path) -> Iterator[dict[str, Any]]:
    rows: Iterable[Any] = (row for _, row in islice(read_rows(path), _N_CHECKED))
    return (row for row in rows if not isinstance(row, DataError))


def _recognise(path: Path) -> str:
    line, row = first_row(path)
    modules: dict[str, ModuleType] = {
        name: components.load("datasets", name) for name in format_names()
    }
    candidates = [name for name, module in modules.items() if module.matches(row)]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise ConfigError(
            f"{path}: the fields {', '.join(map(repr, row))} fit several formats: "
            f"{', '.join(candidates)}; choose one with --format"
        )
    raise _unknown(path, line, row, modules)


def _unknown(
    path: Path, line: int, row: dict[str, Any], modules: dict[str, ModuleType]
) -> DataError:
    if is_answer(row) or is_question(row):
        there, lacks = ("answers", "questions") if is_answer(row) else ("questions", "answers")
        return DataError(
            f"holds {there} without their {lacks}",
            path=path,
            line=line,
            hint="autoj judge --questions question.jsonl --a ONE.jsonl --b OTHER.jsonl reads both.",
        )
    if (verdicts := verdict_format_of(row)) is not None:
        return DataError(
            f"holds another judge's verdicts ({verdicts}), not cases",
            path=path,
            line=line,
            hint="autoj.datasets.published_verdicts.read_verdicts reads them.",
        )
    expected = "\n    ".join(f"{name}: {module.FIELDS}" for name, module in modules.items())
    return DataError(
        f"the fields {', '.join(map(repr, row)) or '(none)'} fit no known format",
        path=path,
        line=line,
        hint=f"Name the columns, for example: {map_flag(row)}\n"
        "  (or response=COLUMN in place of a and b; label, id, model_a and others may follow)\n"
        f"  Known formats:\n    {expected}",
    )
