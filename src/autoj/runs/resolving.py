"""Judgments, verdicts and cases of a run, from the answers in its folder; no model is needed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from autoj.errors import DataError
from autoj.jsonl import count_lines, damaged
from autoj.protocols.base import JudgeProtocol, judged_texts
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
from autoj.runs.files import CASES, FOLLOW, LEDGER, PLAN, VERDICTS
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import Answers, LedgerReader, is_key
from autoj.runs.lock import is_locked
from autoj.runs.plan import asked_about, follow_pages, n_asked
from autoj.runs.spec import RunSpec
from autoj.verdicts.resolve import add_critiques, resolve

_log = logging.getLogger(__name__)


def is_finished(folder: RunFolder, spec: RunSpec, answers: LedgerReader | None = None) -> bool:
    """True where each case has all of its questions in the plan, and each of these an answer.

    A plan that is missing or damaged is not: going on makes it again, and asks nothing twice.

    Args:
        folder: a run's folder.
        spec: its settings.
        answers: its ledger, if it is open; None reads it.

    Raises:
        DataError: the cases or the ledger are damaged.
    """
    if count_lines(folder.path / VERDICTS) < folder.n_cases():
        return False
    if answers is None:
        with closing(LedgerReader(folder.path)) as reader:
            return is_finished(folder, spec, reader)
    folder.compare(CASES)
    try:
        return _all_answered(folder, spec, answers)
    except DataError as error:
        _log.warning("%s; it is made again", error.message)
        return False


def _all_answered(folder: RunFolder, spec: RunSpec, answers: LedgerReader) -> bool:
    plan = PlanRows(folder, PLAN)
    for case in folder.cases():
        rows = plan.about(case, spec)
        if len(rows) < n_asked(case, spec) or not all(answers.holds(row.key) for row in rows):
            return False
    plan.check_end()
    if not spec.critique:
        return True
    # A merged run has verdicts before all their critiques are asked for.
    follow = PlanRows(folder, FOLLOW)
    for case, verdict in resolve_first(folder, spec, answers):
        rows = follow.of(case)
        if len(rows) != len(follow_pages(case, verdict, spec)):
            return False
        if not all(answers.holds(row.key) for row in rows):
            return False
    follow.check_end()
    return True


def resolve_run(
    folder: RunFolder, spec: RunSpec, answers: Answers | None = None
) -> Iterator[tuple[Case, Verdict]]:
    """Resolves the verdict of each case that was asked about, in order; needs no model.

    Args:
        folder: a run's folder, finished or not.
        spec: its settings.
        answers: its ledger, if it is open; None reads it.

    Raises:
        DataError: a file is damaged, or verdicts were written that the plan has no questions for.
    """
    if answers is None:
        n_resolved = 0
        with closing(LedgerReader(folder.path)) as reader:
            for pair in resolve_run(folder, spec, reader):
                n_resolved += 1
                yield pair
        _check_number(folder, n_resolved)
        return
    follow = PlanRows(folder, FOLLOW) if spec.critique else None
    for case, verdict in _resolved(folder, spec, answers):
        # Read for each case: one may have lost the answers that its verdict followed from.
        rows = [] if follow is None else follow.of(case)
        if verdict is not None:
            yield case, with_critiques(verdict, rows, answers, spec.reader(case))
    if follow is not None:
        follow.check_end()


def _check_number(folder: RunFolder, n_resolved: int) -> None:
    """Refuses to show fewer verdicts than were written, unless a session just rewrites them."""
    n_written = count_lines(folder.path / VERDICTS)
    if n_resolved < n_written and not is_locked(folder.path):
        raise damaged(
            folder.path / PLAN,
            None,
            f"with the ledger it gives {n_resolved:,} verdicts, and {VERDICTS} has {n_written:,}",
        )


def resolve_first(
    folder: RunFolder, spec: RunSpec, answers: Answers
) -> Iterator[tuple[Case, Verdict]]:
    """Resolves the verdicts without the critiques that were asked for after them."""
    for case, verdict in _resolved(folder, spec, answers):
        if verdict is not None:
            yield case, verdict


def _resolved(
    folder: RunFolder, spec: RunSpec, answers: Answers
) -> Iterator[tuple[Case, Verdict | None]]:
    """All cases, with the verdicts of those whose questions have outcomes."""
    plan, ledger = PlanRows(folder, PLAN), folder.path / LEDGER
    for case in folder.cases():
        rows, reader = plan.about(case, spec), spec.reader(case)
        judgments = [read_answer(case, asked, answers, reader, ledger) for asked in rows]
        known = [item for item in judgments if item is not None]
        if known and len(known) == n_asked(case, spec):
            yield case, resolve_judgments(case, spec, known)
        else:
            yield case, None
    plan.check_end()


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


class PlanRows:
    """The rows of a plan by case, read along with the cases: both are in the same order."""

    def __init__(self, folder: RunFolder, name: str) -> None:
        self._path = folder.path / name
        self._groups = groupby(folder.rows(name, Asked), key=lambda asked: asked.case_id)
        self._ahead: tuple[str, list[Asked]] | None = None

    def of(self, case: Case) -> list[Asked]:
        """The rows of the next case; none where it has none.

        Raises:
            DataError: a row names a response that the case does not have.
        """
        if self._ahead is None:
            if (group := next(self._groups, None)) is None:
                return []
            self._ahead = group[0], list(group[1])
        if self._ahead[0] != case.id:
            return []
        rows, self._ahead = self._ahead[1], None
        return _checked(self._path, case, rows)

    def about(self, case: Case, spec: RunSpec) -> list[Asked]:
        """The rows of the first questions about the next case, which may not all be planned yet.

        Raises:
            DataError: they are not the questions that the run asks.
        """
        return _as_asked(self._path, case, self.of(case), spec)

    def check_end(self) -> None:
        """Checks that all rows were about a case, after the last one.

        Raises:
            DataError: a row is left.
        """
        left = self._ahead or next(self._groups, None)
        if left is not None:
            raise self.damage(f"its rows about case {left[0]!r} do not follow the cases")

    def damage(self, what: str) -> DataError:
        """The error of a damaged plan."""
        return damaged(self._path, None, what)


def _checked(path: Path, case: Case, rows: list[Asked]) -> list[Asked]:
    """The rows about a case, which name its responses and keys of questions."""
    n_compared = max(len(case.responses), len(case.critiques))
    if not all(0 <= index < n_compared for row in rows for index in row.shown):
        raise damaged(path, None, f"a row about case {case.id!r} shows a response that it has not")
    if not all(is_key(row.key) for row in rows):
        raise damaged(path, None, f"a row about case {case.id!r} has no key of 64 hex digits")
    return rows


def _as_asked(path: Path, case: Case, rows: list[Asked], spec: RunSpec) -> list[Asked]:
    """The rows of the first questions about a case, as the run asks them."""
    found = [(row.shown, row.sample, row.judge, row.protocol) for row in rows]
    wanted = [(*each, spec.judge.name, spec.protocol) for each in asked_about(case, spec)]
    if found != wanted[: len(found)]:
        raise damaged(
            path, None, f"the rows about case {case.id!r} are not the questions that the run asks"
        )
    return rows


def read_answer(
    case: Case,
    asked: Asked,
    answers: Answers,
    reader: JudgeProtocol,
    ledger: Path = Path(LEDGER),
) -> Judgment | Failure | None:
    """The outcome of a question about a case; None where there is none yet.

    Args:
        case: the case.
        asked: the question.
        answers: finds its answer.
        reader: the protocol that reads answers about the case (`RunSpec.reader`).
        ledger: the file of the answers, for messages.

    Raises:
        DataError: the answer has other scores than the question asks for.
    """
    found = answers.find(asked.key)
    if not isinstance(found, Completion):
        return found
    try:
        reading = reader.read(found, judged_texts(reader, case, asked.shown))
    except (ValueError, IndexError, TypeError) as error:
        # Texts are always read; scores come from an engine, one per choice.
        if found.choice_logprobs is None:
            raise
        what = f"the scores of key {found.key} are not those of protocol {asked.protocol!r}"
        raise damaged(ledger, None, f"{what}: {error}") from None
    return Judgment(asked=asked, completion=found, reading=reading)


def _read_follow(
    asked: Asked, verdict: Verdict, answers: Answers, reader: JudgeProtocol
) -> Judgment | Failure | None:
    found = answers.find(asked.key)
    if not isinstance(found, Completion):
        return found
    reading = reader.read_follow(verdict, asked.shown, found)
    return Judgment(asked=asked, completion=found, reading=reading)


def read_outcomes(
    folder: RunFolder, spec: RunSpec
) -> Iterator[tuple[Case, list[Judgment | Failure | None]]]:
    """Each case with the outcomes of the questions about it; None where there is none yet."""
    plan = PlanRows(folder, PLAN)
    with closing(LedgerReader(folder.path)) as reader:
        for case in folder.cases():
            rows, protocol, ledger = plan.about(case, spec), spec.reader(case), folder.path / LEDGER
            yield case, [read_answer(case, asked, reader, protocol, ledger) for asked in rows]
    plan.check_end()


def with_critiques(
    verdict: Verdict, asked: Iterable[Asked], answers: Answers, reader: JudgeProtocol
) -> Verdict:
    """A verdict with the critiques that were asked for it, as far as they exist."""
    written = [_read_follow(row, verdict, answers, reader) for row in asked]
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
        path, ledger = folder.path, folder.path / LEDGER
        first = [asked for asked in folder.plan() if asked.case_id == case_id]
        first = _as_asked(path / PLAN, case, _checked(path / PLAN, case, first), spec)
        protocol = spec.reader(case)
        judgments = [(asked, read_answer(case, asked, reader, protocol, ledger)) for asked in first]
        known = [item for _, item in judgments if item is not None]
        verdict = None
        if known and len(known) == n_asked(case, spec):
            verdict = resolve_judgments(case, spec, known)
            follow = [asked for asked in folder.follow() if asked.case_id == case_id]
            follow = _checked(path / FOLLOW, case, follow)
            judgments += [
                (asked, _read_follow(asked, verdict, reader, protocol)) for asked in follow
            ]
            verdict = with_critiques(verdict, follow, reader, protocol)
    return CaseRecord(
        case=case,
        verdict=verdict,
        judgments=tuple(judgments),
        paired=spec.paired,
        calibration=spec.calibration,
    )
