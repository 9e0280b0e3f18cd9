"""A knockout tournament for the best of N: each round's matches follow from the last verdicts.

A response that loses a match is out, so N responses need N - 1 matches, each judged like any pair:
in both orders, or each response alone. In a round the responses meet in the order of the case; with
an odd number the last one has a bye and plays first in the next round.

- Responses with equal texts play as one.
- A tie, or two orders that disagree without a rule to decide, does not end a match. Then the higher
  output probability goes on where both are known; else the response that the judge's probabilities
  favour; else the first one.
- A match that failed or could not be read decides nothing. Both stay and meet others; a response is
  out, unjudged, after two such matches. So there are at most 2 N - 1 matches.
- The last response left is picked if it has won a match. Where several winners are left and no
  match remains, they are equals; where no winner is left, the equals are those that won and never
  lost. Where no match was won, nothing is picked.

Everything follows from the case and the verdicts, so an interrupted tournament is replayed from its
start without asking again.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from autoj.records import Case, Verdict
from autoj.verdicts.selection import Pick, among_equals

MATCH_RULES: Mapping[str, str] = {
    "verdict": "the judge prefers this one",
    "output probability": "level; this one has the higher output probability",
    "leaning": "level; the judge's probabilities favour this one",
    "first": "level; this one is the first of the two",
    "unknown": "the match failed or could not be read; both stay",
}
"""Rules that decide which response goes on."""
_MOST_UNKNOWN = 2
"""Matches without a readable verdict after which a response is out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A match that was played: a line of `matches.jsonl`."""

    case_id: str
    pair: tuple[int, int]
    """The responses that met; in the verdict the first is a and the second b."""
    round: int
    """Counted from 1."""
    winner: int | None
    """The response that goes on; None where the match could not be read, and both do."""
    rule: str
    """A name from `MATCH_RULES`."""
    verdict: Verdict
    """The judge's verdict on the pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tournament:
    """The state of a case's tournament."""

    entrants: tuple[int, ...]
    """The responses still in, in the order in which they meet."""
    n_entered: int
    """Number of distinct response texts."""
    n_rounds: int = 0
    matches: tuple[Match, ...] = ()


def start(case: Case) -> Tournament:
    """The tournament before its first round."""
    groups: dict[str, list[int]] = {}
    for index, response in enumerate(case.responses):
        groups.setdefault(response.text, []).append(index)
    entrants = sorted(among_equals(group, case.responses).index for group in groups.values())
    return Tournament(entrants=tuple(entrants), n_entered=len(entrants))


def next_pairs(tournament: Tournament) -> list[tuple[int, int]]:
    """The pairs of the next round; none where the tournament is over."""
    met = {frozenset(match.pair) for match in tournament.matches}
    waiting, pairs = list(tournament.entrants), []
    while waiting:
        one = waiting.pop(0)
        other = next((it for it in waiting if frozenset((one, it)) not in met), None)
        if other is not None:
            waiting.remove(other)
            pairs.append((min(one, other), max(one, other)))
    return pairs


def play(tournament: Tournament, case: Case, verdicts: Sequence[Verdict]) -> Tournament:
    """The tournament after its next round.

    tournament: its state before the round.
    case: the case whose responses play.
    verdicts: one per pair of `next_pairs`, in that order.
    """
    pairs = next_pairs(tournament)
    number = tournament.n_rounds + 1
    matches = [
        _match(case, pair, number, verdict) for pair, verdict in zip(pairs, verdicts, strict=True)
    ]
    played = (*tournament.matches, *matches)
    n_unknown = Counter(index for match in played if match.winner is None for index in match.pair)
    busy = {index for pair in pairs for index in pair}
    left = [index for index in tournament.entrants if index not in busy]
    for match in matches:
        stay = match.pair if match.winner is None else (match.winner,)
        left += [index for index in stay if n_unknown[index] < _MOST_UNKNOWN]
    return replace(tournament, entrants=tuple(left), n_rounds=number, matches=played)


def _match(case: Case, pair: tuple[int, int], number: int, verdict: Verdict) -> Match:
    winner, rule = _decide(case, pair, verdict)
    return Match(
        case_id=case.id, pair=pair, round=number, winner=winner, rule=rule, verdict=verdict
    )


def _decide(case: Case, pair: tuple[int, int], verdict: Verdict) -> tuple[int | None, str]:
    if verdict.winner in ("a", "b"):
        return pair["ab".index(verdict.winner)], "verdict"
    if verdict.winner is None and verdict.rule == "incomplete":
        return None, "unknown"
    equals = among_equals(pair, case.responses)
    if equals.rule == "first" and verdict.probabilities is not None:
        a, b, _ = verdict.probabilities
        if a != b:
            return pair[0 if a > b else 1], "leaning"
    return equals.index, equals.rule


def champion(tournament: Tournament, case: Case) -> Pick | None:
    """The winner of the tournament; None where no match was won.

    Args:
        tournament: one without a next round.
        case: the case whose responses played.
    """
    if tournament.n_entered == 1:
        return Pick(index=tournament.entrants[0], rule="only")
    won = {match.winner for match in tournament.matches if match.winner is not None}
    lost = {
        index
        for match in tournament.matches
        if match.winner is not None
        for index in match.pair
        if index != match.winner
    }
    unbeaten = won - lost
    best = sorted(unbeaten & set(tournament.entrants)) or sorted(unbeaten)
    if not best:
        return None
    if len(best) == 1:
        return Pick(index=best[0], rule="wins")
    return among_equals(best, case.responses)


def replay(case: Case, known: Callable[[str], Verdict | None]) -> Tournament:
    """A case's tournament, replayed for as many rounds as have verdicts.

    Args:
        case: the case whose responses play.
        known: returns the verdict of a match by the id that `match_case` gives it.
    """
    tournament = start(case)
    while pairs := next_pairs(tournament):
        said = [known(_match_id(case, pair)) for pair in pairs]
        verdicts = [verdict for verdict in said if verdict is not None]
        if len(verdicts) < len(pairs):
            break
        tournament = play(tournament, case, verdicts)
    return tournament


def match_case(case: Case, pair: tuple[int, int]) -> Case:
    """Two responses of a case as a case of their own."""
    return replace(
        case,
        id=_match_id(case, pair),
        responses=tuple(case.responses[index] for index in pair),
        label=None,
        meta={},
    )


def _match_id(case: Case, pair: tuple[int, int]) -> str:
    return f"{case.id}/{pair[0] + 1}-{pair[1] + 1}"


def tournament_verdict(tournament: Tournament, case: Case, judge: str) -> Verdict:
    """A case's verdict: the pick, and the number of judgments lost on the way.

    Args:
        tournament: one without a next round.
        case: the case whose responses played.
        judge: the judge's name.
    """
    best = champion(tournament, case)
    said = [match.verdict for match in tournament.matches]
    return Verdict(
        case_id=case.id,
        judge=judge,
        selected=None if best is None else best.index,
        scenario=case.scenario,
        n_unreadable=sum(verdict.n_unreadable for verdict in said),
        n_failed=sum(verdict.n_failed for verdict in said),
        n_truncated=sum(verdict.n_truncated for verdict in said),
    )
