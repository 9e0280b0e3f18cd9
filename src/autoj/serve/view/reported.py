"""The page of `autoj report` over the server, for runs whose rows are not verdicts on cases.

Runs of select, classify and construct, and audits, have no index of their own: their page is made
whole, and made again when it is asked for after a file behind it has changed.
"""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from autoj.reports.html.kinds import page_kind, page_of
from autoj.reports.html.listing import LeftRows
from autoj.reports.html.page import render_page
from autoj.reports.html.report import MOST_CASES
from autoj.runs.watch import SILENT
from autoj.serve.view.runs import ViewedRuns, open_viewed

_Signature = tuple[tuple[str, int, int], ...]


class ReportedRuns:
    """The page of stored runs as it is now; any thread may ask for it.

    Args:
        paths: what `write_report` takes.

    Raises:
        ConfigError: the paths cannot stand on one page.
        DataError: a path holds nothing that has a page, or is damaged.
        MissingExtra: the extra `report` is not installed.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._made: tuple[_Signature, str] | None = None
        self.html()

    def html(self) -> str:
        """The page, with a policy that lets nothing run but its own script.

        Raises:
            AutojError: a file was damaged since, or what it holds cannot be shown.
        """
        with self._lock:
            # The files as they are before they are read: a change in between is seen next time.
            signature = tuple(self._signed())
            if self._made is None or self._made[0] != signature:
                page = page_of(self._paths, MOST_CASES, LeftRows(None), SILENT)
                self._made = signature, render_page(page)
            return self._made[1]

    def _signed(self) -> Iterator[tuple[str, int, int]]:
        for path in self._paths:
            for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
                try:
                    its = each.stat()
                except OSError:
                    continue
                if each.is_file():
                    yield str(each), its.st_size, its.st_mtime_ns


def open_view(paths: Sequence[Path]) -> ViewedRuns | ReportedRuns:
    """Opens runs of any kind for the server.

    Args:
        paths: folders of runs, or files that have a page.

    Raises:
        ConfigError: they cannot stand on one page.
        DataError: one is nothing that has a page, is damaged, or has nothing to show yet.
        MissingExtra: an extra is not installed.
    """
    if {page_kind(path) for path in paths} == {"verdicts"}:
        return open_viewed(paths)
    return ReportedRuns(paths)
