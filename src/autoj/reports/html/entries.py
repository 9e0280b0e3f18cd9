"""Cases as a page holds them: what was judged, each judge's verdict, and what to filter by."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from autoj.bench.base import group_name
from autoj.records import (
    Asked,
    Case,
    Critique,
    Decision,
    Failure,
    Judgment,
    Label,
    Rating,
    Score,
    Unreadable,
    Verdict,
    Winner,
)
from autoj.reports.html.quotations import ReadCritique, read_critique
from autoj.reports.text import PageText, page_text
from autoj.runs import CaseRecord
from autoj.verdicts.critique_faults import ShownCritique, marked_critiques
from autoj.verdicts.jury import JURY_RULES
from autoj.verdicts.only import KINDS
from autoj.verdicts.own_frame import to_winner
from autoj.verdicts.resolve import RULES

_RULES = {**RULES, **JURY_RULES}
_MOST_RAW = 2_000
"""Characters of an answer that could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageJudgment:
    """One question to a judge, with its outcome in words."""

    page: str
    """The responses that it showed, in their order."""
    reading: str
    probabilities: tuple[float, float, float] | None = None
    """Of a, b and tie, in the case's frame."""
    tokens: str | None = None
    raw: str | None = None
    """The answer, where it could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVerdict:
    """One judge's verdict on a case."""

    winner: Winner | None
    rule: str | None
    winners: tuple[Winner | None, ...]
    probabilities: tuple[float, float, float] | None
    ratings: tuple[float | None, ...]
    scenario: str | None
    critiques: tuple[ReadCritique, ...]
    judgments: tuple[PageJudgment, ...]
    unsure: float | None
    """0 (one outcome is certain) to 1 (the two likeliest are level); None without probabilities."""
    disagreement: float | None
    """0 to 1 between the two orders: the total variation distance of their probabilities, or 1
    where their winners differ; None without two orders."""
    flags: tuple[str, ...]
    """Kinds of cases (`verdicts.only.KINDS`) that it is one of, and "truncated"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCase:
    """A case on the page."""

    id: str
    query: PageText
    responses: tuple[PageText, ...]
    models: tuple[str | None, ...]
    label: str | float | None
    scenario: str | None
    group: str | None
    source: str | None
    verdicts: tuple[PageVerdict | None, ...]
    """One per run; None where a run has not judged it."""
    flags: tuple[str, ...]
    """Those of all its verdicts, and "differ" where two runs name different winners."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseKeys:
    """Keys that a case is filtered and ordered by: all that a page reads of it when it opens."""

    id: str
    winner: Winner | None
    """That of the first run."""
    scenario: str | None
    group: str | None
    flags: tuple[str, ...]
    unsure: float | None
    """The largest of its verdicts, as "disagreement"."""
    disagreement: float | None
    length: int
    """Characters of its longest response."""


def case_keys(case: PageCase) -> CaseKeys:
    """Keys that a case is filtered and ordered by."""
    known = [verdict for verdict in case.verdicts if verdict is not None]
    first = case.verdicts[0]
    return CaseKeys(
        id=case.id,
        winner=None if first is None else first.winner,
        scenario=case.scenario,
        group=case.group,
        flags=case.flags,
        unsure=_largest(verdict.unsure for verdict in known),
        disagreement=_largest(verdict.disagreement for verdict in known),
        length=max((len(each.text) + each.n_cut for each in case.responses), default=0),
    )


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def page_case(case: Case, verdicts: Sequence[PageVerdict | None]) -> PageCase:
    """A case with the verdicts of all runs.

    Args:
        case: it.
        verdicts: one per run.
    """
    known = [verdict for verdict in verdicts if verdict is not None]
    flags = dict.fromkeys(flag for verdict in known for flag in verdict.flags)
    if len({verdict.winner for verdict in known}) > 1:
        flags["differ"] = None
    return PageCase(
        id=page_text(case.id).text,
        query=page_text(case.query),
        responses=tuple(page_text(response.text) for response in case.responses),
        models=tuple(
            None if response.model is None else page_text(response.model).text
            for response in case.responses
        ),
        label=case.label,
        scenario=None if case.scenario is None else page_text(case.scenario).text,
        group=group_name(case.scenario),
        source=None if case.source is None else page_text(case.source).text,
        verdicts=tuple(verdicts),
        flags=tuple(flags),
    )


