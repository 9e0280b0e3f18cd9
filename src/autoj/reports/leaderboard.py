"""Leaderboards as tables for a terminal of 80 columns, and sentences on the baselines beaten."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.leaderboard.board import BaselineComparison, Board, BoardRow, Figure, Section
from autoj.bench.published import Citation, Printed
from autoj.reports import render
from autoj.reports.text import excerpt, visible_text

_STATUS = {"trivial": "baseline"}
"""Statuses of rows that are shown by another word than in JSON."""
_COMPLETE = "complete"
"""Seen and unseen scenarios together, in the authors' words."""


def board_view(board: Board) -> RenderableType:
    """A board with its sources, notes, and comparisons of measured judges with the baselines."""
    numbers = _numbered(board)
    parts: list[RenderableType] = []
    for section in board.sections:
        draw = _by_figure if board.breakdown is None else _by_part
        parts += [visible_text(_title(board, section), style="bold")]
        parts += [draw(board, section, numbers), Text()]
    if board.breakdown is None:
        for beats, line in baseline_lines(board.against_baselines):
            parts.append(visible_text(line, style="" if beats else "yellow"))
    parts += [*render.notes(board.messages, "yellow"), *render.notes(_key(board))]
    parts += [_sources(numbers), *render.notes(_remarks(board))]
    return Group(*parts)


def baseline_lines(against_baselines: Sequence[BaselineComparison]) -> list[tuple[bool, str]]:
    """A sentence for each measured judge and figure on the baselines that it beats.

    Returns:
        True if it beats all of them, and the sentence.
    """

    def key(compared: BaselineComparison) -> tuple[str, str, str]:
        return compared.judge, compared.source, compared.figure

    return [
        (all(one.beats for one in found), _sentence(*names, found))
        for names, group in groupby(against_baselines, key=key)
        for found in [list(group)]
    ]


def _title(board: Board, section: Section) -> str:
    if board.breakdown is None:
        return section.title
    return f"{section.title}: {board.sort} by {board.breakdown}"


def _numbered(board: Board) -> dict[Citation, int]:
    """The cited sources, numbered in order; baselines have notes instead."""
    found = dict.fromkeys(
        source
        for section in board.sections
        for row in section.rows
        if row.status != "trivial"
        for source in row.sources
    )
    return {source: number for number, source in enumerate(found, start=1)}


def _by_figure(board: Board, section: Section, numbers: dict[Citation, int]) -> render.Listing:
    rows = [
        [_cell(name, row.figures.get(name)) for name in section.figures] for row in section.rows
    ]
    widths = ([len(row[at]) for row in rows] for at in range(len(section.figures)))
    headings = [
        _heading(name, max(its, default=0))
        for name, its in zip(section.figures, widths, strict=True)
    ]
    return _table(headings, section, rows, numbers)


def _heading(name: str, width: int) -> str:
    """A heading, with a line per word if it is wider than its figures."""
    return name if len(name) <= width else name.replace(" ", "\n")


def _by_part(board: Board, section: Section, numbers: dict[Citation, int]) -> render.Listing:
    """Values without intervals: eight groups with intervals are wider than a terminal."""
    breakdown = board.breakdown or ""
    parts = _parts(section, breakdown)
    headings = [render.GROUP_HEADINGS.get(part, part) for part in parts]
    rows = []
    for row in section.rows:
        its = row.parts.get(breakdown, {})
        figures = [
            *(its.get(part, {}).get(board.sort) for part in parts),
            row.figures.get(board.sort),
        ]
        rows.append([_bare(board.sort, figure) for figure in figures])
    headings.append("all" if breakdown == "group" else _COMPLETE)
    return _table(headings, section, rows, numbers)


def _parts(section: Section, breakdown: str) -> list[str]:
    """Groups in the paper's order, then any others."""
    found = dict.fromkeys(part for row in section.rows for part in row.parts.get(breakdown, {}))
    # A result repeats all cases as a part; they have the last column.
    found.pop(_COMPLETE, None)
    known = [group for group in render.GROUP_HEADINGS if group in found]
    return known + [part for part in found if part not in known]


