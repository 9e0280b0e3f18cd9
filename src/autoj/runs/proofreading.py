"""Critiques of responses that a judge proofreads first: asked for, and kept as far as trusted."""

from dataclasses import fields, replace
from hashlib import sha256

from autoj.corrections import Thresholds, read_thresholds
from autoj.errors import ConfigError
from autoj.mistakes import mistake_by_rules
from autoj.protocols import load_shipped
from autoj.protocols.base import ComparedBody, OpenedBody, ProofreadBody, RequestBody
from autoj.protocols.single import RATINGS
from autoj.records import (
    Case,
    CorrectionCheck,
    Critique,
    JudgeCard,
    Message,
    Proofreading,
    Reading,
    Response,
    Verdict,
)
from autoj.runs.fit import Page
from autoj.runs.spec import RunSpec
from autoj.verdicts.unfounded_claims import without_unfounded_claims

_COMPARES = "pairwise-verdict"
"""The protocol by which a response is compared with a correction of it."""


def with_proofreading(
    body: RequestBody, case: Case, whole: Case, page: Page, spec: RunSpec
) -> RequestBody:
    """The request for a critique, which states what to proofread where the judge's card says so.

    Responses that are rated alone in English are: a critique of a pair is about both. Where rules
    find a mistake, the critique begins with it, and nothing is left to look for.

    Args:
        body: the request without it.
        case: the case, as it is shown.
        whole: the case before it was cut to fit; in a text that was cut nothing can be counted.
        page: the responses that the critique is about.
        spec: the settings; the card's `options.proofread` has the least `surprise` and `evidence`,
            and maybe log-odds with which a correction is `preferred`.

    Raises:
        ConfigError: the option holds no such thresholds.
    """
    thresholds = _thresholds_of(spec)
    if thresholds is None:
        return body
    protocol = spec.chosen_protocol()
    (index,) = page
    response = case.responses[index].text
    # Another text in its place says where it stands: it may stand in the query, too.
    mark = sha256(f"{case.query}{response}".encode()).hexdigest()
    responses = list(case.responses)
    responses[index] = replace(responses[index], text=mark)
    asked = protocol.build(case, page)
    if asked.choices is None or len(asked.choices) != len(RATINGS):
        return body
    same = {each.name: getattr(body, each.name) for each in fields(body)}
    is_whole = (case.query, response) == (whole.query, whole.responses[index].text)
    if is_whole and (found := mistake_by_rules(case.query, response)) is not None:
        return OpenedBody(**same, opening=found)
    marked = protocol.build(replace(case, responses=tuple(responses)), page).messages
    number = next(at for at, message in enumerate(marked) if mark in message.content)
    same["proofreading"] = Proofreading(
        conversation=(*case.history, Message(role="user", content=case.query)),
        response=response,
        rating=asked.messages,
        place=(number, marked[number].content.index(mark)),
        prefix=asked.prefix,
        choices=asked.choices,
        values=tuple(map(float, RATINGS)),
        surprise=thresholds.surprise,
        evidence=thresholds.evidence,
    )
    if thresholds.preferred is None:
        return ProofreadBody(**same)
    return ComparedBody(**same, check=_correction_check(case, mark, thresholds.preferred))


def _correction_check(case: Case, mark: str, preferred: float) -> CorrectionCheck:
    """The question by which a judge compares a response with a correction of it."""
    marks = mark, sha256(mark.encode()).hexdigest()
    pair = replace(case, responses=tuple(Response(text=each) for each in marks))
    asked = load_shipped(_COMPARES).build(pair, (0, 1))
    assert asked.choices is not None
    return CorrectionCheck(
        messages=asked.messages,
        marks=marks,
        prefix=asked.prefix,
        choices=asked.choices,
        preferred=preferred,
    )


def as_trusted(reading: Reading, verdict: Verdict, page: Page, spec: RunSpec) -> Reading:
    """A critique without the claims of an error that its judge is not trusted with.

    Args:
        reading: the critique as it was written; any other reading stays as it is.
        verdict: the verdict that it was written for.
        page: the response that it is about.
        spec: the settings of who wrote it (`RunSpec.writing`); the card's `options.proofread` may
            have `trusted_below`, a rating.

    Raises:
        ConfigError: the option holds no such thresholds.
    """
    thresholds = _thresholds_of(spec)
    least = None if thresholds is None else thresholds.trusted_below
    if not isinstance(reading, Critique) or least is None:
        return reading
    (index,) = page
    rating = verdict.ratings[index]
    if rating is None or rating < least:
        return reading
    return replace(reading, text=without_unfounded_claims(reading.text))


def _thresholds_of(spec: RunSpec) -> Thresholds | None:
    """The settings of proofreading; None where a judge does not proofread what it writes about."""
    # Other engines run the same card, and do not proofread.
    is_able = spec.judge.backend == "embedded"
    settings = spec.judge.options.get("proofread") if is_able else None
    protocol = spec.plain_protocol
    if settings is None or protocol.subject != "response" or protocol.language != "en":
        return None
    try:
        return read_thresholds(settings)
    except ValueError as error:
        raise ConfigError(f"judge {spec.judge.name!r}: options.{error}") from None


def as_begun(spec: RunSpec, recorded: RunSpec) -> RunSpec:
    """The settings of a run whose judges proofread as they did when the run was begun, or not.

    Thresholds are part of the keys of critiques alone, and a card may get others: a run that goes
    on keeps the critiques that it has, and shows them as before.

    Args:
        spec: the settings that are asked for.
        recorded: those in the run's folder.
    """
    critic = spec.critic and _as_begun(spec.critic, recorded.writing.judge)
    return replace(spec, judge=_as_begun(spec.judge, recorded.judge), critic=critic)


def _as_begun(card: JudgeCard, recorded: JudgeCard) -> JudgeCard:
    options = {name: value for name, value in card.options.items() if name != "proofread"}
    if "proofread" in recorded.options:
        options["proofread"] = recorded.options["proofread"]
    return replace(card, options=options)
