"""One case of a run with its judgments and its verdict, from the answers in the folder."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from autoj.records import Asked, Calibration, Case, Failure, Judgment, Verdict
from autoj.runs.files import FOLLOW, LEDGER, PLAN
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import LedgerReader
from autoj.runs.plan import n_asked
from autoj.runs.plan_rows import as_asked, checked_rows
from autoj.runs.resolving import read_answer, read_follow, resolve_judgments, with_critiques
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
    with closing(LedgerReader(folder.path)) as reader:
        path, ledger = folder.path, folder.path / LEDGER
        first = [asked for asked in folder.plan() if asked.case_id == case_id]
        first = as_asked(path / PLAN, case, checked_rows(path / PLAN, case, first), spec)
        protocol = spec.reader(case)
        judgments = [(asked, read_answer(case, asked, reader, protocol, ledger)) for asked in first]
        known = [item for _, item in judgments if item is not None]
        verdict = None
        if known and len(known) == n_asked(case, spec):
            verdict = resolve_judgments(case, spec, known)
            follow = [asked for asked in folder.follow() if asked.case_id == case_id]
            follow = checked_rows(path / FOLLOW, case, follow)
            judgments += [
                (asked, read_follow(asked, verdict, reader, protocol)) for asked in follow
            ]
            verdict = with_critiques(verdict, follow, reader, protocol)
    return CaseRecord(
        case=case,
        verdict=verdict,
        judgments=tuple(judgments),
        paired=spec.paired,
        calibration=spec.calibration,
    )
