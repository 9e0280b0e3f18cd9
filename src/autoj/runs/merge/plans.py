"""The plan of a merged run: of each case the rows of one run, those of critiques by its verdict."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing

from autoj.records import Asked, Case, Completion, Verdict
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import LedgerReader
from autoj.runs.merge.cases import JoinedRun
from autoj.runs.plan import follow_pages, n_asked
from autoj.runs.resolving import (
    all_known,
    n_wanted,
    read_answer,
    resolve_first,
    resolve_judgments,
)
from autoj.runs.spec import RunSpec


def plan_rows(
    case: Case, spec: RunSpec, sources: Sequence[JoinedRun], answers: LedgerReader
) -> list[Asked]:
    """The plan of a case, by the first run that asked all of it; none where no run did."""
    planned = [
        rows
        for source in sources
        if len(rows := source.plan.of(case.id)) == _n_wanted(case, spec, rows, answers)
    ]
    # Two versions of autoj may have asked with other words, and so under other keys.
    if len({tuple(row.key for row in rows) for rows in planned}) > 1:
        planned.sort(key=lambda rows: not _are_answered(rows, answers))
    return planned[0] if planned else []


def _n_wanted(case: Case, spec: RunSpec, rows: Sequence[Asked], answers: LedgerReader) -> int:
    """The number of rows that the whole plan of a case has."""
    if spec.second_order is None or not rows:
        return n_asked(case, spec)
    return n_wanted(case, spec, read_answer(case, rows[0], answers, spec.reader(case)))


def _are_answered(rows: Sequence[Asked], answers: LedgerReader) -> bool:
    return all(isinstance(answers.find(row.key), Completion) for row in rows)


def follow_rows(folder: RunFolder, spec: RunSpec, sources: Sequence[JoinedRun]) -> Iterator[Asked]:
    """The follow-up rows that belong to the verdicts of the merged run.

    Missing ones are asked for when the run is resumed.
    """
    with ExitStack() as opened:
        merged = opened.enter_context(closing(LedgerReader(folder.path)))
        readers = [
            (source, opened.enter_context(closing(LedgerReader(source.path)))) for source in sources
        ]
        for case, verdict in resolve_first(folder, spec, merged):
            pages = follow_pages(case, verdict, spec)
            for source, answers in readers if pages else ():
                rows = source.follow.of(case.id)
                own = _own_verdict(case, source, answers) if len(rows) == len(pages) else None
                if own is not None and _asks_the_same(case, own, verdict, pages, spec):
                    yield from rows
                    break


def _own_verdict(case: Case, source: JoinedRun, answers: LedgerReader) -> Verdict | None:
    reader = source.spec.reader(case)
    found = [read_answer(case, asked, answers, reader) for asked in source.plan.of(case.id)]
    known = all_known(case, source.spec, found)
    return None if known is None else resolve_judgments(case, source.spec, known)


def _asks_the_same(
    case: Case,
    one: Verdict,
    other: Verdict,
    pages: Sequence[tuple[int, ...]],
    spec: RunSpec,
) -> bool:
    protocol = spec.plain_protocol
    return all(
        protocol.follow(case, one, page) == protocol.follow(case, other, page) for page in pages
    )
