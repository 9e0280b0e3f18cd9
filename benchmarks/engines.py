"""Engines compared: each loaded in its own process, asked in turn.

A busy machine slows all of them then, and each ratio is taken within a round. Linux tells how busy
it is and how much memory a process held; elsewhere this does not run.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

from autoj.backends.base import Backend
from autoj.backends.embedded import EmbeddedBackend
from autoj.backends.embedded.model import convert
from autoj.backends.embedded.weights import fetch_weights
from autoj.judges import load_card
from autoj.records import Completion, Request

__all__ = [
    "Answer",
    "Engine",
    "Prompts",
    "Work",
    "asking",
    "ratios",
    "spread",
    "timed",
    "unending_embedded",
    "wait_for_quiet",
]

Prompts: TypeAlias = Sequence[int]
"""Indices of an engine's prompts."""
Answer: TypeAlias = Callable[[Prompts], tuple[int, int]]
"""Answers prompts; returns how many tokens were read and written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work of an engine in one round."""

    n_done: int
    """Judgments, or other units of its work."""
    prompt_tokens: int
    new_tokens: int
    seconds: float
    processor_seconds: float
    """Of all cores, in the engine's own process."""
    elsewhere: float
    """The share of the cores used by other processes meanwhile, 0 to 1."""

    @property
    def per_minute(self) -> float:
        """Judgments per minute."""
        return 60 * self.n_done / self.seconds

    @property
    def read_per_second(self) -> float:
        """Prompt tokens per second."""
        return self.prompt_tokens / self.seconds

    @property
    def new_per_second(self) -> float:
        """Tokens written per second."""
        return self.new_tokens / self.seconds


# What answers.


def asking(backend: Backend, requests: Sequence[Request], *, one_by_one: bool = False) -> Answer:
    """Asks a backend for some of the requests.

    Args:
        backend: answers.
        requests: what can be asked.
        one_by_one: whether each is asked when the one before it is answered, and not all together.
    """

    def ask(prompts: Prompts) -> tuple[int, int]:
        chosen = [requests[index] for index in prompts]
        groups = [[request] for request in chosen] if one_by_one else [chosen]
        outcomes = [outcome for group in groups for outcome in backend.complete(group)]
        done = [outcome for outcome in outcomes if isinstance(outcome, Completion)]
        if len(done) < len(chosen):
            raise SystemExit(f"not all were answered: {outcomes}")
        return sum(answer.prompt_tokens for answer in done), sum(
            answer.completion_tokens for answer in done
        )

    return ask


class _UnendingEmbedded(EmbeddedBackend):
    def _config(self, request: Request) -> Any:
        config = super()._config(request)
        config.ignore_eos = True
        config.stop_token_ids = set()
        return config


def unending_embedded(judge: str = "embedded-small-base") -> EmbeddedBackend:
    """An embedded judge, writing on after its answer's end: equal work for all engines."""
    card = load_card(judge)
    return _UnendingEmbedded(card, convert(fetch_weights(card)))


def timed(answer: Answer, prompts: Prompts) -> Work:
    """Times the answers to some prompts."""
    started, ours, everybody = time.perf_counter(), time.process_time(), _busy_seconds()
    prompt_tokens, new_tokens = answer(prompts)
    seconds = time.perf_counter() - started
    processor_seconds = time.process_time() - ours
    others = _busy_seconds() - everybody - processor_seconds
    return Work(
        n_done=len(prompts),
        prompt_tokens=prompt_tokens,
        new_tokens=new_tokens,
        seconds=seconds,
        processor_seconds=processor_seconds,
        elsewhere=max(0.0, others / seconds / (os.cpu_count() or 1)),
    )


# Processes.


class Engine:
    """An engine in a process of its own, asked through a pipe."""

    def __init__(
        self, title: str, n_cores: int, make: Callable[..., Answer], *options: Any
    ) -> None:
        """Starts the process and has the first prompt answered.

        Args:
            title: its name in tables.
            n_cores: how many cores it may use.
            make: makes what answers, in that process; a function that a module names.
            options: what `make` is given.
        """
        spawn = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, n_cores, make, options))
        self._process.start()
        theirs.close()
        self.title = title
        self.load_seconds: float = self._receive()
        """From nothing imported to ready, without the first answer."""
        self.work: list[Work] = []
        # The first answer also pays for what is loaded and compiled on first use.
        self.first_seconds = self._ask((0,)).seconds
        print(f"{title}: ready, first answer {self.first_seconds:.1f} s", file=sys.stderr)

    def ask(self, prompts: Prompts) -> Work:
        """Answers some of the prompts."""
        work = self._ask(prompts)
        self.work.append(work)
        print(f"{self.title}: {work}", file=sys.stderr)
        return work

    def close(self) -> float:
        """Ends the process; returns the most memory that it held, in 10^6 bytes."""
        self._pipe.send(None)
        peak_mb: float = self._receive()
        self._process.join()
        return peak_mb

    def _ask(self, prompts: Prompts) -> Work:
        self._pipe.send(prompts)
        work: Work = self._receive()
        return work

    def _receive(self) -> Any:
        try:
            return self._pipe.recv()
        except EOFError:
            raise SystemExit(f"{self.title} failed; its error is above") from None


def _serve(
    pipe: Connection, n_cores: int, make: Callable[..., Answer], options: tuple[Any, ...]
) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n_cores])
    started = time.perf_counter()
    answer = make(*options)
    pipe.send(time.perf_counter() - started)
    while (prompts := pipe.recv()) is not None:
        pipe.send(timed(answer, prompts))
    pipe.send(_peak_mb())


def _peak_mb() -> float:
    """The most memory that this process held, in 10^6 bytes.

    `getrusage` would count what the parent held when it started this process.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def wait_for_quiet(patience_seconds: float) -> None:
    """Waits until the machine has been idle for two seconds, but no longer than that."""
    give_up = time.monotonic() + patience_seconds
    while time.monotonic() < give_up:
        before = _busy_seconds()
        time.sleep(2)
        if _busy_seconds() - before < 0.2:
            return


def _busy_seconds() -> float:
    """Core seconds that all processes of the machine took since it started."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


# Tables.


def spread(values: Iterable[float], digits: int = 1) -> str:
    """The median, with the lowest and the highest value.

    >>> spread([3.0, 1.0, 2.0])
    '2.0 (1.0-3.0)'
    """
    known = sorted(values)
    median = statistics.median(known)
    return f"{median:,.{digits}f} ({known[0]:,.{digits}f}-{known[-1]:,.{digits}f})"


def ratios(work: Sequence[Work], base: Sequence[Work], digits: int = 1) -> str:
    """Renders the ratios of judgments per minute, round by round."""
    pairs = zip(work, base, strict=True)
    return spread([its.per_minute / other.per_minute for its, other in pairs], digits)
