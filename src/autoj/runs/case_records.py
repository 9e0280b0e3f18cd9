"""All cases of a run with their judgments, one after the other: the report's view of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from autoj.runs.files import FOLLOW, LEDGER, PLAN
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import LedgerReader
from autoj.runs.plan import n_asked
from autoj.runs.resolving import (
    CaseRecord,
    PlanRows,
    read_answer,
    read_follow,
    resolve_judgments,
    with_critiques,
)
from autoj.runs.spec import RunSpec


def read_case_records(folder: RunFolder, spec: RunSpec) -> Iterator[CaseRecord]:
    """Reads each case with the outcomes of its questions and its verdict, lazily and in order.

    Args:
        folder: a run's folder, finished or not.
        spec: its settings.

    Raises:
        DataError: a file is damaged.
    """
    plan = PlanRows(folder, PLAN)
    follow = PlanRows(folder, FOLLOW) if spec.critique else None
    ledger = folder.path / LEDGER
    with closing(LedgerReader(folder.path)) as answers:
        for case in folder.cases():
            reader = spec.reader(case)
            asked = plan.about(case, spec)
            judgments = [(row, read_answer(case, row, answers, reader, ledger)) for row in asked]
            known = [outcome for _, outcome in judgments if outcome is not None]
            follow_rows = [] if follow is None else follow.of(case)
            verdict = None
            if known and len(known) == n_asked(case, spec):
                verdict = resolve_judgments(case, spec, known)
                judgments += [
                    (row, read_follow(row, verdict, answers, reader)) for row in follow_rows
                ]
                verdict = with_critiques(verdict, follow_rows, answers, reader)
            yield CaseRecord(
                case=case,
                verdict=verdict,
                judgments=tuple(judgments),
                paired=spec.paired,
                calibration=spec.calibration,
            )
    plan.check_end()
    if follow is not None:
        follow.check_end()
