"""Cases that many callers ask about at once, judged in batches by one thread.

An engine is used by one thread alone, and reads many requests at once better than one by one. So a
thread takes all that waits, judges what shares its settings as one batch, and hands out verdicts.
"""

import queue
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import groupby
from typing import NamedTuple

from autoj.backends.base import Backend
from autoj.errors import ConfigError
from autoj.records import Case, Verdict
from autoj.runs import RunSpec, judge_cases

_MOST_AT_ONCE = 256
"""Cases that are judged as one batch at most."""


class _Waiting(NamedTuple):
    case: Case
    spec: RunSpec
    verdict: Future[Verdict]


class Batcher:
    """Judges cases in the order in which they come, as many at once as wait.

    Its thread starts with the first case and ends with `close`.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._closed = False

    def submit(self, case: Case, spec: RunSpec) -> Future[Verdict]:
        """Ask for a verdict.

        Args:
            case: what is judged.
            spec: the settings.

        Returns:
            The verdict, once it is there; an error of the engine is raised by its `result`.

        Raises:
            ConfigError: the batcher is closed.
        """
        verdict: Future[Verdict] = Future()
        # One step: what is queued after the end would never be judged.
        with self._starting:
            if self._closed:
                raise ConfigError("the judge is closed, and judges no more cases")
            self._waiting.put(_Waiting(case, spec, verdict))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="autoj", daemon=True)
                self._thread.start()
        return verdict

    def close(self) -> None:
        """End the thread once all that waits is judged."""
        with self._starting:
            self._closed = True
            self._waiting.put(None)
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, is_last = [first], False
            for item in self._at_hand():
                if item is None:
                    is_last = True
                    break
                batch.append(item)
            for _, same in groupby(batch, key=lambda item: item.spec):
                self._judge(list(same))
            if is_last:
                return

    def _at_hand(self) -> Iterator[_Waiting | None]:
        for _ in range(_MOST_AT_ONCE - 1):
            try:
                yield self._waiting.get_nowait()
            except queue.Empty:
                return

    def _judge(self, batch: list[_Waiting]) -> None:
        wanted = [item for item in batch if item.verdict.set_running_or_notify_cancel()]
        if not wanted:
            return
        try:
            found = list(judge_cases((item.case for item in wanted), wanted[0].spec, self._backend))
        except Exception as error:
            # The caller that waits is told; this thread goes on for the others.
            for item in wanted:
                item.verdict.set_exception(error)
        else:
            for item, verdict in zip(wanted, found, strict=True):
                item.verdict.set_result(verdict)
