"""The only caller of a backend: sends the requests without an answer, and records the outcomes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from autoj.backends.base import Backend
from autoj.records import Completion, Failure, Request
from autoj.runs.budget import Budget
from autoj.runs.ledger import Ledger, MemoryLedger
from autoj.runs.plan import Planned
from autoj.runs.reuse import Reuse

OnOutcome = Callable[[Completion | Failure | None], None]
"""Called once per planned request: with its answer or failure, or None where the ledger has it."""


def ask(
    planned: Iterable[Planned],
    backend: Backend,
    ledger: Ledger | MemoryLedger,
    on_outcome: OnOutcome,
    budget: Budget | None = None,
    reuse: Reuse | None = None,
) -> None:
    """Sends all planned requests that have no answer; equal texts are asked once.

    Args:
        planned: read lazily, as far ahead as the backend reads.
        backend: answers.
        ledger: records each answer as it comes, and stays intact if this is interrupted.
        on_outcome: told of the progress.
        budget: the caps; once they are reached, the remaining requests are not sent.
        reuse: the answers of earlier runs, which are taken first; receives new ones.

    Raises:
        BackendError: the engine broke down; earlier answers are recorded.
        StorageFull: the disk is full.
    """
    # Keys that are asked for and not in the ledger: in flight, or failed in this session.
    open_keys: set[str] = set()
    unread = iter(planned)
    held: list[Planned] = []
    while True:
        rest, held = chain(held, unread), []
        missing = _missing(rest, backend, ledger, open_keys, on_outcome, budget, reuse, held)
        for answer in backend.complete(missing):
            if budget is not None:
                budget.settle(answer, backend.card)
            outcome = _finite(answer)
            ledger.record(outcome)
            if isinstance(outcome, Completion):
                open_keys.discard(outcome.key)
                if reuse is not None:
                    reuse.keep(outcome)
            on_outcome(outcome)
        # Requests held back while others were in flight are sent now that those are settled.
        if not held or budget is None or budget.stopped:
            return


def _finite(outcome: Completion | Failure) -> Completion | Failure:
    """Replaces scores that are not finite, which JSON could not hold either, by a failure."""
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
    reuse: Reuse | None,
    held: list[Planned],
) -> Iterator[Request]:
    """The requests to send, up to the end of the budget; the request held back goes into `held`."""
    for item in planned:
        key = item.asked.key
        if item.failure is not None:
            ledger.record(item.failure)
            on_outcome(item.failure)
        elif item.request is None or ledger.holds(key) or key in open_keys:
            on_outcome(None)
        elif reuse is not None and (found := reuse.find(key)) is not None:
            ledger.record(found)
            on_outcome(found)
        elif budget is not None and not budget.take(item.request, backend):
            held.append(item)
            return
        else:
            open_keys.add(key)
            yield item.request
