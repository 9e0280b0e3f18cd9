"""A case of a run with its judgments and its verdict, from the answers in the folder."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autoj.records import Asked, Calibration, Case, Failure, Judgment, Verdict
from autoj.runs.files import FOLLOW, LEDGER, PLAN
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import Answers, LedgerReader
from autoj.runs.plan_file import PlanRows, as_asked, checked_rows
from autoj.runs.resolving import (
    all_known,
    read_answer,
    read_follow,
    resolve_judgments,
    with_critiques,
)
from autoj.runs.spec import RunSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """A case of a run with its judgments and verdict."""

    case: Case
    verdict: Verdict | None
    """None where it was not judged yet."""
    judgments: tuple[tuple[Asked, Judgment | Failure | None], ...]
    """The questions, in order, each with its outcome; None where there is none yet."""
    paired: bool
    """True where the verdict is on a pair, not on each response."""
    calibration: Calibration | None = None
    """The calibration behind the verdict's probabilities."""


def read_case(folder: RunFolder, spec: RunSpec, case_id: str) -> CaseRecord | None:
    """One case of a run with its judgments; None where the run has no such case.

    Args:
        folder: a run's folder, finished or not.
        spec: its settings.
        case_id: the case.
    """
    case = next((case for case in folder.cases() if case.id == case_id), None)
    if case is None:
        return None
    path = folder.path
    first = [asked for asked in folder.plan() if asked.case_id == case_id]
    first = as_asked(path / PLAN, case, checked_rows(path / PLAN, case, first), spec)
    with closing(LedgerReader(path)) as answers:

        def follow() -> list[Asked]:
            rows = [asked for asked in folder.follow() if asked.case_id == case_id]
            return checked_rows(path / FOLLOW, case, rows)

        return case_record(case, first, follow, path, spec, answers)


def read_case_records(folder: RunFolder, spec: RunSpec) -> Iterator[CaseRecord]:
    """Reads all cases of a run with their judgments, lazily and in order.

    Args:
        folder: a run's folder, finished or not.
        spec: its settings.

    Raises:
        DataError: a file is damaged.
    """
    plan = PlanRows(folder, PLAN)
    follow = PlanRows(folder, FOLLOW) if spec.critique else None
    with closing(LedgerReader(folder.path)) as answers:
        for case in folder.cases():
            rows = [] if follow is None else follow.of(case)
            first = plan.about(case, spec)
            yield case_record(case, first, partial(list, rows), folder.path, spec, answers)
    plan.check_end()
    if follow is not None:
        follow.check_end()


def case_record(
    case: Case,
    first: list[Asked],
    follow: Callable[[], list[Asked]],
    path: Path,
    spec: RunSpec,
    answers: Answers,
) -> CaseRecord:
    """The record of a case from its questions and their answers.

    Args:
        case: the case.
        first: the questions about it.
        follow: reads the questions that followed from its verdict; called where it has one.
        path: the run's folder, for messages.
        spec: the run's settings.
        answers: finds answers by key.

    Raises:
        DataError: an answer has other scores than its question asks for.
    """
    reader = spec.reader(case)
    judgments = [(row, read_answer(case, row, answers, reader, path / LEDGER)) for row in first]
    known = all_known(case, spec, [outcome for _, outcome in judgments])
    verdict = None
    if known is not None:
        verdict = resolve_judgments(case, spec, known)
        rows = follow()
        judgments += [(row, read_follow(case, row, verdict, answers, spec)) for row in rows]
        verdict = with_critiques(case, verdict, rows, answers, spec)
    return CaseRecord(
        case=case,
        verdict=verdict,
        judgments=tuple(judgments),
        paired=spec.paired,
        calibration=spec.calibration,
    )
