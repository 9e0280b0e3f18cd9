"""An audit from its plan to its card, with its cost in advance: `autoj audit` as one call."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from autoj.audit.card import audit_card, save_plan
from autoj.audit.plan import AuditPlan, Part
from autoj.backends.base import Backend
from autoj.chat import render
from autoj.jsonl import read_records
from autoj.metrics.result import Result
from autoj.records import Completion, Failure, Request
from autoj.runs import RunFolder, open_run
from autoj.runs.budget import Budget, Caps
from autoj.runs.ledger import Ledger
from autoj.runs.loop import ask
from autoj.runs.opening import discarded_if_unused
from autoj.runs.place import check_place
from autoj.runs.plan import Planned, plan_case
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.engine import load_engine
from autoj.tasks.judge import judge

_N_FIRST = 8
"""Judgments that are asked to time the rest; they are kept, and not asked again."""
_N_COUNTED = 24
"""Prompts whose tokens are counted, spread over all."""


def run_audit(
    plan: AuditPlan,
    root: Path,
    *,
    caps: Caps = (None, None),
    backend: Backend | None = None,
    watch: Watch = SILENT,
) -> Result:
    """Judge all cases of an audit, and compute its card; resume where an earlier session stopped.

    Args:
        plan: from `plan_audit`.
        root: the audit's folder, for a run of each part.
        caps: the most US dollars and the most requests.
        backend: runs the judge; None loads it, and frees it.
        watch: told what the audit will cost before it is asked, and how far it is.

    Returns:
        The card, as `audit_card` reads it from the folder at any time.

    Raises:
        ConfigError: the folder holds other things than an audit.
        SpecMismatch: a run of the folder was made with other settings or other data.
        Unfinished: a cap stopped the audit before its end.
        BackendError: the engine broke down; what was judged is kept.
    """
    card = plan.parts[0].spec.judge
    Budget(*caps).check(card)
    check_place(root, [part.name for part in plan.parts])
    with _started(plan, root, backend, watch) as engine:
        # Each counts what the folder's ledgers hold, so the first few count in the second, too.
        workload = estimate_workload(root, plan, engine, Budget(*caps))
        _announce(plan, workload, watch)
        save_plan(root, plan)
        budget = Budget(*caps)
        for part in plan.parts:
            place = root / part.name
            run = judge(part.cases, part.spec, place, backend=engine, budget=budget, watch=watch)
            run.check_whole()
    return audit_card(root)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The requests that an audit has left to make."""

    n_questions: int
    """Questions of the whole audit: each order of each case, as the progress counts them."""
    n_judgments: int
    """Judgments of the whole audit; equal questions of a run count once."""
    n_left: int
    """Requests that no earlier session answered."""
    prompt_tokens: int
    """Tokens of the prompts that are left, estimated from a few."""
    seconds: float | None
    """The estimated time of the rest; None where nothing is left or nothing was answered."""


def estimate_workload(
    root: Path, plan: AuditPlan, backend: Backend, budget: Budget | None = None
) -> Workload:
    """Count what is left to ask, and ask the first few to learn the speed.

    Args:
        root: the audit's folder; its runs are opened, and so checked, before anything is asked.
        plan: what is asked.
        backend: runs the judge.
        budget: what the whole audit may spend, counted here; None sets no limit.

    Raises:
        SpecMismatch: a run of the folder was made with other settings or other data.
        BackendError: the engine broke down.
    """
    n_questions = n_judgments = 0
    left: list[Request] = []
    for part in plan.parts:
        with _opened(root, part) as (folder, ledger):
            if budget is not None:
                answers = read_records(folder.path / "ledger.jsonl", Completion)
                budget.count_earlier(part.spec.judge, answers)
            asked: dict[str, Request | None] = {}
            for item in _planned(folder, part, backend):
                n_questions += 1
                asked[item.asked.key] = item.request
            n_judgments += len(asked)
            left += [
                request
                for key, request in asked.items()
                if request is not None and not ledger.holds(key)
            ]
    return Workload(
        n_questions=n_questions,
        n_judgments=n_judgments,
        n_left=len(left),
        prompt_tokens=_prompt_tokens(left, backend),
        seconds=_time(root, plan, backend, len(left), budget) if left else None,
    )


def _started(
    plan: AuditPlan, root: Path, backend: Backend | None, watch: Watch
) -> AbstractContextManager[Backend]:
    """Opens the run of each part, and then loads the judge; a start that fails leaves no folder."""
    with ExitStack() as made:
        for part in plan.parts:
            made.enter_context(discarded_if_unused(root / part.name))
            # What another run's folder or a bad row would end, it ends before the judge is loaded.
            with open_run(root / part.name, part.spec, part.cases):
                pass
        if backend is not None:
            return nullcontext(backend)
        return closing(load_engine(plan.parts[0].spec.judge, watch))


def _announce(plan: AuditPlan, workload: Workload, watch: Watch) -> None:
    watch.message(
        f"{len(plan.sampled):,} of {plan.n_set:,} cases, drawn by seed {plan.seed}; each probe is "
        f"made of at most {len(plan.probed):,} of them"
    )
    text = (
        f"{workload.n_questions:,} questions, {workload.n_judgments:,} of them distinct; "
        f"{workload.n_left:,} requests still to make"
    )
    if workload.n_left:
        text += f": about {workload.prompt_tokens:,} prompt tokens"
    if workload.seconds is not None:
        text += f", and about {_minutes(workload.seconds)} at the speed of the first few"
    watch.message(text)


def _minutes(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


@contextmanager
def _opened(root: Path, part: Part) -> Iterator[tuple[RunFolder, Ledger]]:
    with (
        open_run(root / part.name, part.spec, part.cases) as folder,
        Ledger(folder.path) as ledger,
    ):
        yield folder, ledger


def _planned(folder: RunFolder, part: Part, backend: Backend) -> Iterator[Planned]:
    for case in folder.cases():
        yield from plan_case(case, part.spec, backend)


def _time(
    root: Path, plan: AuditPlan, backend: Backend, n_left: int, budget: Budget | None
) -> float | None:
    """Ask the first few that are left, and extrapolate from their speed."""
    for part in plan.parts:
        with _opened(root, part) as (folder, ledger):
            missing = (
                item
                for item in _planned(folder, part, backend)
                if item.request is not None and not ledger.holds(item.request.key)
            )
            if first := list(islice(missing, _N_FIRST)):
                outcomes: list[Completion | Failure | None] = []
                started = time.monotonic()
                ask(first, backend, ledger, outcomes.append, budget)
                seconds = time.monotonic() - started
                n_answered = sum(isinstance(outcome, Completion) for outcome in outcomes)
                return seconds / n_answered * (n_left - n_answered) if n_answered else None
    return None


def _prompt_tokens(requests: list[Request], backend: Backend) -> int:
    if not requests:
        return 0
    counted = requests[:: max(1, len(requests) // _N_COUNTED)]
    n_tokens = sum(
        backend.count_tokens(
            render(
                request.messages,
                backend.card.wrapper,
                request.prefix,
                getattr(backend, "template", None),
            )
        )
        for request in counted
    )
    return round(n_tokens / len(counted) * len(requests))
