"""Judgments and verdicts of a run, from the answers in its folder; no model is needed."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from autoj.errors import DataError
from autoj.jsonl import count_lines, damaged
from autoj.protocols.base import JudgeProtocol, judged_texts
from autoj.records import (
    Asked,
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
from autoj.runs.ledger import Answers, LedgerReader
from autoj.runs.place import is_locked
from autoj.runs.plan import follow_pages, n_asked
from autoj.runs.plan_file import PlanRows
from autoj.runs.proofreading import as_trusted
from autoj.runs.second_order import is_drawn, order_confidence
from autoj.runs.spec import RunSpec
from autoj.verdicts.resolve import add_critiques, resolve
from autoj.verdicts.sureness import mark, with_budget

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
        n_needed = n_asked(case, spec)
        if spec.second_order is not None and rows:
            ledger = folder.path / LEDGER
            n_needed = n_wanted(
                case, spec, read_answer(case, rows[0], answers, spec.reader(case), ledger)
            )
        if len(rows) < n_needed or not all(answers.holds(row.key) for row in rows[:n_needed]):
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
            yield case, with_critiques(case, verdict, rows, answers, spec)
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
        known = all_known(case, spec, judgments)
        yield case, None if known is None else resolve_judgments(case, spec, known)
    plan.check_end()


def n_wanted(case: Case, spec: RunSpec, first: Judgment | Failure | None) -> int:
    """The number of questions that a run asks about a case, as far as it is known.

    Args:
        case: the case.
        spec: the settings.
        first: the outcome of the first question; None where there is none yet.
    """
    if spec.second_order is None:
        return n_asked(case, spec)
    if first is None:
        return 2 if is_drawn(case.id, spec.second_order.always_full) else 1
    return 2 if spec.second_order.wants(case.id, first) else 1


def all_known(
    case: Case, spec: RunSpec, outcomes: Sequence[Judgment | Failure | None]
) -> list[Judgment | Failure] | None:
    """The outcomes of all questions that a verdict takes; None where one of them is missing.

    Args:
        case: the case.
        spec: the settings.
        outcomes: of the questions that are planned, in order.
    """
    if not outcomes or outcomes[0] is None:
        return None
    n_needed = n_wanted(case, spec, outcomes[0])
    # A run that once asked both orders of all pairs has more.
    known = [outcome for outcome in outcomes[:n_needed] if outcome is not None]
    return known if len(known) == n_needed else None


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
    if case.scenario is not None:
        verdict = replace(verdict, scenario=case.scenario)
    if spec.sure_threshold is not None:
        verdict = mark(verdict, spec.sure_threshold)
    if spec.second_order is None:
        return verdict
    return with_budget(
        verdict,
        first_confidence=order_confidence(judgments[0]),
        below=spec.second_order.below,
        drawn=is_drawn(case.id, spec.second_order.always_full),
    )


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


def read_follow(
    case: Case, asked: Asked, verdict: Verdict, answers: Answers, spec: RunSpec
) -> Judgment | Failure | None:
    """The outcome of asking for the critique of a verdict; None where there is none yet.

    Args:
        case: the judged case.
        asked: the question for the critique.
        verdict: the verdict that it was asked for.
        answers: finds its answer.
        spec: the settings of the run.

    Raises:
        DataError: the question is about responses that the case has not.
    """
    found = answers.find(asked.key)
    if not isinstance(found, Completion):
        return found
    try:
        reading = spec.reader(case).read_follow(verdict, asked.shown, found)
        trusted = as_trusted(reading, verdict, asked.shown, spec.writing)
    except (ValueError, IndexError) as error:
        # Pages of a critique that a stranger's file names.
        what = f"the critique of case {case.id!r} is about responses {list(asked.shown)}: {error}"
        raise damaged(Path(FOLLOW), None, what) from None
    return Judgment(asked=asked, completion=found, reading=trusted)


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
    case: Case, verdict: Verdict, asked: Iterable[Asked], answers: Answers, spec: RunSpec
) -> Verdict:
    """A verdict with the critiques that were asked for it, as far as they exist."""
    written = [read_follow(case, row, verdict, answers, spec) for row in asked]
    known = [item for item in written if item is not None]
    return add_critiques(verdict, known) if known else verdict
