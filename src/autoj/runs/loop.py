"""The only caller of a backend: sends what the ledger does not hold, records what comes back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from autoj.backends.base import Backend
from autoj.records import Completion, Failure, Request
from autoj.runs.budget import Budget
from autoj.runs.ledger import Ledger, MemoryLedger
from autoj.runs.plan import Planned

__all__ = ["OnOutcome", "ask"]

OnOutcome = Callable[[Completion | Failure | None], None]
"""Called once per planned request: with its answer or failure, or None where the ledger has it."""


def ask(
    planned: Iterable[Planned],
    backend: Backend,
    ledger: Ledger | MemoryLedger,
    on_outcome: OnOutcome,
    budget: Budget | None = None,
) -> None:
    """Answer everything that is planned and not answered yet; equal texts are asked once.

    Args:
        planned: read lazily, as far ahead as the backend reads.
        backend: answers.
        ledger: records each answer as it comes, and is left whole if this is interrupted.
        on_outcome: told of the progress.
        budget: what may be spent; where it is used up, the rest is left unasked.

    Raises:
        BackendError: the engine broke down; what came before is recorded.
        StorageFull: the disk took no more.
    """
    # Keys that are asked for and not in the ledger: under way, or failed in this session.
    open_keys: set[str] = set()
    unread = iter(planned)
    held: list[Planned] = []
    while True:
        rest, held = chain(held, unread), []
        missing = _missing(rest, backend, ledger, open_keys, on_outcome, budget, held)
        for answer in backend.complete(missing):
            if budget is not None:
                budget.settle(answer, backend.card)
            outcome = _finite(answer)
            ledger.record(outcome)
            if isinstance(outcome, Completion):
                open_keys.discard(outcome.key)
            on_outcome(outcome)
        # What was held back for the sake of requests under way is asked now that they are paid for.
        if not held or budget is None or budget.stopped:
            return


def _finite(outcome: Completion | Failure) -> Completion | Failure:
    """A failure in place of scores that are no numbers, which JSON could not hold either."""
    if isinstance(outcome, Failure) or all(map(math.isfinite, outcome.choice_logprobs or ())):
        return outcome
    return Failure(
        key=outcome.key,
        error="NotFinite",
        message=f"the log-probabilities of the choices are {outcome.choice_logprobs}",
        retryable=True,
        attempts=1,
    )


def _missing(
    planned: Iterable[Planned],
    backend: Backend,
    ledger: Ledger | MemoryLedger,
    open_keys: set[str],
    on_outcome: OnOutcome,
    budget: Budget | None,
    held: list[Planned],
) -> Iterator[Request]:
    """What is to be asked, up to where the budget ends: what stands there goes into `held`."""
    for item in planned:
        key = item.asked.key
        if item.failure is not None:
            ledger.record(item.failure)
            on_outcome(item.failure)
        elif item.request is None or ledger.holds(key) or key in open_keys:
            on_outcome(None)
        elif budget is not None and not budget.take(item.request, backend):
            held.append(item)
            return
        else:
            open_keys.add(key)
            yield item.request
