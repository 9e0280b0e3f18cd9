"""Cases to requests: what is asked, in which orders, under which key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from autoj.backends.base import Backend
from autoj.errors import ConfigError
from autoj.protocols import digest_prompts, load_protocol
from autoj.protocols.base import JudgeProtocol, RequestBody, Subject
from autoj.records import (
    Asked,
    Calibration,
    Case,
    Decoding,
    Failure,
    JudgeCard,
    Request,
    Verdict,
)
from autoj.runs.fit import Fitted, OnOverflow, Overflow, fit
from autoj.verdicts import OnConflict

__all__ = [
    "Planned",
    "RunSpec",
    "Task",
    "answer_options",
    "make_spec",
    "plan_case",
    "plan_follow",
    "request_key",
]

Task = Literal["judge", "rate", "compare"]
Orders = Literal["both", "one", "shuffled"]
_BOTH_ORDERS = ((0, 1), (1, 0))
# How a reward model is fed and read (`backends/scalar`); an address or a file's place is not here.
_ANSWER_OPTIONS = ("input", "label", "precision", "template")
_SUBJECTS: dict[Task, Subject] = {"judge": "pair", "rate": "response", "compare": "critiques"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """All settings that decide what a run asks and what its verdicts are."""

    task: Task
    """"judge" compares two responses, "rate" rates each response, "compare" compares two
    critiques of one response."""
    judge: JudgeCard
    protocol: str
    decoding: Decoding
    orders: Orders = "both"
    """"shuffled" asks each pair in one order, drawn by `seed` and the case's id."""
    on_conflict: OnConflict | None = None
    critique: bool = False
    """Whether a verdict-only protocol is followed by a critique."""
    on_overflow: OnOverflow = "error"
    reject_empty: bool = False
    skip_bad_rows: bool = False
    limit: int | None = None
    """The most cases that are judged."""
    seed: int | None = None
    """What the orders of `shuffled` follow from."""
    sample: int | None = None
    """Which of several draws of the same questions this is; None is the first."""

    @property
    def paired(self) -> bool:
        """Whether a verdict is on two things, and not on each by itself."""
        return self.task != "rate"

    @property
    def has_orders(self) -> bool:
        """Whether a page shows two things, so that one of them stands first."""
        return self.paired and not load_protocol(self.protocol).reads_alone

    @property
    def calibration(self) -> Calibration | None:
        """How preferences become probabilities; None where the card has none for the protocol."""
        return self.judge.calibration.get(self.protocol) if self.paired else None


def make_spec(
    task: Task,
    card: JudgeCard,
    *,
    protocol: str | None = None,
    critique: bool | None = None,
    max_tokens: int | None = None,
    orders: Orders = "both",
    on_conflict: OnConflict | None = None,
    on_overflow: OnOverflow = "error",
    reject_empty: bool = False,
    skip_bad_rows: bool = False,
    limit: int | None = None,
    seed: int | None = None,
    sample: int | None = None,
) -> RunSpec:
    """A spec with the card's defaults where nothing is said.

    Args:
        task: what is done.
        card: by which judge.
        protocol: None takes the first of the card's that fits the task.
        critique: None follows the card where the protocol is its default, else writes none.
        max_tokens: the most tokens of a completion; None takes the card's.
        orders: whether a pair is asked in both orders, in the case's own, or in one by lot.
        on_conflict: what decides where both orders disagree; None as in `verdicts.resolve`.
        on_overflow: what happens to a case that is too long for the judge's context.
        reject_empty: whether an empty response is a bad row.
        skip_bad_rows: whether a run goes on without rows that cannot be read.
        limit: the most cases that are judged; None judges all.
        seed: what the orders of `shuffled` follow from; None is 0 there.
        sample: which of several draws of the same questions this is.

    Raises:
        UnknownComponent: there is no such protocol.
        ConfigError: the protocol does not do this task, the settings contradict each other, or the
            judge was trained on other prompts.
    """
    wanted = _SUBJECTS[task]
    chosen = load_protocol(protocol) if protocol else _default_protocol(card, wanted)
    if chosen.subject != wanted:
        raise ConfigError(
            f"protocol {chosen.name!r} judges a {chosen.subject}, and autoj {task} needs one that "
            f"judges a {wanted}"
        )
    _check_lock(card, chosen)
    if chosen.reads_alone and (orders != "both" or on_conflict is not None):
        flag = f"--orders {orders}" if orders != "both" else f"--on-conflict {on_conflict}"
        raise ConfigError(
            f"{flag} makes no sense with protocol {chosen.name!r}: each response is read alone, so "
            "there are no orders and no conflict of two"
        )
    if on_conflict == "probability" and not chosen.gives_probabilities:
        raise ConfigError(
            f"--on-conflict probability needs probabilities, and protocol {chosen.name!r} gives "
            "none; use tie or unresolved, or a verdict-only protocol"
        )
    decoding = card.decoding
    if max_tokens is not None:
        decoding = replace(decoding, max_tokens=max_tokens)
    return RunSpec(
        task=task,
        judge=card,
        protocol=chosen.name,
        decoding=decoding,
        orders=orders,
        on_conflict=on_conflict,
        critique=(card.critique and protocol is None) if critique is None else critique,
        on_overflow=on_overflow,
        reject_empty=reject_empty,
        skip_bad_rows=skip_bad_rows,
        limit=limit,
        seed=(seed or 0) if orders == "shuffled" else seed,
        sample=sample,
    )


