"""Plans the requests of a case: the questions, their orders and their keys."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import orjson

from autoj.backends.base import Reader
from autoj.protocols.base import (
    ComparedBody,
    JudgeProtocol,
    OpenedBody,
    ProofreadBody,
    RequestBody,
)
from autoj.records import Asked, Case, Decoding, Failure, JudgeCard, Request, Verdict, Winner
from autoj.runs.fit import Fitted, Overflow, Page, check_context, fit, fit_query, may_be_cut
from autoj.runs.proofreading import with_proofreading
from autoj.runs.spec import RunSpec

_BOTH_ORDERS = ((0, 1), (1, 0))
# Settings of a reward model's input and output (`backends/scalar`), not of its address or path.
_ANSWER_OPTIONS = (
    "extra_body",
    "input",
    "label",
    "omit",
    "precision",
    "repetition_penalty",
    "scoring",
    "template",
    "tokenize",
    "top_logprobs",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One question about a case: a request to send, or the reason it cannot be sent."""

    asked: Asked
    request: Request | None
    failure: Failure | None = None


def check_room(case: Case, spec: RunSpec, backend: Reader) -> None:
    """Checks that the judge's context has room for a page at all (`fit.check_context`).

    Where a page has the criteria of a case's scenario, another case's may be shorter: then nothing
    is checked, and each case that is too long fails by itself.

    Args:
        case: any of the cases.
        spec: the settings.
        backend: counts the judge's tokens; every backend does.

    Raises:
        ConfigError: it has no room, so no case would fit.
    """
    if spec.needs_scenario:
        return
    pages, build = _pages(case, spec)[0], spec.chosen_protocol().build
    check_context(case, pages, build, backend, spec.decoding)


def plan_case(case: Case, spec: RunSpec, backend: Reader) -> list[Planned]:
    """Plans the first questions about a case: each order of a pair, or each response alone.

    With several samples per question, the samples of a question are adjacent.
    """
    build = spec.chosen_protocol().build
    planned: list[Planned] = []
    for pages in _pages(case, spec):
        if spec.task == "classify":
            fitted = fit_query(case, pages, build, backend, spec.decoding)
        else:
            fitted = fit(case, pages, build, backend, spec.decoding, spec.on_overflow)
        planned += _questions(case, spec, backend.card, pages, fitted, spec.draws)
    return planned


def n_asked(case: Case, spec: RunSpec) -> int:
    """The number of questions that `plan_case` gives for a case: the most that are asked."""
    return spec.n_draws * sum(map(len, _pages(case, spec)))


def asked_about(case: Case, spec: RunSpec) -> list[tuple[Page, int]]:
    """The page and the sample of each question that `plan_case` gives for a case, in order."""
    return [each for pages in _pages(case, spec) for each in product(pages, spec.draws)]


def _pages(case: Case, spec: RunSpec) -> list[tuple[tuple[int, ...], ...]]:
    """The responses on each page about a case; pages that must show the same texts are grouped."""
    if spec.has_orders:
        return [_orders(case, spec)]
    if spec.task == "classify":
        return [((),)]
    # Each response is fitted alone: a long one must not shorten another.
    return [((index,),) for index in range(len(case.responses))]


def _orders(case: Case, spec: RunSpec) -> tuple[tuple[int, int], ...]:
    if spec.orders == "both":
        return _BOTH_ORDERS
    if spec.orders == "one":
        return _BOTH_ORDERS[:1]
    drawn = hashlib.sha256(f"{spec.seed} {case.id}".encode()).digest()[0] % 2
    return (_BOTH_ORDERS[drawn],)


def rows_of(case: Case, spec: RunSpec, card: JudgeCard) -> list[Asked] | None:
    """The rows of a case's first questions, without an engine that counts tokens.

    Args:
        case: the case.
        spec: the settings.
        card: the judge with its engine's chat template, as `backend.card`.

    Returns:
        None where a text may have been cut to fit, so that only the engine can tell.
    """
    if spec.on_overflow == "truncate" or (spec.task == "classify" and may_be_cut(case.query)):
        return None
    build = spec.chosen_protocol().build
    return [
        _asked(case, page, sample, build(case, page), spec, card)
        for page, sample in asked_about(case, spec)
    ]


def follow_rows_of(
    case: Case, verdict: Verdict, spec: RunSpec, card: JudgeCard
) -> list[Asked] | None:
    """The rows of the critiques for a known verdict; else like `rows_of`."""
    if spec.on_overflow == "truncate":
        return None
    rows = []
    for page in follow_pages(case, verdict, spec):
        body = _critique_body(case, case, verdict, page, spec)
        rows.append(_asked(case, page, spec.draws[0], body, spec, card))
    return rows


