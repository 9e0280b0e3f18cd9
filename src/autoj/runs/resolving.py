"""Judgments, verdicts and cases of a run, from the answers in its folder; no model is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, groupby

from autoj.jsonl import count_lines
from autoj.protocols import load_protocol
from autoj.records import (
    Asked,
    Calibration,
    Case,
    Completion,
    Failure,
    Judgment,
    Label,
    Unreadable,
    Verdict,
)
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import Answers, LedgerReader
from autoj.runs.plan import follow_pages, n_asked
from autoj.runs.spec import RunSpec
from autoj.verdicts.resolve import add_critiques, resolve


def is_finished(folder: RunFolder, spec: RunSpec, answers: LedgerReader | None = None) -> bool:
    """True where every planned question has an answer.

    Args:
        folder: a run's folder.
        spec: its settings.
        answers: its ledger, if it is open; None reads it.
    """
    if count_lines(folder.path / "verdicts.jsonl") < folder.n_cases():
        return False
    if answers is None:
        with closing(LedgerReader(folder.path)) as reader:
            return is_finished(folder, spec, reader)
    planned = (folder.plan(), folder.follow() if spec.critique else ())
    if not all(answers.holds(row.key) for row in chain(*planned)):
        return False
    if not spec.critique:
        return True
    # A merged run has verdicts before all their critiques are asked for.
    follow = _Groups(folder.follow())
    return all(
        len(follow.of(case.id)) == len(follow_pages(case, verdict, spec))
        for case, verdict in resolve_first(folder, spec, answers)
    )


def resolve_run(
    folder: RunFolder, spec: RunSpec, answers: Answers | None = None
) -> Iterator[tuple[Case, Verdict]]:
    """Resolves the verdict of each case that was asked about, in order; needs no model.

    Args:
        folder: a run's folder, finished or not.
        spec: its settings.
        answers: its ledger, if it is open; None reads it.
    """
    if answers is None:
        with closing(LedgerReader(folder.path)) as reader:
            yield from resolve_run(folder, spec, reader)
        return
    follow = _Groups(folder.follow() if spec.critique else ())
    for case, verdict in resolve_first(folder, spec, answers):
        yield case, with_critiques(verdict, follow.of(case.id), answers)


def resolve_first(
    folder: RunFolder, spec: RunSpec, answers: Answers
) -> Iterator[tuple[Case, Verdict]]:
    """Resolves the verdicts without the critiques that were asked for after them."""
    plan = _Groups(folder.plan())
    for case in folder.cases():
        judgments = [read_answer(asked, answers) for asked in plan.of(case.id)]
        known = [item for item in judgments if item is not None]
        if known and len(known) == n_asked(case, spec):
            yield case, resolve_judgments(case, spec, known)


def resolve_judgments(case: Case, spec: RunSpec, judgments: list[Judgment | Failure]) -> Verdict:
    """The verdict from all judgments of a case, in the order in which they were planned."""
    if spec.task == "classify":
        return _resolve_scenario(case, spec.judge.name, judgments)
    verdict = resolve(
        case,
        spec.judge.name,
        judgments,
        spec.on_conflict,
        paired=spec.paired,
        reads_alone=not spec.has_orders,
        calibration=spec.calibration,
        n_draws=spec.n_draws,
    )
    return verdict if case.scenario is None else replace(verdict, scenario=case.scenario)


def _resolve_scenario(case: Case, judge: str, judgments: list[Judgment | Failure]) -> Verdict:
    """The first scenario that is named; where each query is asked once, the only one."""
    readings = [item.reading for item in judgments if isinstance(item, Judgment)]
    named = next((reading.name for reading in readings if isinstance(reading, Label)), None)
    return Verdict(
        case_id=case.id,
        judge=judge,
        scenario=named,
        rule="incomplete" if named is None else None,
        n_unreadable=sum(isinstance(reading, Unreadable) for reading in readings),
        n_failed=len(judgments) - len(readings),
        n_truncated=sum(isinstance(item, Judgment) and item.asked.truncated for item in judgments),
    )


class _Groups:
    """Plan rows by case, read along with the cases: both are in the same order."""

    def __init__(self, rows: Iterable[Asked]) -> None:
        self._groups = groupby(rows, key=lambda asked: asked.case_id)
        self._ahead: tuple[str, list[Asked]] | None = None

    def of(self, case_id: str) -> list[Asked]:
        """The rows of a case; none where it has none."""
        if self._ahead is None:
            if (group := next(self._groups, None)) is None:
                return []
            self._ahead = group[0], list(group[1])
        if self._ahead[0] != case_id:
            return []
        rows, self._ahead = self._ahead[1], None
        return rows


def read_answer(asked: Asked, answers: Answers) -> Judgment | Failure | None:
    """The outcome of a question; None where there is none yet."""
    found = answers.find(asked.key)
    if not isinstance(found, Completion):
        return found
    reading = load_protocol(asked.protocol).read(found)
    return Judgment(asked=asked, completion=found, reading=reading)


def _read_follow(asked: Asked, verdict: Verdict, answers: Answers) -> Judgment | Failure | None:
    found = answers.find(asked.key)
    if not isinstance(found, Completion):
        return found
    reading = load_protocol(asked.protocol).read_follow(verdict, asked.shown, found)
    return Judgment(asked=asked, completion=found, reading=reading)


def read_outcomes(
    folder: RunFolder,
) -> Iterator[tuple[Case, list[Judgment | Failure | None]]]:
    """Each case with the outcomes of the questions about it; None where there is none yet."""
    plan = _Groups(folder.plan())
    with closing(LedgerReader(folder.path)) as reader:
        for case in folder.cases():
            yield case, [read_answer(asked, reader) for asked in plan.of(case.id)]


def with_critiques(verdict: Verdict, asked: Iterable[Asked], answers: Answers) -> Verdict:
    """A verdict with the critiques that were asked for it, as far as they exist."""
    written = [_read_follow(row, verdict, answers) for row in asked]
    known = [item for item in written if item is not None]
    return add_critiques(verdict, known) if known else verdict


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
        first = [asked for asked in folder.plan() if asked.case_id == case_id]
        judgments = [(asked, read_answer(asked, reader)) for asked in first]
        known = [item for _, item in judgments if item is not None]
        verdict = None
        if known and len(known) == n_asked(case, spec):
            verdict = resolve_judgments(case, spec, known)
            follow = [asked for asked in folder.follow() if asked.case_id == case_id]
            judgments += [(asked, _read_follow(asked, verdict, reader)) for asked in follow]
            verdict = with_critiques(verdict, follow, reader)
    return CaseRecord(
        case=case,
        verdict=verdict,
        judgments=tuple(judgments),
        paired=spec.paired,
        calibration=spec.calibration,
    )
