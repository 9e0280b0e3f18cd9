"""Leaderboards: published figures, measured judges, and the baselines that a judge should beat.

Published rows have no intervals and keep their sources' digits. Measured rows are saved results of
`autoj bench`. Baseline rows are computed on the data, where it is on this machine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from autoj.bench.leaderboard.board import Board, BoardRow, Figure, Measured, Section
from autoj.bench.leaderboard.ratings import eval_r_sections, system_level_sections
from autoj.bench.leaderboard.sections import Sections, eval_c_sections, eval_p_sections
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.metrics.result import Result, read_result
from autoj.tasks.default_paths import RUNS

Bench: TypeAlias = Literal["eval-p", "eval-c", "eval-r", "system-level"]

BREAKDOWNS: Mapping[str, str] = {"group": "group", "seen": "seen and unseen"}
"""The breakdowns that columns may show: the name on the command line, and that in a result."""

_SECTIONS: Mapping[Bench, Callable[[Sequence[Measured], str | None], Sections]] = {
    "eval-p": eval_p_sections,
    "eval-c": eval_c_sections,
    "eval-r": eval_r_sections,
    "system-level": system_level_sections,
}
_WITH_PARTS = ("eval-p", "eval-c")
_SORT: Mapping[Bench, str] = {
    "eval-p": "agreement",
    "eval-c": "win",
    "eval-r": "best of 32",
    "system-level": "spearman",
}


def folder_of_runs(runs: Path | None, files: Sequence[Path] = ()) -> Path | None:
    """The folder to search for results; None where files are named and no folder is.

    Args:
        runs: the folder; None takes `runs/`.
        files: results by name.

    Raises:
        DataError: there is no such folder.
    """
    if runs is None:
        return None if files else RUNS
    if not runs.is_dir():
        raise DataError("there is no such folder", path=runs)
    return runs


def find_results(
    bench: Bench, files: Sequence[Path] = (), runs: Path | None = None
) -> list[Measured]:
    """Saved results of a meta-evaluation.

    Args:
        bench: which one.
        files: results by name.
        runs: a folder of runs: each `RUN/<bench>.json` in it is taken, sorted by name.

    Raises:
        DataError: a file is missing, has no result, or one of another meta-evaluation.
    """
    found = sorted(runs.glob(f"*/{bench}.json")) if runs is not None else []
    seen = {path.resolve(): path for path in (*files, *found)}
    return [Measured(path=path, result=_result(bench, path)) for path in seen.values()]


def _result(bench: Bench, path: Path) -> Result:
    result = read_result(path)
    if result.bench != bench:
        raise DataError(
            f"is a result of {result.bench!r}, not of {bench!r} as this leaderboard",
            path=path,
        )
    return result


def board(
    bench: Bench,
    measured: Sequence[Measured] = (),
    *,
    breakdown: str | None = None,
    sort: str | None = None,
) -> Board:
    """The leaderboard of a meta-evaluation.

    Args:
        bench: which one.
        measured: saved results, from `find_results`.
        breakdown: a value of `BREAKDOWNS`, to show one figure by part.
        sort: the figure that rows are sorted by, highest first; with a breakdown, the figure that
            is shown. A row that does not have it stands last: figures of other names are never
            ranked with it.

    Raises:
        ConfigError: the meta-evaluation has no such breakdown.
        UnknownComponent: it has no such figure.
        DataError: a result or the data cannot be read.
    """
    if breakdown is not None and bench not in _WITH_PARTS:
        raise ConfigError(
            f"{bench} has no such breakdown; {' and '.join(_WITH_PARTS)} have one", hint=None
        )
    found = _SECTIONS[bench](measured, breakdown)
    known = tuple(dict.fromkeys(name for each in found.sections for name in each.figures))
    by = sort or _SORT[bench]
    if by not in known:
        raise UnknownComponent("figure", by, known)
    shown = [_sorted(_with_parts(section, breakdown, by), by) for section in found.sections]
    return Board(
        bench=bench,
        breakdown=breakdown,
        sort=by,
        sections=tuple(section for section in shown if section.rows),
        against_baselines=tuple(found.against_baselines),
        messages=(*found.messages, *_left_out(found.sections, shown, by, breakdown)),
    )


def _left_out(
    before: Sequence[Section], after: Sequence[Section], figure: str, breakdown: str | None
) -> list[str]:
    """Notes on measured judges that lack the figure by part, with the way to get it."""
    kept = [row for section in after for row in section.rows]
    way = "choose another figure with --sort"
    if breakdown == BREAKDOWNS["seen"]:
        way = "run autoj bench eval-p with --unseen FILE to add it"
    return [
        f"{row.judge} is not shown: its result has no {figure} by {breakdown}; {way}."
        for section in before
        for row in section.rows
        if row.status == "measured" and row not in kept
    ]


def _with_parts(section: Section, breakdown: str | None, figure: str) -> Section:
    """Only the rows that have the figure by part, where parts are shown."""
    if breakdown is None:
        return section
    rows = tuple(
        row
        for row in section.rows
        if any(figure in part for part in row.parts.get(breakdown, {}).values())
        and value_of(row.figures.get(figure)) is not None
    )
    return replace(section, figures=(figure,), rows=rows)


def _sorted(section: Section, figure: str) -> Section:
    """Highest first; where a section lacks the figure, by its own first one."""
    by = figure if figure in section.figures else section.figures[0]

    def place(row: BoardRow) -> tuple[bool, float]:
        value = value_of(row.figures.get(by))
        return (value is None, -(value or 0.0))

    return replace(section, rows=tuple(sorted(section.rows, key=place)))


def value_of(figure: Figure | None) -> float | None:
    """A figure's value; None where there is none."""
    return None if figure is None else figure.value
