"""Judges cases in memory, without a folder, by the same steps as a run."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from autoj.backends.base import Backend
from autoj.errors import ConfigError
from autoj.records import Asked, Case, Failure, Judgment, Verdict
from autoj.runs.ledger import MemoryLedger
from autoj.runs.loop import ask
from autoj.runs.plan import check_room, plan_case, plan_follow
from autoj.runs.resolving import n_wanted, read_answer, resolve_judgments, with_critiques
from autoj.runs.spec import RunSpec

_CASES_AT_ONCE = 256
"""Number of cases asked about together in memory, so that an engine can batch them."""


def ask_case(case: Case, spec: RunSpec, backend: Backend) -> list[Judgment | Failure]:
    """Asks the questions about one case, in memory.

    Args:
        case: the case to judge.
        spec: the settings.
        backend: runs the judge.

    Raises:
        BackendError: the engine broke down.
        ConfigError: the judge's context is too short for any case.
    """
    (found,) = _ask_in_memory([case], spec, backend, MemoryLedger())
    return found


def judge_case(case: Case, spec: RunSpec, backend: Backend) -> Verdict:
    """Judges one case in memory, by the same steps as a run.

    Args:
        case: the case to judge.
        spec: the settings.
        backend: runs the judge.

    Raises:
        BackendError: the engine broke down.
        ConfigError: the judge's context is too short for any case.
    """
    (verdict,) = _judge_in_memory([case], spec, backend)
    return verdict


def judge_cases(cases: Iterable[Case], spec: RunSpec, backend: Backend) -> Iterator[Verdict]:
    """Judges many cases in memory; yields each verdict, in order, as soon as its batch is done.

    Args:
        cases: read lazily, a batch ahead.
        spec: the settings.
        backend: runs the judge.

    Raises:
        BackendError: the engine broke down.
        ConfigError: the judge's context is too short for any case.
    """
    source = iter(cases)
    while batch := list(islice(source, _CASES_AT_ONCE)):
        yield from _judge_in_memory(batch, spec, backend)


def _ask_in_memory(
    cases: Sequence[Case], spec: RunSpec, backend: Backend, ledger: MemoryLedger
) -> list[list[Judgment | Failure]]:
    check_room(cases[0], spec, backend)
    planned = [plan_case(case, spec, backend) for case in cases]
    readers = [spec.reader(case) for case in cases]
    if spec.second_order is not None:
        ask((its[0] for its in planned), backend, ledger, lambda _: None)
        planned = [
            its[: n_wanted(case, spec, read_answer(case, its[0].asked, ledger, reader))]
            for case, its, reader in zip(cases, planned, readers, strict=True)
        ]
    unasked = (item for its in planned for item in its if ledger.find(item.asked.key) is None)
    ask(unasked, backend, ledger, lambda _: None)
    return [
        [read_answer(case, item.asked, ledger, reader) or _unanswered(item.asked) for item in its]
        for case, its, reader in zip(cases, planned, readers, strict=True)
    ]


def _unanswered(asked: Asked) -> Failure:
    said = "the engine gave no answer"
    return Failure(key=asked.key, error="NoAnswer", message=said, retryable=True, attempts=1)


def _judge_in_memory(cases: Sequence[Case], spec: RunSpec, backend: Backend) -> list[Verdict]:
    if spec.critic is not None:
        raise ConfigError(
            "a critic writes for runs that are kept in a folder, not for single calls",
            hint="Use Judge.run(…, critic=…), or autoj judge --critic.",
        )
    ledger = MemoryLedger()
    judgments = _ask_in_memory(cases, spec, backend, ledger)
    verdicts = [
        resolve_judgments(case, spec, its) for case, its in zip(cases, judgments, strict=True)
    ]
    if not spec.critique:
        return verdicts
    planned = [
        plan_follow(case, verdict, spec, backend)
        for case, verdict in zip(cases, verdicts, strict=True)
    ]
    ask((item for its in planned for item in its), backend, ledger, lambda _: None)
    return [
        with_critiques(case, verdict, [item.asked for item in its], ledger, spec)
        for case, verdict, its in zip(cases, verdicts, planned, strict=True)
    ]
