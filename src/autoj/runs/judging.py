"""Judges the cases of a run: plan, ask, resolve, ask for critiques, resolve again."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain, starmap
from typing import Any

from autoj.backends.base import Backend
from autoj.errors import Cancelled, StorageFull
from autoj.records import Asked, Case, Completion, Failure
from autoj.runs.budget import Budget
from autoj.runs.cost import Meter
from autoj.runs.files import FAILURES, FOLLOW, LEDGER, PLAN, digests_of
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import Ledger, RecordedAnswer
from autoj.runs.loop import ask
from autoj.runs.plan import Planned, check_room, n_asked, plan_case, plan_follow, rows_of
from autoj.runs.plan_file import PlanWriter, earlier_rows
from autoj.runs.resolving import n_wanted, read_answer, resolve_first, resolve_run
from autoj.runs.reuse import KnownAnswers
from autoj.runs.second_order import SecondOrder
from autoj.runs.spec import RunSpec
from autoj.runs.watch import SILENT, Watch


@dataclass(slots=True, kw_only=True)
class RunCounts:
    """Counts of one session of a run."""

    n_answered: int = 0
    """Requests answered in this session."""
    n_reused: int = 0
    """Answers of earlier runs that were taken instead of asking."""
    n_failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    def add(self, outcome: Completion | Failure | None) -> None:
        """Counts an outcome; None is a request that an earlier session answered."""
        if isinstance(outcome, RecordedAnswer):
            self.n_reused += 1
        elif isinstance(outcome, Completion):
            self.n_answered += 1
            self.prompt_tokens += outcome.prompt_tokens
            self.completion_tokens += outcome.completion_tokens
        elif isinstance(outcome, Failure):
            self.n_failed += 1

    def stated(self) -> dict[str, Any]:
        """The counts for `timings.jsonl`: without reuse where there is none."""
        return {name: n for name, n in asdict(self).items() if n or name != "n_reused"}


def open_ledger(
    folder: RunFolder, spec: RunSpec, budget: Budget | None = None, meter: Meter | None = None
) -> Ledger:
    """Opens a run's ledger for writing; its answers are counted against the budget.

    Args:
        folder: an open run folder.
        spec: its settings.
        budget: the caps, earlier sessions included; None sets no limit.
        meter: adds up what the answers cost; None does not.
    """
    metered = meter is not None and meter.is_priced
    if budget is None and not metered:
        return Ledger(folder.path)

    def count(answer: RecordedAnswer) -> None:
        if meter is not None:
            meter.count_earlier(answer)
        if budget is not None and not answer.reused:
            budget.count_earlier(spec.judge, (answer,))

    return Ledger(folder.path, each=count)


def judge_run(
    folder: RunFolder,
    spec: RunSpec,
    backend: Backend,
    *,
    ledger: Ledger | None = None,
    watch: Watch = SILENT,
    budget: Budget | None = None,
    meter: Meter | None = None,
    reuse: KnownAnswers | None = None,
    load_critic: Callable[[], AbstractContextManager[Backend]] | None = None,
) -> RunCounts:
    """Judges all cases of a run's folder; resumes where an earlier session stopped.

    Args:
        folder: an open run folder.
        spec: the settings it was opened with.
        backend: runs the judge.
        ledger: the run's, from `open_ledger` with the same budget; None opens it.
        watch: told of the progress.
        budget: the caps, this run's earlier sessions included; `budget.stopped` is True
            afterwards where something is left for a higher cap.
        meter: adds up what this session costs, after what `open_ledger` counted with it.
        reuse: the answers of earlier runs, which are taken first; None asks everything.
        load_critic: opens the engine of the spec's critic, after the verdicts; None without one.

    Returns:
        The counts of this session.

    Raises:
        BackendError: the engine broke down; the run can be resumed.
        StorageFull: the disk is full; the run can be resumed.
        Cancelled: `watch` cancelled it; the run can be resumed.
        ConfigError: money is capped, and the judge's card has no prices; or its context is too
            short for any case.
    """
    folder.bind_template(backend.card.options.get("template_sha256"))
    if (first := next(folder.cases(), None)) is not None:
        check_room(first, spec, backend)
    if budget is not None:
        budget.check(spec.judge)
    meter = meter or Meter(spec.priced_judge)
    plan = partial(plan_case, spec=spec, backend=backend)
    with ExitStack() as opened:
        if ledger is None:
            ledger = opened.enter_context(open_ledger(folder, spec, budget, meter))
        session = _Session(
            folder=folder,
            spec=spec,
            backend=backend,
            ledger=ledger,
            watch=watch,
            budget=budget,
            meter=meter,
            reuse=reuse,
        )
        opened.enter_context(_timed(session))
        opened.enter_context(_rewritten(folder))
        if spec.second_order is None:
            session.ask("judging", PLAN, map(plan, folder.cases()))
        else:
            session.ask_in_turn(spec.second_order)
        if spec.critique and not (budget is not None and budget.stopped):
            n_known = session.n_known(FOLLOW)
            # What is asked then follows from the verdicts, so its plan is new.
            (folder.path / FOLLOW).unlink(missing_ok=True)
            if load_critic is not None:
                session.backend, session.reuse = opened.enter_context(load_critic()), None
            plan_critiques = partial(plan_follow, spec=spec.writing, backend=session.backend)
            judged = resolve_first(folder, spec, ledger)
            planned = starmap(plan_critiques, judged)
            session.ask("writing critiques", FOLLOW, planned, n_known=n_known)
        folder.write_verdicts(verdict for _, verdict in resolve_run(folder, spec, ledger))
        folder.record_scored_by()
    return session.counts


def close_finished(folder: RunFolder, spec: RunSpec, ledger: Ledger) -> None:
    """Writes what follows from the answers of a finished run, as its last session would have.

    A session that was killed after its last answer has noted less of it.

    Args:
        folder: an open run folder.
        spec: its settings.
        ledger: its ledger, with an answer to every question.
    """
    folder.write_verdicts(verdict for _, verdict in resolve_run(folder, spec, ledger))
    folder.record_scored_by()
    if not {PLAN, LEDGER} <= digests_of(folder.path).keys():
        folder.note_digests(PLAN, FOLLOW, LEDGER, FAILURES)


@dataclass(slots=True, kw_only=True)
class _Session:
    """One session of a run, with its inputs and its counts."""

    folder: RunFolder
    spec: RunSpec
    backend: Backend
    ledger: Ledger
    watch: Watch
    budget: Budget | None
    meter: Meter
    reuse: KnownAnswers | None
    counts: RunCounts = field(default_factory=RunCounts)

    def ask(
        self,
        what: str,
        plan: str,
        planned: Iterable[Sequence[Planned]],
        n_each: float | None = None,
        n_known: int | None = None,
    ) -> None:
        """Asks the unanswered questions of a plan, and writes the plan as far as it is read.

        Args:
            what: the name of the work, for the progress.
            plan: the file of the plan.
            planned: the questions about each case.
            n_each: the questions about a case on average; None follows from the settings.
            n_known: the questions whose answers are there; None counts those of the plan.
        """
        n_total = self._n_requests(critiques=plan == FOLLOW)
        if n_each is not None:
            n_total = round(n_each * self.folder.n_cases())
        # They are done from the start: passing over them says nothing of the time of the rest.
        n_done = n_passing = min(self.n_known(plan) if n_known is None else n_known, n_total)
        is_first = self.spec.critique and plan == PLAN
        n_later = self._n_requests(critiques=True) if is_first else 0

        def on_outcome(outcome: Completion | Failure | None) -> None:
            nonlocal n_done, n_passing
            if outcome is None and n_passing:
                n_passing -= 1
            else:
                n_done += 1
            self.counts.add(outcome)
            self.meter.add(outcome, n_later + max(n_total - n_done, 0))
            if (cost := self.meter.cost()) is not None:
                self.watch.cost(cost.run_usd, cost.expected_usd)
            self.watch.progress(what, n_done, max(n_total, n_done))
            if self.watch.cancelled():
                raise Cancelled("cancelled")

        def noted(item: Planned) -> Planned:
            writer.write(item.asked)
            return item

        self.watch.progress(what, n_done, n_total)
        with closing(PlanWriter(self.folder.path / plan)) as writer:
            lazily = map(noted, chain.from_iterable(planned))
            ask(lazily, self.backend, self.ledger, on_outcome, self.budget, self.reuse)
            if self.budget is None or not self.budget.stopped:
                writer.finish()

    def n_known(self, plan: str) -> int:
        """The questions of a plan, as earlier sessions left it, that the ledger has answers to."""
        rows = earlier_rows(self.folder.path / plan)
        return sum(self.ledger.holds(row.key) for row in rows)

    def ask_in_turn(self, second_order: SecondOrder) -> None:
        """Asks the first orders, and then the second ones of the pairs whose first is unsure.

        Both turns plan all cases by what the ledger holds, so that a resumed run asks most second
        orders along with the first, and the plan that is left is that of an uninterrupted one.
        """
        turn = partial(self._turn, again=False)
        share = 1 + second_order.always_full
        self.ask("judging", PLAN, map(turn, self.folder.cases()), share)
        if self.budget is not None and self.budget.stopped:
            return
        turn = partial(self._turn, again=True)
        n_rows = sum(len(self._rows(case)) for case in self.folder.cases())
        share = n_rows / self.folder.n_cases()
        self.ask("judging second orders", PLAN, map(turn, self.folder.cases()), share)

    def _turn(self, case: Case, *, again: bool) -> list[Planned]:
        """The questions about a case that its first order's answer, if there is one, leads to.

        Args:
            case: the case.
            again: True does not ask again what failed in this session.
        """
        rows = self._rows(case)
        has = self.ledger.find if again else self.ledger.holds
        if all(has(row.key) for row in rows):
            return [Planned(asked=row, request=None) for row in rows]
        return plan_case(case, self.spec, self.backend)[: len(rows)]

    def _rows(self, case: Case) -> list[Asked]:
        """The rows of the questions that the outcome of a case's first order leads to."""
        rows = rows_of(case, self.spec, self.backend.card)
        if rows is None:
            rows = [item.asked for item in plan_case(case, self.spec, self.backend)]
        first = read_answer(case, rows[0], self.ledger, self.spec.reader(case))
        return rows[: n_wanted(case, self.spec, first)]

    def _n_requests(self, *, critiques: bool) -> int:
        if not self.spec.paired:
            return sum(n_asked(case, self.spec) for case in self.folder.cases())
        one = critiques or (self.spec.has_orders and self.spec.orders != "both")
        n_draws = 1 if critiques else self.spec.n_draws
        return self.folder.n_cases() * (1 if one else 2) * n_draws


@contextmanager
def _timed(session: _Session) -> Iterator[None]:
    """Records the time of a session, also of one that fails."""
    started = time.monotonic()
    try:
        yield
    finally:
        session.counts.seconds = time.monotonic() - started
        # A full disk was reported already, or will be at the next write that matters.
        with suppress(StorageFull):
            session.folder.add_timing(session.counts.stated() | _usd(session.meter))


def _usd(meter: Meter) -> dict[str, float]:
    """The cost of a session, as `timings.jsonl` states it; empty where it has no prices."""
    cost = meter.cost()
    return {} if cost is None else {"usd": cost.session_usd}


@contextmanager
def _rewritten(folder: RunFolder) -> Iterator[None]:
    """Notes the digests of what a session leaves; while it goes on there are none to be wrong."""
    folder.forget_digests(PLAN, FOLLOW)
    try:
        yield
    finally:
        with suppress(StorageFull):
            folder.note_digests(PLAN, FOLLOW, LEDGER, FAILURES)
