"""Thins made pairs that a rule decides without judging, such as "the longer response is better".

A rule is right about a pair, wrong, or has no answer. Pairs are grouped by what both rules say, and
each group has a mirror image: where both are right, that is where both are wrong. The larger of the
two groups is cut down to the size of the other, and each rule is right half of the time.

**Source:** our own. Judges that learn such rules are OffsetBias's finding (arXiv 2407.06551).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from autoj.metrics.base import proportion_of
from autoj.records import Case, Estimate

_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Easy:
    """A pair that is left out, as a rule decides it."""

    case: Case
    reason: str
    """"decided by length" or "decided by word overlap"."""
    detail: str
    """The answers of both rules."""


def says_longer(case: Case) -> int:
    """1 where the better response of a pair is the longer one, -1 the shorter one, else 0."""
    better, worse = _texts(case)
    return _sign(len(better.strip()) - len(worse.strip()))


def says_overlap(case: Case) -> int:
    """1 where the better response has more different words of the query, -1 fewer, else 0."""
    better, worse = (n_shared_words(case.query, text) for text in _texts(case))
    return _sign(better - worse)


def n_shared_words(query: str, text: str) -> int:
    """The number of different words of a query that a text has, of those of three letters or more.

    >>> n_shared_words("Bake bread at home", "Home-made bread: bake it.")
    3
    """
    return len(_words(query) & _words(text))


RULES: Mapping[str, Callable[[Case], int]] = {
    "longer wins": says_longer,
    "more query words win": says_overlap,
}
"""Rules that judge a pair without reading it."""


def accuracy_of_rules(cases: Iterable[Case]) -> list[Estimate]:
    """The share of decided pairs that each rule is right about, with an interval over queries.

    Pairs without a winner are left out; those that a rule has no answer for are its unscored ones.
    A share far below one half is as easy to learn as one far above it.
    """
    decided = [case for case in cases if case.label in ("a", "b")]
    numbers = {name: at for at, name in enumerate(dict.fromkeys(case.cluster for case in decided))}
    found: list[Estimate] = []
    for name, rule in RULES.items():
        answers = [(rule(case), numbers[case.cluster]) for case in decided]
        scored = [(answer > 0, number) for answer, number in answers if answer]
        found.append(
            proportion_of(
                name,
                np.array([right for right, _ in scored], dtype=np.float64),
                np.array([number for _, number in scored], dtype=np.int64),
                len(decided) - len(scored),
            )
        )
    return found


def thin(cases: Sequence[Case], share: float, seed: int) -> list[Case | Easy]:
    """Leaves out pairs until each rule is right about half of the rest.

    Args:
        cases: pairs; ties are never left out.
        share: the share of the surplus to leave out; 1 leaves each rule right half of the time.
        seed: the seed of the draw.

    Returns:
        The pairs in their order, those that are left out as `Easy`.
    """
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for at, case in enumerate(cases):
        if case.label in ("a", "b"):
            groups[says_longer(case), says_overlap(case)].append(at)
    sizes = Counter({answers: len(its) for answers, its in groups.items()})
    usual = tuple(
        _sign(sum(answers[rule] * n for answers, n in sizes.items())) for rule in range(2)
    )
    generator = Random(f"{seed} thin")
    reasons: dict[int, tuple[str, str]] = {}
    for answers, its in sorted(groups.items()):
        n_surplus = sizes[answers] - sizes[-answers[0], -answers[1]]
        n_dropped = round(share * n_surplus) if n_surplus > 0 else 0
        for at in generator.sample(its, n_dropped):
            reasons[at] = _reason(answers, usual), _in_words(answers)
    return [
        Easy(case=case, reason=reasons[at][0], detail=reasons[at][1]) if at in reasons else case
        for at, case in enumerate(cases)
    ]


def _reason(answers: tuple[int, int], usual: tuple[int, ...]) -> str:
    """The rule that decides the pairs of a group: one that says of them what it mostly says."""
    by_length, by_overlap = (
        answer != 0 and answer == most for answer, most in zip(answers, usual, strict=True)
    )
    if by_length or (answers[0] and not by_overlap):
        return "decided by length"
    return "decided by word overlap"


def _in_words(answers: tuple[int, int]) -> str:
    length = {1: "the longer one wins", -1: "the shorter one wins", 0: "equal lengths"}
    overlap = {1: "more query words", -1: "fewer query words", 0: "as many query words"}
    return f"{length[answers[0]]}, {overlap[answers[1]]}"


def _texts(case: Case) -> tuple[str, str]:
    """The better response and the other one."""
    first, second = (response.text for response in case.responses)
    return (first, second) if case.label == "a" else (second, first)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