def _check_lock(card: JudgeCard, chosen: JudgeProtocol) -> None:
    """Refuse to ask a trained judge what it was not trained on."""
    if card.prompts_sha256 is None:
        return
    if chosen.name not in card.protocols:
        raise ConfigError(
            f"judge {card.name!r} was trained on {', '.join(card.protocols)}, and not on protocol "
            f"{chosen.name!r}"
        )
    known = [load_protocol(name) for name in card.protocols]
    if digest_prompts(card.wrapper, known) != card.prompts_sha256:
        raise ConfigError(
            f"judge {card.name!r} was trained on other prompts than this version of autoj builds "
            f"with wrapper {card.wrapper!r} and protocols {', '.join(card.protocols)}",
            hint="Train it again, or judge with the version of autoj that trained it. If the card "
            "was edited, undo that.",
        )


def _default_protocol(card: JudgeCard, subject: str) -> JudgeProtocol:
    for name in card.protocols:
        protocol = load_protocol(name)
        if protocol.subject == subject:
            return protocol
    raise ConfigError(
        f"judge {card.name!r} names no protocol that judges a {subject}; choose one with --protocol"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One question about a case: a request to send, or why it cannot be sent."""

    asked: Asked
    request: Request | None
    failure: Failure | None = None


def plan_case(case: Case, spec: RunSpec, backend: Backend) -> list[Planned]:
    """All that is asked about a case at first: each order of a pair, or each response alone."""
    protocol = load_protocol(spec.protocol)
    if spec.has_orders:
        return _plan(case, spec, backend, _orders(case, spec), protocol.build)
    # Each response is fitted alone: a long one must not cost another its middle.
    pages = [((index,),) for index in range(len(case.responses))]
    return [
        planned for page in pages for planned in _plan(case, spec, backend, page, protocol.build)
    ]


def _orders(case: Case, spec: RunSpec) -> tuple[tuple[int, int], ...]:
    if spec.orders == "both":
        return _BOTH_ORDERS
    if spec.orders == "one":
        return _BOTH_ORDERS[:1]
    drawn = hashlib.sha256(f"{spec.seed} {case.id}".encode()).digest()[0] % 2
    return (_BOTH_ORDERS[drawn],)


def plan_follow(case: Case, verdict: Verdict, spec: RunSpec, backend: Backend) -> list[Planned]:
    """The critiques that are asked for once the verdict is known; empty where there is none."""
    protocol = load_protocol(spec.protocol)

    def build(fitted: Case, shown: tuple[int, ...]) -> RequestBody:
        body = protocol.follow(fitted, verdict, shown)
        assert body is not None
        return body

    pages: list[tuple[int, ...]] = (
        [(0, 1)] if spec.paired else [(index,) for index in range(len(verdict.ratings))]
    )
    return [
        planned
        for page in pages
        if protocol.follow(case, verdict, page) is not None
        for planned in _plan(case, spec, backend, (page,), build)
    ]


def _plan(
    case: Case,
    spec: RunSpec,
    backend: Backend,
    pages: tuple[tuple[int, ...], ...],
    build: Callable[[Case, tuple[int, ...]], RequestBody],
) -> list[Planned]:
    sample = spec.sample or 0
    fitted = fit(
        case,
        lambda cut: [build(cut, page) for page in pages],
        backend,
        spec.decoding,
        spec.on_overflow,
    )
    planned: list[Planned] = []
    for page, body in zip(pages, fitted.bodies, strict=True):
        asked = Asked(
            case_id=case.id,
            judge=spec.judge.name,
            protocol=spec.protocol,
            shown=page,
            sample=sample,
            scored=body.choices is not None,
            truncated=isinstance(fitted, Fitted) and fitted.truncated,
            key=request_key(spec.judge, body, spec.decoding, sample),
        )
        if isinstance(fitted, Overflow):
            failure = Failure(
                key=asked.key,
                error="ContextOverflow",
                message=fitted.message,
                retryable=False,
                attempts=1,
            )
            planned.append(Planned(asked=asked, request=None, failure=failure))
        else:
            planned.append(Planned(asked=asked, request=_request(asked, body, spec)))
    return planned


def _request(asked: Asked, body: RequestBody, spec: RunSpec) -> Request:
    return Request(
        key=asked.key,
        judge=asked.judge,
        case_id=asked.case_id,
        protocol=asked.protocol,
        shown=asked.shown,
        sample=asked.sample,
        messages=body.messages,
        prefix=body.prefix,
        choices=body.choices,
        stop=body.stop,
        decoding=spec.decoding,
        truncated=asked.truncated,
    )


def answer_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a card's options that change an answer, and not only where it comes from."""
    return {name: options[name] for name in _ANSWER_OPTIONS if name in options}


def request_key(card: JudgeCard, body: RequestBody, decoding: Decoding, sample: int) -> str:
    """The sha256 (hex) of all that changes the text of an answer, and of nothing else.

    The engine, the model, its revision and adapter and the wrapper are in it; the case's id, the
    card's name and anything about speed are not, so that equal texts are asked once. Of its options
    those are in it that change an answer (`answer_options`).
    """
    engine: tuple[Any, ...] = (
        card.backend, card.model, card.revision, card.adapter_revision or card.adapter,
        card.wrapper,
    )  # fmt: skip
    if options := answer_options(card.options):
        engine = (*engine, options)
    # A score of given choices draws nothing, so decoding cannot change it.
    drawn = decoding if body.choices is None else None
    content = (engine, body, drawn, sample)
    return hashlib.sha256(orjson.dumps(content)).hexdigest()
