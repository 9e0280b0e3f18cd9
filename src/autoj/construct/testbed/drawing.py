"""Draws the pairs of a testbed: those of files, and pairs made of queries for what is short."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from autoj.construct.stages import Dropped
from autoj.construct.teacher import drawn_by
from autoj.construct.testbed.folder import DrawnPair
from autoj.construct.testbed.policies import OVERFLOW, Answered, Policy, Question
from autoj.construct.testbed.settings import BuildSettings
from autoj.construct.testbed.sources import SEEDS
from autoj.errors import ConfigError
from autoj.records import Case, Failure, Response

_PER_PAIR = 2
"""Policies that answer a query."""
CUT_OFF = "cut off"
_MOST_CUT, _FEW_CUT = 0.5, 8
"""With a larger share of queries, and more of them, the limit on tokens is too low."""


def shortages(pairs: Iterable[DrawnPair], settings: BuildSettings) -> dict[str, int]:
    """The pairs that each scenario lacks; scenarios that lack none are left out."""
    counts = Counter(pair.case.scenario for pair in pairs)
    lacking = {name: settings.per_scenario - counts[name] for name in settings.scenarios}
    return {name: n for name, n in lacking.items() if n > 0}


def draw(
    cases: Sequence[Case], lacking: Mapping[str, int], settings: BuildSettings
) -> list[DrawnPair]:
    """Draws pairs for the scenarios that lack some: labelled ones first, then the others.

    The draw follows from the seed and the cases' ids, not from their order.
    """
    by_scenario: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_scenario[case.scenario or ""].append(case)

    def turn(case: Case) -> tuple[bool, bytes]:
        return case.label is None, drawn_by(settings.seed, case.id)

    return [
        DrawnPair(case=case, origin="unlabelled" if case.label is None else "labelled")
        for name, n in lacking.items()
        for case in sorted(by_scenario[name], key=turn)[:n]
    ]


def waiting_queries(
    cases: Sequence[Case], lacking: Mapping[str, int], settings: BuildSettings
) -> dict[str, deque[Case]]:
    """The queries of the scenarios that lack pairs, in the order in which they are asked.

    Args:
        cases: queries; those of seed files come after the others.
        lacking: the pairs that each scenario lacks.
        settings: state the seed.
    """
    turns = {case.id: drawn_by(settings.seed, case.id) for case in cases}
    ordered = sorted(cases, key=lambda case: (case.source == SEEDS, turns[case.id]))
    found: dict[str, deque[Case]] = {name: deque() for name in lacking}
    for case in ordered:
        if case.scenario in found:
            found[case.scenario].append(case)
    return found


def top_up(
    waiting: dict[str, deque[Case]],
    lacking: Mapping[str, int],
    policies: Sequence[Policy],
    settings: BuildSettings,
) -> tuple[list[DrawnPair], list[Dropped]]:
    """Makes pairs of queries, in waves, until no scenario lacks any or no query is left.

    A wave asks for as many as are still lacking, so nothing is asked that would not be kept.

    Args:
        waiting: queries by scenario; those that are asked are taken out.
        lacking: the pairs that each scenario lacks.
        policies: two or more; two of them, drawn by the seed, answer each query.
        settings: state the seed.

    Returns:
        The pairs, and the queries of which none could be made.

    Raises:
        Unfinished: a cap was reached.
        BackendError: an engine broke down, or most of its answers failed.
        ConfigError: most answers are cut off.
    """
    made: list[DrawnPair] = []
    dropped: list[Dropped] = []
    left = dict(lacking)
    while wave := [
        queue.popleft()
        for name, queue in waiting.items()
        for _ in range(min(left[name], len(queue)))
    ]:
        for outcome in _answered(wave, policies, settings):
            if isinstance(outcome, Dropped):
                dropped.append(outcome)
            else:
                made.append(DrawnPair(case=outcome, origin="made"))
                left[outcome.scenario or ""] -= 1
        _check_whole(len(made), dropped)
    return made, dropped


def _check_whole(n_made: int, dropped: Sequence[Dropped]) -> None:
    """Ends a build that would spend all its queries on answers that are cut off.

    Raises:
        ConfigError: most are.
    """
    n_cut = sum(item.reason == CUT_OFF for item in dropped)
    if n_cut > max(_FEW_CUT, _MOST_CUT * (n_made + len(dropped))):
        last = next(item for item in reversed(dropped) if item.reason == CUT_OFF)
        raise ConfigError(
            f"{n_cut:,} of {n_made + len(dropped):,} queries got an answer that was cut off; the "
            f"last one: {last.detail}",
            hint="Nothing was dropped. Raise --max-tokens, or the cards' decoding.max_tokens.",
        )


def _answered(
    wave: Sequence[Case], policies: Sequence[Policy], settings: BuildSettings
) -> list[Case | Dropped]:
    """The queries of a wave with two responses each, or with the reason there are none."""
    drawn = {case.id: drawn_policies(case, policies, settings.seed) for case in wave}
    found: dict[tuple[str, str], Answered] = {}
    for policy in policies:
        asked = [case for case in wave if policy in drawn[case.id]]
        if asked:
            answers = policy.answer([Question(case=case) for case in asked], "answer")
            names = [(case.id, policy.card.name) for case in asked]
            found.update(zip(names, answers, strict=True))
    return [
        _pair(case, [(its.card.name, found[case.id, its.card.name]) for its in drawn[case.id]])
        for case in wave
    ]


def drawn_policies(case: Case, policies: Sequence[Policy], seed: int) -> list[Policy]:
    """The two policies that answer a query, in the order of their responses."""
    by_turn = sorted(policies, key=lambda policy: drawn_by(seed, f"{case.id} {policy.card.name}"))
    return by_turn[:_PER_PAIR]


def _pair(case: Case, answers: Sequence[tuple[str, Answered]]) -> Case | Dropped:
    responses: list[Response] = []
    for name, answer in answers:
        if (fault := _fault(answer)) is not None:
            return Dropped(id=case.id, reason=fault[0], detail=f"{name}: {fault[1]}")
        assert not isinstance(answer, Failure)
        responses.append(Response(text=answer.text, model=name))
    if len({response.text.strip() for response in responses}) == 1:
        return Dropped(id=case.id, reason="equal responses")
    return replace(case, responses=tuple(responses))


def _fault(answer: Answered) -> tuple[str, str] | None:
    """The reason for which an answer cannot stand in a pair, with details; None for a good one."""
    if isinstance(answer, Failure):
        reason = "too long for a policy" if answer.error == OVERFLOW else "policy failed"
        return reason, answer.message
    if answer.finish == "filtered":
        return "filtered", "the server's filter stopped the answer"
    if not answer.text.strip():
        return "empty answer", "it has no text"
    if answer.finish == "length":
        return CUT_OFF, f"after {answer.completion_tokens:,} tokens"
    return None


def with_sets(pairs: Sequence[DrawnPair], settings: BuildSettings) -> list[DrawnPair]:
    """Pairs with the sets that they go to; those of earlier builds keep theirs.

    Which of a scenario's pairs go to Eval-C and Eval-R is drawn before any label is known.
    """
    return [
        pair
        for name in settings.scenarios
        for pair in _with_sets([one for one in pairs if one.case.scenario == name], settings)
    ]


def _with_sets(pairs: Sequence[DrawnPair], settings: BuildSettings) -> list[DrawnPair]:
    """The same for the pairs of one scenario."""

    def turn(pair: DrawnPair) -> tuple[bool, bytes]:
        return not pair.in_critique, drawn_by(settings.seed, f"eval-c {pair.case.id}")

    chosen = {pair.case.id for pair in sorted(pairs, key=turn)[: settings.n_critique]}
    return [replace(pair, in_critique=pair.case.id in chosen) for pair in pairs]