def _read(critique: ShownCritique, responses: Sequence[str]) -> ReadCritique:
    """A critique in parts, with the reason of what is cut and wrong quotations at its end."""
    found = read_critique(page_text(critique.text).text, responses)
    if critique.mark is None:
        return found
    mark = page_text(critique.mark).text
    return replace(found, closing=f"{found.closing} [{mark}]".strip())


def page_verdict(record: CaseRecord) -> PageVerdict | None:
    """The verdict of a case's record; None where the case is not judged yet."""
    case, verdict = record.case, record.verdict
    if verdict is None:
        return None
    responses = [page_text(response.text).text for response in case.responses]
    return PageVerdict(
        winner=verdict.winner,
        rule=None if verdict.rule is None else _RULES.get(verdict.rule, verdict.rule),
        winners=verdict.winners,
        probabilities=_rounded(verdict.probabilities),
        ratings=tuple(None if each is None else round(each, 2) for each in verdict.ratings),
        scenario=verdict.scenario,
        critiques=tuple(
            _read(critique, responses)
            for critique in marked_critiques(case, verdict)
            if critique is not None
        ),
        judgments=tuple(
            _judgment(asked, outcome, record.paired) for asked, outcome in record.judgments
        ),
        unsure=_unsure(verdict),
        disagreement=_disagreement(record),
        flags=_flags(case, verdict),
    )


def _flags(case: Case, verdict: Verdict) -> tuple[str, ...]:
    found = [name for name, kind in KINDS.items() if kind.holds(case, verdict)]
    return (*found, "truncated") if verdict.n_truncated else tuple(found)


def _unsure(verdict: Verdict) -> float | None:
    if verdict.probabilities is None:
        return None
    second, first = sorted(verdict.probabilities)[-2:]
    return round(1 - (first - second), 4)


def _disagreement(record: CaseRecord) -> float | None:
    verdict = record.verdict
    if verdict is None or len(verdict.winners) != 2 or None in verdict.winners:
        return None
    shares = [
        _in_case_frame(outcome.reading.probabilities, asked.shown)
        for asked, outcome in record.judgments
        if isinstance(outcome, Judgment)
        and isinstance(outcome.reading, Decision)
        and outcome.reading.probabilities is not None
    ]
    if len(shares) == 2:
        one, other = shares
        return round(sum(abs(a - b) for a, b in zip(one, other, strict=True)) / 2, 4)
    return float(verdict.winners[0] != verdict.winners[1])


def _in_case_frame(
    probabilities: tuple[float, float, float], shown: tuple[int, ...]
) -> tuple[float, float, float]:
    first, second, tie = probabilities
    return (first, second, tie) if shown == (0, 1) else (second, first, tie)


def _rounded(probabilities: tuple[float, float, float] | None) -> tuple[float, float, float] | None:
    if probabilities is None:
        return None
    a, b, tie = probabilities
    return round(a, 4), round(b, 4), round(tie, 4)


def _judgment(asked: Asked, outcome: Judgment | Failure | None, paired: bool) -> PageJudgment:
    page = _page(asked.shown, paired) + (f", sample {asked.sample + 1}" if asked.sample else "")
    if outcome is None:
        return PageJudgment(page=page, reading="no answer yet")
    if isinstance(outcome, Failure):
        return PageJudgment(page=page, reading=f"failed: {page_text(outcome.message).text}")
    completion, reading = outcome.completion, outcome.reading
    tokens = f"{completion.prompt_tokens:,} read, {completion.completion_tokens:,} written"
    if asked.truncated:
        tokens += ", a response was cut to fit"
    says: str
    probabilities = raw = None
    match reading:
        case Decision():
            says = to_winner(reading.shown, asked.shown)
            if reading.probabilities is not None:
                probabilities = _rounded(_in_case_frame(reading.probabilities, asked.shown))
        case Rating():
            says = f"rating {reading.value:.2f}"
        case Score():
            says = f"score {reading.value:.4f}"
        case Label():
            says = f"scenario {page_text(reading.name).text}"
        case Unreadable():
            says = f"unreadable: {page_text(reading.reason).text}"
            raw = page_text(completion.text[:_MOST_RAW]).text
        case Critique():
            says = "critique"
        case _:
            assert_never(reading)
    return PageJudgment(
        page=page, reading=says, probabilities=probabilities, tokens=tokens, raw=raw
    )


def _page(shown: tuple[int, ...], paired: bool) -> str:
    if not shown:
        return "the query"
    if not paired:
        return f"response {shown[0] + 1}"
    return " then ".join("ab"[index] for index in shown) + (" alone" if len(shown) == 1 else "")
