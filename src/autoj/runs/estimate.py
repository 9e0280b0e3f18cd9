"""The size of a run before it is asked: requests, tokens, dollars, and the time they may take."""

import random
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from statistics import fmean

from autoj.backends.base import Reader
from autoj.chat import render
from autoj.jsonl import decode_as, whole_lines
from autoj.records import Case, Completion, JudgeCard, Request
from autoj.runs.budget import price_usd
from autoj.runs.files import LEDGER
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import LedgerReader
from autoj.runs.naming import name_scenarios
from autoj.runs.plan import n_asked, plan_case
from autoj.runs.reuse import Reuse
from autoj.runs.spec import RunSpec

_MOST_PLANNED = 1000
"""Cases whose requests are built; of a larger data set, as many are drawn."""
_N_COUNTED = 200
"""Prompts whose tokens are counted, spread over those that are left."""
_N_TYPICAL = 2000
"""Answers of the run whose lengths are averaged."""
_CHOICE_TOKENS = (1, 2, 16)
"""Tokens at least, mostly and at most that a server writes where choices are scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """An amount that is known within bounds."""

    least: float
    about: float | None
    """The likeliest amount; None where nothing says how long answers are."""
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEstimate:
    """The size of one judge's run, as far as it is not asked yet."""

    judge: str
    protocol: str
    n_cases: int
    n_requests: int
    """Requests of the whole run, critiques after verdicts included."""
    n_answered: int
    """Of these, those whose answers the run has."""
    n_reused: int
    """Of these, those whose answers earlier runs have."""
    n_left: int
    """Requests to send; cases that are too long for the judge are not sent."""
    n_too_long: int
    prompt_tokens: int
    """Tokens of the prompts that are left."""
    completion_tokens: Range
    """Tokens of the answers that are left."""
    usd: Range | None
    """None where the judge's card states no prices."""
    is_exact: bool
    """True where every request was built and compared; else the counts are projected from a
    random 1,000 cases."""
    is_most: bool = False
    """True where fewer requests may do: what is asked only where an answer is unsure counts as
    if it were asked everywhere."""
    seconds: float | None = None
    """None where nothing is left, or nothing says how fast the judge is."""
    timed_by: str | None = None
    """The origin of `seconds`."""


@dataclass(slots=True, kw_only=True)
class _Counted:
    """The requests of the cases that were planned."""

    n_requests: int = 0
    n_answered: int = 0
    n_reused: int = 0
    n_too_long: int = 0
    scored: bool = False
    """True where choices are scored, and no text is written."""
    left: list[Request] = field(default_factory=list)


def estimate_run(
    cases: Iterable[Case],
    spec: RunSpec,
    reader: Reader,
    *,
    folder: Path | None = None,
    reuse: Reuse | None = None,
) -> RunEstimate:
    """Counts the requests of a run and estimates their tokens and their price; sends nothing.

    Args:
        cases: those of the run (`intake.taken_cases`), read once.
        spec: the settings.
        reader: counts tokens.
        folder: the run's folder, where it was started; its answers are not asked again.
        reuse: the answers of earlier runs; None where they are not used.
    """
    drawn, n_cases, n_asked_first = _draw(cases, spec)
    counted, n_critiques_answered = _Counted(), 0
    typical = None if reuse is None else reuse.typical_tokens()
    with ExitStack() as opened:
        known = None if folder is None else opened.enter_context(closing(LedgerReader(folder)))
        _count(counted, name_scenarios(drawn, spec), spec, reader, known, reuse)
        if folder is not None and known is not None:
            typical = _typical_tokens(folder) or typical
            n_critiques_answered = _n_critiques_answered(folder, known)
    whole = n_asked_first / max(sum(n_asked(case, spec) for case in drawn), 1)
    n_left = round(whole * len(counted.left))
    n_critiques = n_critiques_left = 0
    if spec.critique and counted.scored:
        n_critiques = n_cases if spec.paired else n_asked_first
        n_critiques_left = max(n_critiques - n_critiques_answered, 0)
    prompt = _mean_tokens(counted.left, reader) * (n_left + n_critiques_left)
    n_scored, n_written = (n_left, n_critiques_left) if counted.scored else (0, n_left)
    # An engine of this machine scores choices and writes none.
    choice_tokens = _CHOICE_TOKENS if hasattr(reader, "address") else (0, 0, 0)
    written = _answer_tokens(n_scored, choice_tokens, n_written, spec.decoding.max_tokens, typical)
    return RunEstimate(
        judge=spec.judge.name,
        protocol=spec.protocol,
        n_cases=n_cases,
        n_requests=round(whole * counted.n_requests) + n_critiques,
        n_answered=round(whole * counted.n_answered) + min(n_critiques_answered, n_critiques),
        n_reused=round(whole * counted.n_reused),
        n_left=n_left + n_critiques_left,
        n_too_long=round(whole * counted.n_too_long),
        prompt_tokens=round(prompt),
        completion_tokens=written,
        usd=_price(spec.priced_judge, prompt, written, counted.scored, reader),
        is_exact=len(drawn) == n_cases,
        is_most=spec.second_order is not None,
    )


