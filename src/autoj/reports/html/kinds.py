"""The page that fits a run: one for each kind of run, and for what other commands leave."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from autoj.audit.card import PLAN as AUDIT_PLAN
from autoj.construct.binding import RECIPE
from autoj.errors import ConfigError, DataError
from autoj.jsonl import decode
from autoj.reports.html.audited import audited_page
from autoj.reports.html.classified import classified_page
from autoj.reports.html.classified_together import classified_together_page
from autoj.reports.html.constructed import constructed_page
from autoj.reports.html.listing import LeftRows
from autoj.reports.html.page import Page
from autoj.reports.html.selected import selected_page
from autoj.reports.html.selected_together import selected_together_page
from autoj.reports.html.sources import SHOWN_KINDS
from autoj.reports.html.verdicts import verdicts_page
from autoj.runs.kind import Kind, kind_of
from autoj.runs.watch import Watch

PageKind: TypeAlias = Literal["verdicts", "classify", "select", "construct", "audit"]
_SinglePage: TypeAlias = Callable[[Path, int, LeftRows, Watch], Page]
_SharedPage: TypeAlias = Callable[[Sequence[Path], int, LeftRows, Watch], Page]
_PAGES: Mapping[PageKind, _SinglePage] = {
    "classify": classified_page,
    "select": selected_page,
    "construct": constructed_page,
    "audit": audited_page,
}
_SHARED_PAGES: Mapping[PageKind, _SharedPage] = {
    "verdicts": verdicts_page,
    "classify": classified_together_page,
    "select": selected_together_page,
}


def page_of(paths: Sequence[Path], most: int, left: LeftRows, watch: Watch) -> Page:
    """The page of a run of any kind, or of several of one kind on the same cases or queries.

    Args:
        paths: folders of runs, juries, constructions or audits; the file of a classifier's rows, or
            of an audit's card.
        most: the most rows that the page holds, about.
        left: takes the others.
        watch: hears of the progress.

    Raises:
        ConfigError: several paths that cannot stand on one page.
        DataError: a path holds nothing that has a page, or is damaged.
        MissingExtra: the extra `report` is not installed.
    """
    kinds = [page_kind(path) for path in paths]
    if len(paths) == 1 and kinds[0] in _PAGES:
        return _PAGES[kinds[0]](paths[0], most, left, watch)
    if len(set(kinds)) == 1 and kinds[0] in _SHARED_PAGES:
        return _SHARED_PAGES[kinds[0]](paths, most, left, watch)
    other = next(kind for kind in kinds if kind != "verdicts")
    raise ConfigError(
        f"{paths[kinds.index(other)]} is of autoj {other}, which has a page of its own",
        hint="Write one page for it. Runs share one where all have verdicts on the same cases, or "
        "all are of select, or all of classify.",
    )


def page_kind(path: Path) -> PageKind:
    """The kind of page that a path has.

    Raises:
        ConfigError: it is of a kind without a page.
        DataError: it is nothing that autoj has written.
    """
    if path.is_file():
        return _of_file(path)
    if (path / RECIPE).is_file():
        return "construct"
    if (path / AUDIT_PLAN).is_file():
        return "audit"
    kind: Kind = kind_of(path)
    if kind in SHOWN_KINDS:
        return "verdicts"
    if kind in get_args(PageKind):
        return kind  # type: ignore[return-value]
    raise ConfigError(
        f"{path} is a run of autoj {kind}, which has no page", hint=f"autoj show {path} shows it."
    )


def _of_file(path: Path) -> PageKind:
    try:
        with path.open("rb") as stream:
            record = decode(stream.readline())
    except (OSError, ValueError):
        record = None
    fields = record if isinstance(record, dict) else {}
    if fields.get("bench") == "audit":
        return "audit"
    if "classifier" in fields and "scenario" in fields:
        return "classify"
    if "bench" in fields:
        raise ConfigError(
            f"{path} is a result of autoj bench {fields['bench']}, which has no page",
            hint="autoj leaderboard shows results; autoj plot draws best_of_n and system_level.",
        )
    raise DataError(
        "is neither a run's folder nor a file that has a page",
        path=path,
        hint="Files with a page: the rows of autoj classify, and audit.json of autoj audit.",
    )
