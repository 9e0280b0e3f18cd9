"""Leaderboards as tables for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.bench.leaderboard.board import Board, BoardRow, Clearing, Figure, Section
from autoj.bench.published import Printed, Source
from autoj.reports.text import excerpt, visible_text

__all__ = ["board_view", "clearing_lines"]

_ABBREVIATIONS = {
    "Summarization": "Summ",
    "Exam Questions": "Exam",
    "Code": "Code",
    "Rewriting": "Rewr",
    "Creative Writing": "Crea",
    "Functional Writing": "Func",
    "General Communication": "Comm",
    "NLP Tasks": "NLP",
}
"""The paper's short names of the groups (Table 1), of four letters at most."""

_COMPLETE = "complete"
"""What the authors call seen and unseen scenarios together."""


def board_view(board: Board) -> RenderableType:
    """A board with its sources, its notes, and whether measured judges beat the trivial ones."""
    numbers = _numbered(board)
    parts: list[RenderableType] = []
    for section in board.sections:
        draw = _by_figure if board.breakdown is None else _by_part
        parts += [visible_text(_title(board, section), style="bold")]
        parts += [draw(board, section, numbers), Text()]
    if board.breakdown is None:
        for clears, line in clearing_lines(board.clearings):
            parts.append(visible_text(line, style="" if clears else "yellow"))
    parts += [visible_text(line, style="yellow") for line in board.messages]
    parts += [visible_text(line, style="dim") for line in _key(board)]
    parts += [_sources(numbers), *_notes(board)]
    return Group(*parts)


def _title(board: Board, section: Section) -> str:
    if board.breakdown is None:
        return section.title
    return f"{section.title}: {board.sort} by {board.breakdown}"


def _numbered(board: Board) -> dict[Source, int]:
    """The sources that are cited, numbered as they come; trivial rows have notes instead."""
    found = dict.fromkeys(
        source
        for section in board.sections
        for row in section.rows
        if row.status != "trivial"
        for source in row.sources
    )
    return {source: number for number, source in enumerate(found, start=1)}


def _by_figure(board: Board, section: Section, numbers: dict[Source, int]) -> Table:
    table = _table()
    for name in section.figures:
        cells = [_cell(name, row.figures.get(name)) for row in section.rows]
        table.add_column(
            _heading(name, max(map(len, cells), default=0)), justify="right", no_wrap=True
        )
    for row in section.rows:
        cells = [_cell(name, row.figures.get(name)) for name in section.figures]
        table.add_row(*_head(row, numbers), *cells, style=_style(row))
    return table


def _heading(name: str, width: int) -> str:
    """A heading wider than its figures takes a line a word: the room is the judges'."""
    return name if len(name) <= width else name.replace(" ", "\n")


def _by_part(board: Board, section: Section, numbers: dict[Source, int]) -> Table:
    """Values alone: eight groups with intervals are wider than a terminal."""
    breakdown = board.breakdown or ""
    parts = _parts(section, breakdown)
    table = _table()
    for part in parts:
        table.add_column(_ABBREVIATIONS.get(part, part), justify="right", no_wrap=True)
    table.add_column("all" if breakdown == "group" else _COMPLETE, justify="right", no_wrap=True)
    for row in section.rows:
        its = row.parts.get(breakdown, {})
        cells = [_bare(board.sort, its.get(part, {}).get(board.sort)) for part in parts]
        overall = _bare(board.sort, row.figures.get(board.sort))
        table.add_row(*_head(row, numbers), *cells, overall, style=_style(row))
    return table


def _parts(section: Section, breakdown: str) -> list[str]:
    """Groups in the paper's order, then any others."""
    found = dict.fromkeys(part for row in section.rows for part in row.parts.get(breakdown, {}))
    # A result repeats all cases as a part of their own; they have the last column.
    found.pop(_COMPLETE, None)
    known = [group for group in _ABBREVIATIONS if group in found]
    return known + [part for part in found if part not in known]


def _table() -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("judge", overflow="fold")
    table.add_column("what", no_wrap=True)
    return table


def _head(row: BoardRow, numbers: dict[Source, int]) -> tuple[Text, str]:
    known = sorted(numbers[source] for source in row.sources if source in numbers)
    cited = ",".join(map(str, known))
    name = excerpt(row.judge, 60).append(f" [{cited}]" if cited else "", style="dim")
    return name, row.status + ("*" if row.in_sample else "")