def answered(found: RunEstimate, n_answered: int) -> RunEstimate:
    """An estimate without requests that were answered, which ones is not known.

    Args:
        found: the estimate of all requests.
        n_answered: the number of answers.
    """
    n_answered = min(n_answered, found.n_left)
    share = 1 - n_answered / max(found.n_left, 1)
    return replace(
        found,
        n_answered=n_answered,
        n_left=found.n_left - n_answered,
        prompt_tokens=round(share * found.prompt_tokens),
        completion_tokens=_scaled(found.completion_tokens, share),
        usd=None if found.usd is None else _scaled(found.usd, share),
    )


def _scaled(amount: Range, share: float) -> Range:
    about = None if amount.about is None else share * amount.about
    return Range(least=share * amount.least, about=about, most=share * amount.most)


def _draw(cases: Iterable[Case], spec: RunSpec) -> tuple[list[Case], int, int]:
    """Cases drawn at random, in order; the number of all, and of their first requests."""
    chance = random.Random(0)
    drawn: list[tuple[int, Case]] = []
    n_cases = n_requests = 0
    for case in cases:
        n_requests += n_asked(case, spec)
        if n_cases < _MOST_PLANNED:
            drawn.append((n_cases, case))
        elif (place := chance.randrange(n_cases + 1)) < _MOST_PLANNED:
            drawn[place] = (n_cases, case)
        n_cases += 1
    return [case for _, case in sorted(drawn, key=lambda item: item[0])], n_cases, n_requests


def _count(
    counted: _Counted,
    cases: Iterable[Case],
    spec: RunSpec,
    reader: Reader,
    known: LedgerReader | None,
    reuse: Reuse | None,
) -> None:
    seen: set[str] = set()
    for item in (item for case in cases for item in plan_case(case, spec, reader)):
        key = item.asked.key
        if key in seen:
            continue
        seen.add(key)
        counted.n_requests += 1
        counted.scored |= item.asked.scored
        if item.request is None:
            counted.n_too_long += 1
        elif known is not None and known.holds(key):
            counted.n_answered += 1
        elif reuse is not None and reuse.find(key) is not None:
            counted.n_reused += 1
        else:
            counted.left.append(item.request)


def _mean_tokens(requests: Sequence[Request], reader: Reader) -> float:
    """The mean length of prompts; 0 where there are none."""
    spread = requests[:: max(1, len(requests) // _N_COUNTED)]
    template = getattr(reader, "template", None)
    wrapper = reader.card.wrapper
    counts = [
        reader.count_tokens(render(request.messages, wrapper, request.prefix, template))
        for request in spread
    ]
    return fmean(counts) if counts else 0.0


def _typical_tokens(folder: Path) -> float | None:
    """The mean length of the texts that a run's judge wrote; None where it wrote none."""
    answers = (
        decode_as(Completion, line) for line in islice(whole_lines(folder / LEDGER), _N_TYPICAL)
    )
    written = [answer.completion_tokens for answer in answers if answer.choice_logprobs is None]
    return fmean(written) if written else None


def _n_critiques_answered(folder: Path, known: LedgerReader) -> int:
    return sum(known.holds(row.key) for row in RunFolder(folder).follow())


def _answer_tokens(
    n_scored: int,
    choice_tokens: tuple[int, int, int],
    n_written: int,
    most: int,
    typical: float | None,
) -> Range:
    least, about, longest = choice_tokens
    if n_written == 0:
        guess: float | None = about * n_scored
    else:
        guess = None if typical is None else about * n_scored + typical * n_written
    return Range(least=least * n_scored, about=guess, most=longest * n_scored + most * n_written)


def _price(
    card: JudgeCard, n_prompt: float, written: Range, scored: bool, reader: Reader
) -> Range | None:
    least = price_usd(card, round(n_prompt), round(written.least))
    if least is None:
        return None
    n_readings = reader.limits.readings_per_score if scored else 1
    about = None
    if written.about is not None:
        about = price_usd(card, round(n_prompt), round(written.about))
    most = price_usd(card, round(n_prompt * n_readings), round(written.most))
    assert most is not None
    return Range(least=least, about=about, most=most)