def _table(
    headings: Sequence[str],
    section: Section,
    rows: Sequence[Sequence[str]],
    numbers: dict[Citation, int],
) -> render.Listing:
    columns = (
        render.Column.prose("judge"),
        render.Column.word("what"),
        *map(render.Column.number, headings),
    )
    listing = render.Listing(*columns, spacing="tight")
    for row, cells in zip(section.rows, rows, strict=True):
        listing.add(*_head(row, numbers), *cells, style=_style(row))
    return listing


def _head(row: BoardRow, numbers: dict[Citation, int]) -> tuple[Text, str]:
    known = sorted(numbers[source] for source in row.sources if source in numbers)
    cited = ",".join(map(str, known))
    name = excerpt(row.judge, 60).append(f" [{cited}]" if cited else "", style="dim")
    return name, _STATUS.get(row.status, row.status) + ("*" if row.in_sample else "")


def _style(row: BoardRow) -> str:
    return {"measured": "bold", "trivial": "cyan"}.get(row.status, "")


def _cell(name: str, figure: Figure | None) -> str:
    """A figure with its interval; a published one as it was printed."""
    if isinstance(figure, Printed):
        return _printed(name, figure)
    return render.estimate_cell(figure, short=True)


def _printed(name: str, figure: Printed) -> str:
    text = figure.text
    if render.is_share(name) and "/" in text:
        text = f"{render.percent_cell(figure.value)} ({text})"
    return text if figure.remark is None else f"{text}†"


def _bare(name: str, figure: Figure | None) -> str:
    if figure is None:
        return render.MISSING
    if isinstance(figure, Printed) and "/" not in figure.text:
        return figure.text
    if render.is_share(name):
        return render.percent_cell(figure.value)
    return render.number(figure.value, 3)


def _key(board: Board) -> Iterator[str]:
    rows = [row for section in board.sections for row in section.rows]
    if board.breakdown is None:
        yield "With 95 % intervals; published figures have none and are shown as printed."
    else:
        yield "Intervals of measured rows and baselines: --json or --csv."
    if any(row.in_sample for row in rows):
        yield "* in-sample: a tie threshold was chosen on the labels it is scored on."
    alone = dict.fromkeys(
        row.judge for row in rows if row.kind == "single" and "averaged accuracy" in row.figures
    )
    if board.breakdown is None and alone:
        yield f"Rate each response alone, so have no agreement: {', '.join(alone)}."
    remarks = {
        figure.remark
        for row in rows
        for figure in row.figures.values()
        if isinstance(figure, Printed) and figure.remark
    }
    if remarks:
        yield f"† {', '.join(sorted(remarks))}"


def _sources(numbers: dict[Citation, int]) -> RenderableType:
    return render.citations(
        (number, source.cite + (f". {source.note}" if source.note else ""))
        for source, number in numbers.items()
    )


def _remarks(board: Board) -> list[str]:
    """The notes of single rows, each once."""
    rows = (row for section in board.sections for row in section.rows)
    return list(dict.fromkeys(f"{row.judge}: {note}" for row in rows for note in row.notes))


def _sentence(
    judge: str, source: str, figure: str, comparisons: Sequence[BaselineComparison]
) -> str:
    beaten = " and ".join(compared.baseline for compared in comparisons if compared.beats)
    unbeaten = ", ".join(_against(compared) for compared in comparisons if not compared.beats)
    said = [f"does not beat the baseline {unbeaten}"] if unbeaten else []
    said += [f"beats {beaten}"] if beaten else []
    how = "" if comparisons[0].difference is not None else " (intervals compared, not cases)"
    return f"{judge} ({source}) on {figure}: {'; '.join(said)}{how}."


def _against(compared: BaselineComparison) -> str:
    found = compared.difference
    if found is None or found.value is None:
        return compared.baseline
    unit = " points" if render.is_share(compared.figure) else ""
    return f"{compared.baseline} ({render.estimate_cell(found, signed=True)}{unit})"
