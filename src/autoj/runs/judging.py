"""The route of a run: plan, ask, resolve, ask for critiques, resolve again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from itertools import chain, groupby

from autoj.backends.base import Backend
from autoj.errors import StorageFull
from autoj.jsonl import count_lines
from autoj.protocols import load_protocol
from autoj.records import Asked, Calibration, Case, Completion, Failure, Judgment, Verdict
from autoj.runs.folder import PlanWriter, RunFolder
from autoj.runs.loop import ask
from autoj.runs.plan import Planned, RunSpec, plan_case, plan_follow
from autoj.runs.store import Answers, Ledger, LedgerReader, MemoryLedger
from autoj.verdicts import add_critiques, resolve

__all__ = [
    "CaseRecord",
    "Progress",
    "RunCounts",
    "is_finished",
    "judge_case",
    "judge_run",
    "read_case",
    "resolve_run",
]

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many requests are done, and how many there are."""


@dataclass(slots=True, kw_only=True)
class RunCounts:
    """What one session of a run did."""

    n_answered: int = 0
    """Requests answered in this session."""
    n_failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    def add(self, outcome: Completion | Failure | None) -> None:
        """Count an outcome; None is a request that an earlier session answered."""
        if isinstance(outcome, Completion):
            self.n_answered += 1
            self.prompt_tokens += outcome.prompt_tokens
            self.completion_tokens += outcome.completion_tokens
        elif isinstance(outcome, Failure):
            self.n_failed += 1


def _silent(what: str, n_done: int, n_total: int) -> None:
    """Progress that nobody watches."""


def judge_run(
    folder: RunFolder, spec: RunSpec, backend: Backend, progress: Progress = _silent
) -> RunCounts:
    """Judge all cases of a run's folder; go on where an earlier session stopped.

    Args:
        folder: an open run folder.
        spec: the settings it was opened with.
        backend: runs the judge.
        progress: told how far it is.

    Returns:
        What this session did.

    Raises:
        BackendError: the engine broke down; the run can go on later.
        StorageFull: the disk took no more; the run can go on later.
    """
    counts = RunCounts()
    started = time.monotonic()
    try:
        with Ledger(folder.path) as ledger:
            _ask_first(folder, spec, backend, ledger, counts, progress)
            if spec.critique:
                _ask_follow(folder, spec, backend, ledger, counts, progress)
        folder.write_verdicts(verdict for _, verdict in resolve_run(folder, spec))
    finally:
        counts.seconds = time.monotonic() - started
        # A disk that is full has already said so, or will at the next write that matters.
        with suppress(StorageFull):
            folder.add_timing({"ended": time.strftime("%Y-%m-%dT%H:%M:%S%z"), **asdict(counts)})
    return counts


def _ask_first(
    folder: RunFolder,
    spec: RunSpec,
    backend: Backend,
    ledger: Ledger,
    counts: RunCounts,
    progress: Progress,
) -> None:
    def planned() -> Iterator[Planned]:
        for case in folder.cases():
            for item in plan_case(case, spec, backend):
                writer.write(item.asked)
                yield item

    n_total = _n_requests(folder, spec)
    with closing(PlanWriter(folder.path / "plan.jsonl")) as writer:
        _ask_all("judging", planned(), n_total, backend, ledger, counts, progress)


def _n_requests(folder: RunFolder, spec: RunSpec) -> int:
    if spec.paired:
        one = spec.has_orders and spec.orders != "both"
        return folder.n_cases() * (1 if one else 2)
    return sum(len(case.responses) for case in folder.cases())


def _ask_follow(
    folder: RunFolder,
    spec: RunSpec,
    backend: Backend,
    ledger: Ledger,
    counts: RunCounts,
    progress: Progress,
) -> None:
    """Ask for the critiques of all verdicts; their plan follows from the verdicts, so it is new."""
    path = folder.path / "follow.jsonl"
    path.unlink(missing_ok=True)

    def planned() -> Iterator[Planned]:
        for case, verdict in _resolve_first(folder, spec):
            for item in plan_follow(case, verdict, spec, backend):
                writer.write(item.asked)
                yield item

    n_total = folder.n_cases() if spec.paired else _n_requests(folder, spec)
    with closing(PlanWriter(path)) as writer:
        _ask_all("writing critiques", planned(), n_total, backend, ledger, counts, progress)


