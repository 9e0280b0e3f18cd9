"""The only caller of a backend: sends what the ledger does not hold, records what comes back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from autoj.backends.base import Backend
from autoj.records import Completion, Failure, Request
from autoj.runs.plan import Planned
from autoj.runs.store import Ledger, MemoryLedger

__all__ = ["OnOutcome", "ask"]

OnOutcome = Callable[[Completion | Failure | None], None]
"""Called once per planned request: with its answer or failure, or None where the ledger has it."""


def ask(
    planned: Iterable[Planned],
    backend: Backend,
    ledger: Ledger | MemoryLedger,
    on_outcome: OnOutcome,
) -> None:
    """Answer everything that is planned and not answered yet; equal texts are asked once.

    Args:
        planned: read lazily, as far ahead as the backend reads.
        backend: answers.
        ledger: records each answer as it comes, and is left whole if this is interrupted.
        on_outcome: told of the progress.

    Raises:
        BackendError: the engine broke down; what came before is recorded.
        StorageFull: the disk took no more.
    """
    # Keys that are asked for and not in the ledger: under way, or failed in this session.
    open_keys: set[str] = set()
    for answer in backend.complete(_missing(planned, ledger, open_keys, on_outcome)):
        outcome = _finite(answer)
        ledger.record(outcome)
        if isinstance(outcome, Completion):
            open_keys.discard(outcome.key)
        on_outcome(outcome)


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
    ledger: Ledger | MemoryLedger,
    open_keys: set[str],
    on_outcome: OnOutcome,
) -> Iterator[Request]:
    for item in planned:
        key = item.asked.key
        if item.failure is not None:
            ledger.record(item.failure)
            on_outcome(item.failure)
        elif item.request is None or ledger.holds(key) or key in open_keys:
            on_outcome(None)
        else:
            open_keys.add(key)
            yield item.request
