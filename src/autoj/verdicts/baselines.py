"""Baseline judges that read no text: a real judge must beat them.

They are reported beside every figure. `majority` uses the most frequent label, which is the best
that a constant answer can do.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from autoj.records import WINNERS, Case, Verdict, Winner
from autoj.verdicts.resolve import settle

Pick = Callable[[Case, Winner], tuple[Winner, Winner]]
"""From a case and the most frequent label to the winner in each order, in the case's frame."""


def _longest(case: Case, _majority: Winner) -> tuple[Winner, Winner]:
    first, second = (len(response.text.strip()) for response in case.responses)
    winner: Winner = "tie" if first == second else "a" if first > second else "b"
    return winner, winner


def _first(_case: Case, _majority: Winner) -> tuple[Winner, Winner]:
    return "a", "b"


def _random(case: Case, _majority: Winner) -> tuple[Winner, Winner]:
    drawn = hashlib.sha256(case.id.encode()).digest()
    # 255 is a multiple of three: the byte 255 would favour one winner slightly.
    in_order, swapped = (WINNERS[byte % 3] for byte in [byte for byte in drawn if byte < 255][:2])
    return in_order, swapped


def _majority(_case: Case, majority: Winner) -> tuple[Winner, Winner]:
    return majority, majority


BASELINE_JUDGES: Mapping[str, tuple[str, Pick]] = {
    "longest": ("names the longer response", _longest),
    "first": ("names what the page shows first", _first),
    "random": ("names a, b or tie at random, anew in each order", _random),
    "majority": ("always gives the most frequent label", _majority),
}
"""Per baseline, its description and its function."""


def baseline_verdicts(name: str, cases: Sequence[Case]) -> list[Verdict]:
    """The verdicts of a baseline judge on pairs.

    Args:
        name: one of `BASELINE_JUDGES`.
        cases: pairs.
    """
    _, pick = BASELINE_JUDGES[name]
    labels = Counter(case.label for case in cases if case.label in WINNERS)
    majority = max(WINNERS, key=lambda winner: labels[winner])
    return [_verdict(name, case, pick(case, majority)) for case in cases]


def baseline_winner(name: str, case: Case, majority: Winner) -> Winner | None:
    """The winner that a baseline judge names in one case.

    Args:
        name: one of `BASELINE_JUDGES`.
        case: a pair.
        majority: the most frequent label of all cases.
    """
    _, pick = BASELINE_JUDGES[name]
    return _settled(pick(case, majority)).winner


def _verdict(name: str, case: Case, winners: tuple[Winner, Winner]) -> Verdict:
    return replace(_settled(winners), case_id=case.id, judge=name)


@cache
def _settled(winners: tuple[Winner, Winner]) -> Verdict:
    """The verdict of these winners, on whichever case: there are nine of them."""
    # Each order gets probability 1 for its winner, so that there is something to average.
    a, b, tie = (winners.count(winner) / 2 for winner in WINNERS)
    return settle(Verdict(case_id="any", judge="any", winners=winners, probabilities=(a, b, tie)))