def _asked(
    case: Case, page: Page, sample: int, body: RequestBody, spec: RunSpec, card: JudgeCard
) -> Asked:
    return Asked(
        case_id=case.id,
        judge=spec.judge.name,
        protocol=spec.protocol,
        shown=page,
        sample=sample,
        scored=body.choices is not None,
        truncated=False,
        key=request_key(card, body, spec.decoding, sample),
    )


def plan_follow(case: Case, verdict: Verdict, spec: RunSpec, backend: Reader) -> list[Planned]:
    """Plans the critiques for a known verdict; empty where there is none."""

    def build(fitted: Case, shown: tuple[int, ...]) -> RequestBody:
        return _critique_body(fitted, case, verdict, shown, spec)

    planned: list[Planned] = []
    for page in follow_pages(case, verdict, spec):
        fitted = fit(case, (page,), build, backend, spec.decoding, spec.on_overflow)
        planned += _questions(case, spec, backend.card, (page,), fitted, spec.draws[:1])
    return planned


def _critique_body(
    case: Case, whole: Case, verdict: Verdict, page: Page, spec: RunSpec
) -> RequestBody:
    body = spec.chosen_protocol().follow(case, verdict, page)
    assert body is not None
    return with_proofreading(body, case, whole, page, spec)


def follow_pages(case: Case, verdict: Verdict, spec: RunSpec) -> list[tuple[int, ...]]:
    """The responses on the pages that critiques for a known verdict are asked on."""
    protocol = spec.plain_protocol
    pages: list[tuple[int, ...]]
    if spec.paired:
        pages = [critique_page(protocol, verdict.winner)]
    else:
        pages = [(index,) for index in range(len(verdict.ratings))]
    return [page for page in pages if protocol.follow(case, verdict, page) is not None]


def critique_page(protocol: JudgeProtocol, winner: Winner | None) -> tuple[int, int]:
    """The page order of a pair whose critique is written for a known verdict.

    A verdict on responses that were rated alone has no order. A small judge praises the second of
    two on a page, so the winner is the second. Training shows them so, too.
    """
    return (1, 0) if protocol.reads_alone and winner == "a" else (0, 1)


def _questions(
    case: Case,
    spec: RunSpec,
    card: JudgeCard,
    pages: Sequence[Page],
    fitted: Fitted | Overflow,
    draws: Sequence[int],
) -> list[Planned]:
    """The questions on some pages, or the failure of each where the pages do not fit.

    Args:
        case: the case.
        spec: the settings.
        card: the engine's own, which knows the chat template of its tokenizer.
        pages: the responses that each page shows.
        fitted: the requests for these pages.
        draws: the samples of each question.
    """
    planned: list[Planned] = []
    bodies = zip(pages, fitted.bodies, strict=True)
    for (page, body), sample in product(bodies, draws):
        asked = _asked(case, page, sample, body, spec, card)
        if isinstance(fitted, Fitted) and fitted.truncated:
            asked = replace(asked, truncated=True)
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
        proofreading=body.proofreading if isinstance(body, ProofreadBody) else None,
        check=body.check if isinstance(body, ComparedBody) else None,
        opening=body.opening if isinstance(body, OpenedBody) else "",
    )


def answer_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a card that affect an answer, and not only the place it comes from."""
    return {name: options[name] for name in _ANSWER_OPTIONS if name in options}


def request_key(card: JudgeCard, body: RequestBody, decoding: Decoding, sample: int) -> str:
    """The sha256 (hex) of everything that affects an answer's text, and of nothing else.

    The engine, the model, its revision and adapter and the wrapper are part of it; the case's id,
    the card's name and anything about speed are not, so that equal texts are asked once. Of the
    card's options, those are part of it that affect an answer (`answer_options`).
    """
    engine: tuple[Any, ...] = (
        card.backend, card.model, card.revision, card.adapter_revision or card.adapter,
        card.wrapper,
    )  # fmt: skip
    if options := answer_options(card.options):
        engine = (*engine, options)
    if template := card.options.get("template_sha256"):
        engine = (*engine, template)
    # Scoring given choices samples nothing, so decoding settings cannot change it.
    drawn = decoding if body.choices is None else None
    content = (engine, body, drawn, sample)
    return hashlib.sha256(orjson.dumps(content)).hexdigest()
