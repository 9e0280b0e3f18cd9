"""A review of guessed scenarios: a row on the terminal, a sheet of rows, and the shares."""

import csv
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from autoj.construct.review.answers import Review, ReviewCounts, read_reviews
from autoj.construct.review.opening import ReviewedStage
from autoj.construct.review.session import Reply, ReviewSession
from autoj.construct.review.sheet import COLUMNS, cell_of
from autoj.errors import DataError, UnknownComponent
from autoj.records import Case
from autoj.reports import render
from autoj.reports.text import guarded, visible, visible_text
from autoj.scenarios import Library
from autoj.scenarios.seeds import query_digest
from autoj.system_errors import storage_error

_KEYS = (
    "enter: right   number or name: another   x: drop   s: skip   b: back   v: whole query   "
    "?: all names   q: quit"
)
_LEAST_LINES, _OTHER_LINES = 6, 12
"""Lines of a query at least, and those of a page that are not the query's."""
_SHEET_HEAD, _SHEET_TAIL = 1_500, 500
_MOST_WORST = 10
_MOST_TAKEN_FOR = 2


def session_view(
    session: ReviewSession, reply: Reply, library: Library, size: tuple[int, int]
) -> RenderableType:
    """The part of a session that comes next on the terminal.

    Args:
        session: has a current row.
        reply: says what to show.
        library: describes the scenarios.
        size: the terminal's columns and lines.
    """
    row = session.current
    assert row is not None
    match reply.shows:
        case "row":
            return _row(session, row, library, size)
        case "names":
            return _names(session.names)
        case "query":
            return Padding(visible_text(row.query), (1, 0, 1, 2))
        case "help":
            return _all_names(session.names, library)
        case "nothing":
            return Text(end="")


def _row(
    session: ReviewSession, row: Case, library: Library, size: tuple[int, int]
) -> RenderableType:
    n_columns, n_lines = size
    number, n_same = session.number_in_scenario
    probability = row.meta.get("scenario_probability")
    sure = f" ({probability:.2f})" if isinstance(probability, float) else ""
    guess = visible_text(f"{row.scenario}{sure}", "bold")
    guess.append_text(visible_text(f"  {_described(str(row.scenario), library)}"))
    parts: list[RenderableType] = [
        Text(),
        Rule(
            f"row {session.number:,} of {len(session):,}; {number:,} of {n_same:,} with this guess",
            align="left",
            style="dim",
        ),
        guess,
    ]
    if (before := session.answer_to(row)) is not None:
        parts.append(Text(f"answered before: {_said(before)}", style="yellow"))
    query = cut_to_lines(row.query, n_columns - 2, max(_LEAST_LINES, n_lines - _OTHER_LINES))
    parts += [Padding(query, (1, 0, 1, 2)), _names(session.names), Text(_KEYS, style="dim")]
    return Group(*parts)


def _described(scenario: str, library: Library) -> str:
    try:
        return library.find(scenario).description
    except UnknownComponent:
        return "(a scenario that the library does not have)"


def _said(review: Review) -> str:
    if review.answer == "renamed":
        return visible(str(review.scenario))
    return review.answer


def _names(names: Iterable[str]) -> RenderableType:
    listed = [visible_text(f"{number} {name}") for number, name in enumerate(names, start=1)]
    return Columns(listed, padding=(0, 2))


def _all_names(names: Iterable[str], library: Library) -> RenderableType:
    listing = render.Listing(
        render.Column.number(""), render.Column.word("scenario"), render.Column.prose("")
    )
    for number, name in enumerate(names, start=1):
        listing.add(number, name, library.find(name).description)
    return Group(listing, Text(_KEYS, style="dim"))


def cut_to_lines(text: str, n_columns: int, n_lines: int) -> Text:
    """A text that fits, without its middle: both ends say what is asked.

    Args:
        text: untrusted.
        n_columns: columns of a line.
        n_lines: lines at most, at least 3.
    """
    most = n_columns * n_lines
    # No more is wrapped than can be shown: a query may have a million characters.
    head, tail = (text, "") if len(text) <= 4 * most else (text[: 2 * most], text[-2 * most :])
    console = Console(width=max(n_columns, 10))
    lines = list(visible_text(head.strip()).wrap(console, max(n_columns, 10)))
    n_head = (n_lines - 1) * 2 // 3
    ends = list(visible_text(tail.strip()).wrap(console, max(n_columns, 10))) if tail else lines
    if not tail and len(lines) <= n_lines:
        return Text("\n").join(lines)
    n_tail = n_lines - 1 - n_head
    gap = Text(f"… the middle of {len(text):,} characters; v shows all …", style="dim")
    return Text("\n").join([*lines[:n_head], gap, *ends[-n_tail:]])


def write_review_sheet(found: ReviewedStage, path: Path) -> None:
    """Writes the drawn rows as CSV, for a spreadsheet; answers that are there are filled in.

    Args:
        found: the stage.
        path: the sheet, in UTF-8 with a mark by which spreadsheets know it.

    Raises:
        DataError: there is such a file, or it cannot be written.
    """
    if path.exists():
        raise DataError(
            "exists, and may have somebody's answers",
            path=path,
            hint="Choose another name; --from-csv reads a filled sheet.",
        )
    reviews = read_reviews(found.stage.path)
    draft = path.with_name(f"{path.name}.draft")
    try:
        with draft.open("w", encoding="utf-8-sig", newline="", errors="replace") as stream:
            writer = csv.writer(stream)
            writer.writerow(COLUMNS)
            for row in found.rows:
                before = reviews.get(query_digest(row.query))
                writer.writerow([guarded(cell) for cell in _cells(row, before)])
        draft.replace(path)
    except OSError as error:
        raise storage_error(error, path) from error
    finally:
        # A folder that is not writable refuses the removal, too.
        with suppress(OSError):
            draft.unlink()


def _cells(row: Case, before: Review | None) -> list[object]:
    query = visible(row.query)
    if len(query) > _SHEET_HEAD + _SHEET_TAIL:
        query = f"{query[:_SHEET_HEAD]} … {query[-_SHEET_TAIL:]}"
    return [row.id, query, row.scenario, row.meta.get("scenario_probability"), cell_of(before)]


def reviewed_view(counts: ReviewCounts) -> RenderableType:
    """The share of right guesses, and the scenarios with the most wrong ones."""
    rows = [("reviewed", f"{counts.n_reviewed:,} queries: {_parts(counts)}")]
    if counts.right.n:
        rows.append(("right", render.estimate_line(counts.right)))
    found = render.facts(rows)
    worst = [one for one in counts.scenarios if (one.right.value or 0.0) < 1.0][:_MOST_WORST]
    if not worst:
        return found
    listing = render.Listing(
        render.Column.text("worst guesses", 28),
        render.Column.number("right, %"),
        render.Column.number("of"),
        render.Column.prose("should be"),
    )
    for one in worst:
        others = "\n".join(f"{name} {n:,}" for name, n in one.taken_for[:_MOST_TAKEN_FOR])
        listing.add(one.scenario, render.estimate_cell(one.right, short=True), one.right.n, others)
    return Group(found, Text(), listing)


def _parts(counts: ReviewCounts) -> str:
    skipped = f"; {counts.n_skipped:,} skipped" if counts.n_skipped else ""
    return (
        f"{counts.n_right:,} right, {counts.n_renamed:,} renamed, "
        f"{counts.n_dropped:,} dropped{skipped}"
    )
