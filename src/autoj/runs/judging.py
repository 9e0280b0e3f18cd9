"""The route of a run: plan, ask, resolve, ask for critiques, resolve again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass

from autoj.backends.base import Backend
from autoj.errors import StorageFull
from autoj.jsonl import read_records
from autoj.records import Asked, Case, Completion, Failure, Judgment, Verdict
from autoj.runs.budget import Budget
from autoj.runs.folder import PlanWriter, RunFolder
from autoj.runs.ledger import Ledger, MemoryLedger
from autoj.runs.loop import ask
from autoj.runs.plan import Planned, check_room, n_asked, plan_case, plan_follow
from autoj.runs.resolving import (
    read_answer,
    resolve_first,
    resolve_judgments,
    resolve_run,
    with_critiques,
)
from autoj.runs.spec import RunSpec

__all__ = ["Progress", "RunCounts", "ask_case", "judge_case", "judge_run"]

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
    folder: RunFolder,
    spec: RunSpec,
    backend: Backend,
    progress: Progress = _silent,
    budget: Budget | None = None,
) -> RunCounts:
    """Judge all cases of a run's folder; go on where an earlier session stopped.

    Args:
        folder: an open run folder.
        spec: the settings it was opened with.
        backend: runs the judge.
        progress: told how far it is.
        budget: what may be spent, this run's earlier sessions included; `budget.stopped` says
            afterwards whether something is left for a higher one.

    Returns:
        What this session did.

    Raises:
        BackendError: the engine broke down; the run can go on later.
        StorageFull: the disk took no more; the run can go on later.
        ConfigError: money is capped, and the judge's card has no prices; or its context is too
            short for any case.
    """
    folder.bind_template(backend.card.options.get("template_sha256"))
    if (first := next(folder.cases(), None)) is not None:
        check_room(first, spec, backend)
    counts = RunCounts()
    started = time.monotonic()
    try:
        with Ledger(folder.path) as ledger:
            if budget is not None:
                budget.check(spec.judge)
                answers = read_records(folder.path / "ledger.jsonl", Completion)
                budget.count_earlier(spec.judge, answers)
            _ask_first(folder, spec, backend, ledger, counts, progress, budget)
            if spec.critique and not (budget is not None and budget.stopped):
                _ask_follow(folder, spec, backend, ledger, counts, progress, budget)
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
    budget: Budget | None,
) -> None:
    def planned() -> Iterator[Planned]:
        for case in folder.cases():
            for item in plan_case(case, spec, backend):
                writer.write(item.asked)
                yield item

    n_total = _n_requests(folder, spec)
    with closing(PlanWriter(folder.path / "plan.jsonl")) as writer:
        _ask_all("judging", planned(), n_total, backend, ledger, counts, progress, budget)


def _n_requests(folder: RunFolder, spec: RunSpec) -> int:
    if spec.paired:
        one = spec.has_orders and spec.orders != "both"
        return folder.n_cases() * (1 if one else 2) * spec.n_draws
    return sum(n_asked(case, spec) for case in folder.cases())


def _ask_follow(
    folder: RunFolder,
    spec: RunSpec,
    backend: Backend,
    ledger: Ledger,
    counts: RunCounts,
    progress: Progress,
    budget: Budget | None,
) -> None:
    """Ask for the critiques of all verdicts; their plan follows from the verdicts, so it is new."""
    path = folder.path / "follow.jsonl"
    path.unlink(missing_ok=True)

    def planned() -> Iterator[Planned]:
        for case, verdict in resolve_first(folder, spec):
            for item in plan_follow(case, verdict, spec, backend):
                writer.write(item.asked)
                yield item

    n_total = folder.n_cases() if spec.paired else _n_requests(folder, spec)
    with closing(PlanWriter(path)) as writer:
        _ask_all("writing critiques", planned(), n_total, backend, ledger, counts, progress, budget)


def _ask_all(
    what: str,
    planned: Iterable[Planned],
    n_total: int,
    backend: Backend,
    ledger: Ledger,
    counts: RunCounts,
    progress: Progress,
    budget: Budget | None,
) -> None:
    n_done = 0

    def on_outcome(outcome: Completion | Failure | None) -> None:
        nonlocal n_done
        n_done += 1
        counts.add(outcome)
        progress(what, n_done, max(n_total, n_done))

    progress(what, 0, n_total)
    ask(planned, backend, ledger, on_outcome, budget)


def _unanswered(asked: Asked) -> Failure:
    said = "the engine gave no answer"
    return Failure(key=asked.key, error="NoAnswer", message=said, retryable=True, attempts=1)


def ask_case(case: Case, spec: RunSpec, backend: Backend) -> list[Judgment | Failure]:
    """What comes of the questions about one case, kept in memory.

    Args:
        case: what is judged.
        spec: the settings.
        backend: runs the judge.

    Raises:
        BackendError: the engine broke down.
        ConfigError: the judge's context is too short for any case.
    """
    return _ask_in_memory(case, spec, backend, MemoryLedger())


def _ask_in_memory(
    case: Case, spec: RunSpec, backend: Backend, ledger: MemoryLedger
) -> list[Judgment | Failure]:
    check_room(case, spec, backend)
    planned = plan_case(case, spec, backend)
    ask(planned, backend, ledger, lambda _: None)
    rows = [item.asked for item in planned]
    return [read_answer(row, ledger) or _unanswered(row) for row in rows]


def judge_case(case: Case, spec: RunSpec, backend: Backend) -> Verdict:
    """Judge one case by the same route as a run, kept in memory.

    Args:
        case: what is judged.
        spec: the settings.
        backend: runs the judge.

    Raises:
        BackendError: the engine broke down.
        ConfigError: the judge's context is too short for any case.
    """
    ledger = MemoryLedger()
    verdict = resolve_judgments(case, spec, _ask_in_memory(case, spec, backend, ledger))
    if not spec.critique:
        return verdict
    planned = plan_follow(case, verdict, spec, backend)
    ask(planned, backend, ledger, lambda _: None)
    return with_critiques(verdict, [item.asked for item in planned], ledger)
