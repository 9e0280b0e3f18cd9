"""The only caller of a backend: sends the requests without an answer, and records the outcomes."""

import math
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from threading import Lock

from autoj.backends.base import Backend, Outcome
from autoj.records import Completion, Failure, Request
from autoj.runs.budget import Budget
from autoj.runs.ledger import Ledger, MemoryLedger
from autoj.runs.plan import Planned
from autoj.runs.reuse import KnownAnswers

OnOutcome = Callable[[Completion | Failure | None], None]
"""Called once per planned request: with its answer or failure, or None where the ledger has it."""


def ask(
    planned: Iterable[Planned],
    backend: Backend,
    ledger: Ledger | MemoryLedger,
    on_outcome: OnOutcome,
    budget: Budget | None = None,
    reuse: KnownAnswers | None = None,
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
    # An engine may read requests in another thread than that of its outcomes.
    telling = Lock()

    def tell(outcome: Completion | Failure | None) -> None:
        with telling:
            on_outcome(outcome)

    while True:
        rest, held = chain(held, unread), []
        missing = _Missing(rest, backend, ledger, open_keys, tell, budget, reuse, held)
        with _ended(backend.complete(missing), missing) as answers:
            for answer in answers:
                if budget is not None:
                    budget.settle(answer, backend.card)
                outcome = _finite(answer)
                ledger.record(outcome)
                if isinstance(outcome, Completion):
                    open_keys.discard(outcome.key)
                    if reuse is not None:
                        reuse.keep(outcome)
                tell(outcome)
        # Requests held back while others were in flight are sent now that those are settled.
        if not held or budget is None or budget.stopped:
            return


@contextmanager
def _ended(answers: Iterator[Outcome], missing: "_Missing") -> Iterator[Iterator[Outcome]]:
    """Ends an engine's work with the block: nothing is planned or sent after an error in it."""
    try:
        yield answers
    finally:
        missing.stop()
        if isinstance(answers, Generator):
            answers.close()


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


class _Missing:
    """The requests to send, up to the end of the budget; the request held back goes into `held`."""

    def __init__(
        self,
        planned: Iterable[Planned],
        backend: Backend,
        ledger: Ledger | MemoryLedger,
        open_keys: set[str],
        on_outcome: OnOutcome,
        budget: Budget | None,
        reuse: KnownAnswers | None,
        held: list[Planned],
    ) -> None:
        self._planned, self._backend, self._ledger = planned, backend, ledger
        self._open_keys, self._on_outcome = open_keys, on_outcome
        self._budget, self._reuse, self._held = budget, reuse, held
        self._stopped = False

    def stop(self) -> None:
        """Ends the requests, also where many are being skipped."""
        self._stopped = True

    def __iter__(self) -> Iterator[Request]:
        for item in self._planned:
            if self._stopped:
                return
            key = item.asked.key
            if item.failure is not None:
                self._ledger.record(item.failure)
                self._on_outcome(item.failure)
            # In this order: a key leaves the open ones when the ledger has it, maybe just now.
            elif item.request is None or key in self._open_keys or self._ledger.holds(key):
                self._on_outcome(None)
            elif self._reuse is not None and (found := self._reuse.find(key)) is not None:
                self._ledger.record(found)
                self._on_outcome(found)
            elif self._budget is not None and not self._budget.take(item.request, self._backend):
                self._held.append(item)
                return
            else:
                self._open_keys.add(key)
                yield item.request