def _ask_all(
    what: str,
    planned: Iterable[Planned],
    n_total: int,
    backend: Backend,
    ledger: Ledger,
    counts: RunCounts,
    progress: Progress,
) -> None:
    n_done = 0

    def on_outcome(outcome: Completion | Failure | None) -> None:
        nonlocal n_done
        n_done += 1
        counts.add(outcome)
        progress(what, n_done, max(n_total, n_done))

    progress(what, 0, n_total)
    ask(planned, backend, ledger, on_outcome)


def is_finished(folder: RunFolder, spec: RunSpec) -> bool:
    """Whether nothing is left to ask: an answer is there to everything, and no failure.

    Args:
        folder: a run's folder.
        spec: its settings.
    """
    if count_lines(folder.path / "verdicts.jsonl") < folder.n_cases():
        return False
    planned = (folder.plan(), folder.follow() if spec.critique else ())
    with closing(LedgerReader(folder.path)) as reader:
        return all(isinstance(reader.find(row.key), Completion) for row in chain(*planned))


def resolve_run(folder: RunFolder, spec: RunSpec) -> Iterator[tuple[Case, Verdict]]:
    """The verdict of each case that was asked about, in order; reads no model.

    Args:
        folder: a run's folder, finished or not.
        spec: its settings.
    """
    follow = _Groups(folder.follow() if spec.critique else ())
    with closing(LedgerReader(folder.path)) as reader:
        for case, verdict in _resolve_with(reader, folder, spec):
            yield case, _with_critiques(verdict, follow.of(case.id), reader)


def _resolve_first(folder: RunFolder, spec: RunSpec) -> Iterator[tuple[Case, Verdict]]:
    with closing(LedgerReader(folder.path)) as reader:
        yield from _resolve_with(reader, folder, spec)


def _resolve_with(
    reader: LedgerReader, folder: RunFolder, spec: RunSpec
) -> Iterator[tuple[Case, Verdict]]:
    plan = _Groups(folder.plan())
    for case in folder.cases():
        judgments = [_read(asked, reader) for asked in plan.of(case.id)]
        known = [item for item in judgments if item is not None]
        if known and len(known) == len(judgments):
            yield case, _resolve(case, spec, known)


def _resolve(case: Case, spec: RunSpec, judgments: list[Judgment | Failure]) -> Verdict:
    return resolve(
        case,
        spec.judge.name,
        judgments,
        spec.on_conflict,
        paired=spec.paired,
        reads_alone=not spec.has_orders,
        calibration=spec.calibration,
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


def _read(asked: Asked, answers: Answers) -> Judgment | Failure | None:
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


def _with_critiques(verdict: Verdict, asked: Iterable[Asked], answers: Answers) -> Verdict:
    written = [_read_follow(row, verdict, answers) for row in asked]
    known = [item for item in written if item is not None]
    return add_critiques(verdict, known) if known else verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """All that a run holds about one case."""

    case: Case
    verdict: Verdict | None
    """None where it was not judged yet."""
    judgments: tuple[tuple[Asked, Judgment | Failure | None], ...]
    """What was asked, in order, with what came of it; None where nothing did yet."""
    paired: bool
    """Whether the verdict is on a pair, and not on each response."""
    calibration: Calibration | None = None
    """What the verdict's probabilities were made with."""


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
        judgments = [(asked, _read(asked, reader)) for asked in first]
        known = [item for _, item in judgments if item is not None]
        verdict = None
        if known and len(known) == len(judgments):
            verdict = _resolve(case, spec, known)
            follow = [asked for asked in folder.follow() if asked.case_id == case_id]
            judgments += [(asked, _read_follow(asked, verdict, reader)) for asked in follow]
            verdict = _with_critiques(verdict, follow, reader)
    return CaseRecord(
        case=case,
        verdict=verdict,
        judgments=tuple(judgments),
        paired=spec.paired,
        calibration=spec.calibration,
    )


def judge_case(case: Case, spec: RunSpec, backend: Backend) -> Verdict:
    """Judge one case by the same route as a run, kept in memory.

    Args:
        case: what is judged.
        spec: the settings.
        backend: runs the judge.

    Raises:
        BackendError: the engine broke down.
    """
    ledger = MemoryLedger()

    def ask_all(planned: list[Planned]) -> list[Asked]:
        ask(planned, backend, ledger, lambda _: None)
        return [item.asked for item in planned]

    asked = ask_all(plan_case(case, spec, backend))
    known = [item for row in asked if (item := _read(row, ledger)) is not None]
    verdict = _resolve(case, spec, known)
    if not spec.critique:
        return verdict
    return _with_critiques(verdict, ask_all(plan_follow(case, verdict, spec, backend)), ledger)
