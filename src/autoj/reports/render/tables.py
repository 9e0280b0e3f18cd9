"""The tables of all reports: labels with values, lists with columns, and estimates by column.

Texts in cells are judged texts or names that others chose: none is markup, and control characters
are spelled out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from autoj.records import Estimate
from autoj.reports.render.estimates import CellFormat, estimate_cell
from autoj.reports.render.numbers import MISSING, count
from autoj.reports.text import excerpt, visible_text

Cell: TypeAlias = Text | str | int | None
"""A text that is shown as it is, a count, or nothing known."""
Spacing: TypeAlias = Literal["indented", "flush", "tight"]
"""Columns two apart with one before the first; two apart; one apart, for the widest tables."""

_PADDING: dict[Spacing, tuple[int, int, int, int]] = {
    "indented": (0, 1, 0, 1),
    "flush": (0, 1, 0, 1),
    "tight": (0, 1, 0, 0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a listing."""

    heading: Cell
    wraps: bool = False
    width: int | None = None
    """Characters of a text at most; longer ones are clipped on any terminal."""
    right: bool = False
    style: str = ""

    @classmethod
    def text(cls, heading: Cell, width: int | None = None) -> Column:
        """Texts on one line each."""
        return cls(heading=heading, width=width)

    @classmethod
    def prose(cls, heading: Cell, width: int | None = None) -> Column:
        """Texts that are wrapped."""
        return cls(heading=heading, wraps=True, width=width)

    @classmethod
    def word(cls, heading: Cell) -> Column:
        """Single words, or numbers that stand on the left."""
        return cls(heading=heading)

    @classmethod
    def count(cls, heading: Cell) -> Column:
        """Counts that belong to the texts before them."""
        return cls(heading=heading, wraps=True, right=True)

    @classmethod
    def number(cls, heading: Cell, *, style: str = "") -> Column:
        """Numbers that stand on the right."""
        return cls(heading=heading, right=True, style=style)


class Listing:
    """A table whose columns have headings.

    Args:
        columns: from left to right.
        spacing: between them.
    """

    def __init__(self, *columns: Column, spacing: Spacing = "indented") -> None:
        self._columns = columns
        self._spacing: Spacing = spacing
        self._rows: list[tuple[tuple[Text, ...], str]] = []

    def add(self, *cells: Cell, style: str = "") -> None:
        """Add a row, with a cell for each column."""
        pairs = zip(cells, self._columns, strict=True)
        self._rows.append((tuple(_shown(cell, column) for cell, column in pairs), style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = _table(self._spacing, header_style="bold")
        for column in self._columns:
            table.add_column(
                _shown(column.heading, column, is_heading=True),
                justify="right" if column.right else "left",
                no_wrap=not column.wraps,
                overflow="fold" if column.wraps else "ellipsis",
                style=column.style,
            )
        for cells, style in self._rows:
            table.add_row(*cells, style=style)
        yield table


def _shown(cell: Cell, column: Column, *, is_heading: bool = False) -> Text:
    if isinstance(cell, Text):
        return cell
    if isinstance(cell, int):
        return Text(count(cell))
    if cell is not None and column.width is not None and not is_heading:
        return excerpt(cell, column.width)
    return visible_text(MISSING if cell is None else cell)


def _table(spacing: Spacing, *, header_style: str = "", show_header: bool = True) -> Table:
    return Table(
        box=None,
        header_style=header_style,
        show_header=show_header,
        padding=_PADDING[spacing],
        pad_edge=spacing == "indented",
    )


def facts(rows: Iterable[tuple[str, Cell]], spacing: Spacing = "indented") -> Table:
    """Labels with their values, a line each; long values are wrapped.

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
    """Numbered sources, as they stand below a table.

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
    form: CellFormat | None = None,
    with_n: bool = True,
    spacing: Spacing = "flush",
) -> Listing:
    """Estimates beside each other: a row a judge or part, a column a figure.

    Args:
        name: the first column.
        columns: the figures' names, with their headings.
        rows: from top to bottom; a figure that one lacks is a dash.
        form: of the cells, from `estimates`.
        with_n: whether a column says how many cases there are, scored or not.
        spacing: between columns.
    """
    counted = [Column.count("n")] if with_n else []
    listing = Listing(name, *counted, *map(Column.number, columns.values()), spacing=spacing)
    for row in rows:
        found = {estimate.name: estimate for estimate in row.estimates}
        n = [max(each.n + each.n_unscored for each in found.values())] if with_n else []
        cells = [estimate_cell(found.get(figure), form) for figure in columns]
        listing.add(row.name, *n, *cells, style=row.style)
    return listing


def with_more(listing: RenderableType, n_more: int, file: Path) -> RenderableType:
    """A listing, and below it how many rows more a file holds."""
    if n_more <= 0:
        return listing
    return Group(listing, Text(f" … {n_more:,} more in {file}", style="dim"))


def notes(lines: Iterable[str], style: str = "dim") -> list[RenderableType]:
    """Sentences below a table, a line each."""
    return [visible_text(line, style=style) for line in lines]
