"""The cost of an audit in advance: judgments, tokens, and the time estimated from a first few."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from autoj.audit.plan import AuditPlan, Part
from autoj.backends.base import Backend
from autoj.chat import render
from autoj.jsonl import read_records
from autoj.records import Completion, Failure, Request
from autoj.runs import RunFolder, open_run
from autoj.runs.budget import Budget
from autoj.runs.ledger import Ledger
from autoj.runs.loop import ask
from autoj.runs.plan import Planned, plan_case

_N_FIRST = 8
"""Judgments that are asked to time the rest; they are kept, and not asked again."""
_N_COUNTED = 24
"""Prompts whose tokens are counted, spread over all."""


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
