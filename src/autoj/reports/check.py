"""The table of `autoj check`: the files of runs, and what is wrong with them."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.reports import render
from autoj.reports.text import visible_text
from autoj.tasks.check import CheckedFolder, are_whole


def checked_view(folders: Sequence[CheckedFolder]) -> RenderableType:
    """Each folder with a line for each file, and a line that says how many are whole."""
    parts: list[RenderableType] = []
    for folder in folders:
        listing = render.Listing(
            render.Column.word("file"),
            render.Column.number("lines"),
            render.Column.word("state"),
            render.Column.prose("remark"),
        )
        for check in folder.files:
            remark = "; ".join(filter(None, (check.reason, check.mended)))
            listing.add(check.name, check.n_lines, check.state, remark)
        parts += [visible_text(folder.path), listing, Text()]
    return Group(*parts, Text(summary_line(folders)))


def mended_lines(folders: Iterable[CheckedFolder]) -> list[str]:
    """A line for each file that a repair touched."""
    return [
        f"{folder.path}/{file.name}: {file.mended}"
        for folder in folders
        for file in folder.files
        if file.mended is not None
    ]


def checked_record(folders: Sequence[CheckedFolder]) -> dict[str, Any]:
    """The checks of some folders as plain values."""
    return {
        "folders": [{**asdict(folder), "whole": folder.is_whole} for folder in folders],
        "whole": are_whole(folders),
    }


def summary_line(folders: Sequence[CheckedFolder]) -> str:
    """One line on how many folders are whole."""
    n_whole = sum(folder.is_whole for folder in folders)
    what = "folder is" if len(folders) == 1 else "folders are"
    return f"{n_whole:,} of {len(folders):,} {what} whole"
