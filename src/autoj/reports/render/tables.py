"""The tables of all reports: labels with values, lists with columns, and estimates by column.

Texts in cells are judged texts or names that others chose: none is markup, and control characters
are spelled out. On a narrow terminal, texts are clipped or wrapped first; a number is never cut,
and columns that do not fit move to a further table below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from autoj.records import Estimate
from autoj.reports.render.estimates import estimate_cell
from autoj.reports.render.numbers import MISSING, count
from autoj.reports.text import excerpt, visible_text

Cell: TypeAlias = Text | str | int | None
"""A text that is shown as it is, a count, or None for an unknown value."""
Spacing: TypeAlias = Literal["indented", "flush", "tight"]
"""Columns two apart with a space before the first; two apart; one apart, for wide tables."""

_PADDING: dict[Spacing, tuple[int, int, int, int]] = {
    "indented": (0, 1, 0, 1),
    "flush": (0, 1, 0, 1),
    "tight": (0, 1, 0, 0),
}
_USUAL_COLUMNS = 80
_LEAST_TEXT = 12
"""Characters that a text keeps at least before a table is broken."""
_MOST_TEXT = 24
"""Characters that a text gets at most in a broken table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a listing."""

    heading: Cell
    gives_way: Literal["clipped", "wrapped", "never"]
    """Treatment of its cells on a terminal that is too narrow."""
    width: int | None = None
    """Characters of a text at most; longer ones are clipped."""
    grows: bool = False
    """Has the columns that a terminal has beyond 80, too."""
    right: bool = False
    follows: bool = False
    """Stays in one table with the column before it, such as a p-value."""
    style: str = ""

    def on(self, spare: int) -> Column:
        """The column on a terminal that has so many columns to spare."""
        if not self.grows or self.width is None:
            return self
        return replace(self, width=self.width + spare)

    @classmethod
    def text(cls, heading: Cell, width: int | None = None, *, grows: bool = False) -> Column:
        """Texts on one line each."""
        return cls(heading=heading, gives_way="clipped", width=width, grows=grows)

    @classmethod
    def prose(cls, heading: Cell, width: int | None = None) -> Column:
        """Texts that are wrapped."""
        return cls(heading=heading, gives_way="wrapped", width=width)

    @classmethod
    def word(cls, heading: Cell) -> Column:
        """Single words, or numbers aligned on the left."""
        return cls(heading=heading, gives_way="never")

    @classmethod
    def count(cls, heading: Cell) -> Column:
        """Counts that belong to the texts before them."""
        return cls(heading=heading, gives_way="wrapped", right=True)

    @classmethod
    def number(cls, heading: Cell, *, follows: bool = False, style: str = "") -> Column:
        """Numbers aligned on the right."""
        return cls(heading=heading, gives_way="never", right=True, follows=follows, style=style)


class Listing:
    """A table with column headings, broken by columns if the terminal is too narrow.

    Args:
        columns: from left to right.
        spacing: between them.
    """

    def __init__(self, *columns: Column, spacing: Spacing = "indented") -> None:
        self._columns = columns
        self._spacing: Spacing = spacing
        self._rows: list[tuple[tuple[Cell, ...], str]] = []

    def add(self, *cells: Cell, style: str = "") -> None:
        """Add a row, with a cell for each column."""
        if len(cells) != len(self._columns):
            raise ValueError(f"{len(cells)} cells for {len(self._columns)} columns")
        self._rows.append((cells, style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Only an indented table has space at the page's edges.
        width = options.max_width + {"indented": 0, "flush": 2, "tight": 1}[self._spacing]
        spare = max(0, options.max_width - _USUAL_COLUMNS)
        columns = [column.on(spare) for column in self._columns]
        rows = [(tuple(map(_shown, cells, columns)), style) for cells, style in self._rows]
        yield from _Layout(columns, rows, self._spacing).tables(width)


class _Layout:
    """The columns and rows of a listing on a terminal of a certain width."""

    def __init__(
        self,
        columns: Sequence[Column],
        rows: Sequence[tuple[tuple[Text, ...], str]],
        spacing: Spacing,
    ) -> None:
        self._columns, self._rows, self._spacing = columns, rows, spacing

    def tables(self, width: int) -> Iterator[Table]:
        """The tables, one below the other if the columns do not fit."""
        for block in self._blocks(width):
            yield self._drawn(block, width)

    def _drawn(self, block: Sequence[int], width: int) -> Table:
        widths = self._widths(width, _MOST_TEXT)
        # Prose is wrapped before other texts are clipped.
        firm = ("never", "clipped") if sum(widths[at] for at in block) <= width else ("never",)
        table = _table(self._spacing, header_style="bold")
        for index in block:
            column = self._columns[index]
            table.add_column(
                _shown(column.heading, column, is_heading=True),
                justify="right" if column.right else "left",
                no_wrap=column.gives_way in firm,
                overflow="fold" if column.gives_way == "wrapped" else "ellipsis",
                style=column.style,
            )
        for cells, style in self._rows:
            table.add_row(*(cells[index] for index in block), style=style)
        return table

    def _blocks(self, width: int) -> Iterator[list[int]]:
        """The columns of each table: all in one if they fit, else each repeats the first texts."""
        if sum(self._widths(_LEAST_TEXT, _LEAST_TEXT)) <= width:
            yield list(range(len(self._columns)))
            return
        widths = self._widths(_MOST_TEXT, _MOST_TEXT)
        n_head = next(
            (at for at, column in enumerate(self._columns) if column.gives_way == "never"), 0
        )
        head = list(range(n_head))
        block = head
        for group in self._groups(n_head):
            if block != head and sum(widths[index] for index in (*block, *group)) > width:
                yield block
                block = head
            block = [*block, *group]
        yield block

    def _groups(self, start: int) -> list[list[int]]:
        """Columns, grouped by what stays in one table."""
        groups: list[list[int]] = []
        for index in range(start, len(self._columns)):
            if groups and self._columns[index].follows:
                groups[-1].append(index)
            else:
                groups.append([index])
        return groups

    def _widths(self, clipped: int, wrapped: int) -> list[int]:
        """The columns' widths with the space beside them, texts limited to the given widths."""
        most = {"clipped": clipped, "wrapped": wrapped}
        widths = []
        for index, column in enumerate(self._columns):
            cells = [_shown(column.heading, column, is_heading=True)]
            cells += [row[index] for row, _ in self._rows]
            widest = max(line.cell_len for cell in cells for line in cell.split(allow_blank=True))
            shown = min(widest, most.get(column.gives_way, widest))
            widths.append(shown + (1 if self._spacing == "tight" else 2))
        return widths