def _style(row: BoardRow) -> str:
    return {"measured": "bold", "trivial": "cyan"}.get(row.status, "")


def _is_share(name: str) -> bool:
    return not name.startswith("best of ") and name not in ("pearson", "spearman", "kendall")


def _cell(name: str, figure: Figure | None) -> str:
    """A figure with its interval; as printed where it was published."""
    if figure is None or figure.value is None:
        return "-"
    if isinstance(figure, Printed):
        return _printed(name, figure)
    scale, digits = (100, 2) if _is_share(name) else (1, 3)
    text = f"{figure.value * scale:.{digits}f}"
    if figure.low is None or figure.high is None:
        return text
    low, high = figure.low * scale, figure.high * scale
    if _is_share(name):
        # Where all came out the same, the interval is narrower than what is shown of it.
        return text if f"{low:.0f}" == f"{high:.0f}" else f"{text} {low:.0f}-{high:.0f}"
    # A coefficient may be negative: no dash between the two.
    return f"{text} [{low:.2f},{high:.2f}]"


def _printed(name: str, figure: Printed) -> str:
    text = figure.text
    if _is_share(name) and "/" in text:
        text = f"{figure.value * 100:.1f} ({text})"
    return text if figure.remark is None else f"{text}†"


def _bare(name: str, figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "-"
    if isinstance(figure, Printed) and "/" not in figure.text:
        return figure.text
    return f"{figure.value * 100:.1f}" if _is_share(name) else f"{figure.value:.3f}"


def clearing_lines(clearings: Sequence[Clearing]) -> list[tuple[bool, str]]:
    """In words, for each measured judge and figure: whether it is better than the trivial judges.

    Returns:
        Whether it is better than all of them, and the sentence.
    """

    def key(clearing: Clearing) -> tuple[str, str, str]:
        return clearing.judge, clearing.source, clearing.figure

    return [
        (all(one.clears for one in found), _sentence(*names, found))
        for names, group in groupby(clearings, key=key)
        for found in [list(group)]
    ]


def _sentence(judge: str, source: str, figure: str, clearings: Sequence[Clearing]) -> str:
    beaten = " and ".join(clearing.trivial for clearing in clearings if clearing.clears)
    unbeaten = ", ".join(_against(clearing) for clearing in clearings if not clearing.clears)
    said = [f"does not clear {unbeaten}"] if unbeaten else []
    said += [f"is better than {beaten}"] if beaten else []
    how = "" if clearings[0].difference is not None else " (intervals compared, not cases)"
    return f"{judge} ({source}) on {figure}: {'; '.join(said)}{how}."


def _against(clearing: Clearing) -> str:
    found = clearing.difference
    if found is None or found.value is None:
        return clearing.trivial
    scale, digits, unit = (100, 1, " points") if _is_share(clearing.figure) else (1, 3, "")
    text = f"{clearing.trivial} ({found.value * scale:+.{digits}f}{unit}"
    if found.low is not None and found.high is not None:
        text += f" [{found.low * scale:+.{digits}f}, {found.high * scale:+.{digits}f}]"
    return text + ")"


def _key(board: Board) -> Iterator[str]:
    rows = [row for section in board.sections for row in section.rows]
    if board.breakdown is None:
        yield "With 95 % intervals; published figures have none and stand as they were printed."
    else:
        yield "Intervals of measured and trivial rows: --json or --csv."
    if any(row.in_sample for row in rows):
        yield "* in-sample: a tie threshold was chosen on the very labels that it is scored on."
    alone = dict.fromkeys(
        row.judge for row in rows if row.kind == "single" and "averaged accuracy" in row.figures
    )
    if board.breakdown is None and alone:
        yield f"Read each response alone, and so have no agreement: {', '.join(alone)}."
    remarks = {
        figure.remark
        for row in rows
        for figure in row.figures.values()
        if isinstance(figure, Printed) and figure.remark
    }
    if remarks:
        yield f"† {', '.join(sorted(remarks))}"


def _sources(numbers: dict[Source, int]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False, style="dim")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for source, number in numbers.items():
        note = f". {source.note}" if source.note else ""
        table.add_row(f"[{number}]", visible_text(source.cite + note))
    return table


def _notes(board: Board) -> Iterator[Text]:
    """What must be known of single rows, each once."""
    said = dict.fromkeys(
        f"{row.judge}: {note}" for section in board.sections for row in section.rows
        for note in row.notes
    )  # fmt: skip
    for line in said:
        yield visible_text(line, style="dim")