def _shown(cell: Cell, column: Column, *, is_heading: bool = False) -> Text:
    if isinstance(cell, Text):
        shown = cell.copy()
    elif isinstance(cell, int):
        shown = Text(count(cell))
    elif cell is not None and column.width is not None and not is_heading:
        shown = excerpt(cell, column.width)
    else:
        shown = visible_text(MISSING if cell is None else cell)
    if column.gives_way == "clipped":
        shown.no_wrap, shown.overflow = True, "ellipsis"
    return shown


def _table(spacing: Spacing, *, header_style: str = "", show_header: bool = True) -> Table:
    return Table(
        box=None,
        header_style=header_style,
        show_header=show_header,
        padding=_PADDING[spacing],
        pad_edge=spacing == "indented",
    )


def facts(rows: Iterable[tuple[str, Cell]], spacing: Spacing = "indented") -> Table:
    """Labels with their values, one per line; long values are wrapped.

    Args:
        rows: label and value.
        spacing: between the two.
    """
    table = _table(spacing, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, cell in rows:
        table.add_row(visible_text(label), _shown(cell, Column.prose("")))
    return table


def citations(rows: Iterable[tuple[int, str]]) -> Table:
    """Numbered sources below a table.

    Args:
        rows: number and source.
    """
    table = _table("tight", show_header=False)
    table.style = "dim"
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for at, source in rows:
        table.add_row(Text(f"[{at}]"), visible_text(source))
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRow:
    """A judge, or a part of the cases, with its estimates."""

    name: Text | str
    estimates: Iterable[Estimate]
    style: str = ""


def figures(
    name: Column,
    columns: Mapping[str, str],
    rows: Iterable[FigureRow],
    *,
    with_n: bool = True,
    spacing: Spacing = "flush",
) -> Listing:
    """Estimates side by side: a row per judge or part, a column per figure.

    Args:
        name: the first column.
        columns: headings by the figures' names.
        rows: from top to bottom; a missing figure is a dash.
        with_n: add a column with the number of cases, scored or not.
        spacing: between columns.
    """
    counted = [Column.count("n")] if with_n else []
    listing = Listing(name, *counted, *map(Column.number, columns.values()), spacing=spacing)
    for row in rows:
        found = {estimate.name: estimate for estimate in row.estimates}
        n = [max(each.n + each.n_unscored for each in found.values())] if with_n else []
        cells = [estimate_cell(found.get(figure), short=True) for figure in columns]
        listing.add(row.name, *n, *cells, style=row.style)
    return listing


def with_more(listing: RenderableType, n_more: int, file: Path) -> RenderableType:
    """A listing, and below it the number of further rows in a file."""
    if n_more <= 0:
        return listing
    return Group(listing, Text(f" … {n_more:,} more in {file}", style="dim"))


def notes(lines: Iterable[str], style: str = "dim") -> list[RenderableType]:
    """Sentences below a table, one per line."""
    return [visible_text(line, style=style) for line in lines]
