"""Labels of a testbed: the files' own, and those that people gave.

The rule is a strict majority: a pair gets the answer, "a", "b" or "tie", that more than half of its
annotators gave. Skips do not count as answers. Without such a majority the pair is undecided; it
stays listed, for one more annotator to decide. Labels that came with a file are kept as they are.

**Source**: paper, section 5.1, which says that people labelled the pairs and not by what rule; this
rule is ours.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

from autoj.construct.testbed.annotating import (
    PairAnswer,
    annotators,
    last_answers,
    pair_digest,
    read_answers,
)
from autoj.construct.testbed.folder import DrawnPair, Testbed
from autoj.metrics import kappa
from autoj.metrics.base import Row, proportion
from autoj.metrics.rows import cluster_number
from autoj.records import Case, Estimate, Winner

RULE = "the answer of more than half of a pair's annotators, skips left out"

State: TypeAlias = Literal["source", "agreed", "majority", "undecided", "too few", "unanswered"]
""""source" labels came with a file; "agreed" is one answer by all, "majority" by more than half;
"undecided" has no majority, "too few" fewer answers than asked for, "unanswered" none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLabel:
    """A pair's label, with its origin."""

    case: Case
    label: Winner | None
    """None where there is no label yet."""
    state: State
    answers: Mapping[str, Winner | None]
    """By annotator; None for a skip. Answers to other texts are left out."""

    @property
    def is_disputed(self) -> bool:
        """True where annotators gave different answers, decided or not."""
        return len({winner for winner in self.answers.values() if winner is not None}) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorCounts:
    """The work of one annotator."""

    annotator: str
    n_answered: int
    """Pairs with an answer that counts, without skips."""
    n_skipped: int
    n_answered_again: int
    """Pairs that were answered more than once; the last answer counts."""
    n_of_other_pairs: int
    """Answers to pairs that the testbed does not have, or no longer in these texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Two annotators on the pairs that both answered."""

    annotators: tuple[str, str]
    kappa: Estimate
    same_answer: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """All labels of a testbed, and how far its annotators agree."""

    labels: tuple[PairLabel, ...]
    """One per pair, in the testbed's order."""
    annotators: tuple[AnnotatorCounts, ...]
    agreement: tuple[Agreement, ...]
    """Each two annotators who answered a common pair."""
    least_annotators: int
    """Answers that a pair needs."""

    @property
    def missing(self) -> tuple[PairLabel, ...]:
        """The pairs without a label."""
        return tuple(label for label in self.labels if label.label is None)

    @property
    def disputed(self) -> tuple[PairLabel, ...]:
        """The pairs on which annotators differ."""
        return tuple(label for label in self.labels if label.is_disputed)


def read_labelling(testbed: Testbed, least_annotators: int = 1) -> Labelling:
    """Resolves the labels of a testbed from its files.

    Args:
        testbed: the testbed.
        least_annotators: answers that a pair needs, at least 1.

    Raises:
        DataError: a file is damaged.
    """
    names = annotators(testbed)
    return resolve_labels(
        testbed.pairs(),
        {name: read_answers(testbed, name) for name in names},
        least_annotators,
    )


def undecided_pairs(testbed: Testbed) -> frozenset[str]:
    """The ids of pairs on which annotators disagree without a majority.

    Raises:
        DataError: a file is damaged.
    """
    labels = read_labelling(testbed).labels
    return frozenset(label.case.id for label in labels if label.state == "undecided")


def resolve_labels(
    pairs: Sequence[DrawnPair],
    answers: Mapping[str, Sequence[PairAnswer]],
    least_annotators: int = 1,
) -> Labelling:
    """Resolves the labels of pairs from people's answers.

    Args:
        pairs: the testbed's.
        answers: by annotator, in the order in which they were given.
        least_annotators: answers that a pair needs, at least 1.
    """
    digests = {pair.case.id: pair_digest(pair.case) for pair in pairs}
    counted = {
        name: {
            case_id: answer.winner
            for case_id, answer in last_answers(given).items()
            if digests.get(case_id) == answer.pair
        }
        for name, given in answers.items()
    }
    labels = tuple(
        _label(
            pair.case,
            {n: its[pair.case.id] for n, its in counted.items() if pair.case.id in its},
            least_annotators,
        )
        for pair in pairs
    )
    return Labelling(
        labels=labels,
        annotators=tuple(_counts(name, given, counted[name]) for name, given in answers.items()),
        agreement=tuple(
            found
            for names in combinations(counted, 2)
            if (found := _agreement(names, labels)) is not None
        ),
        least_annotators=least_annotators,
    )


def _label(case: Case, answers: dict[str, Winner | None], least: int) -> PairLabel:
    label, state = _decided([winner for winner in answers.values() if winner is not None], least)
    if case.label in ("a", "b", "tie"):
        label, state = case.label, "source"
    return PairLabel(case=case, label=label, state=state, answers=answers)


def _decided(votes: Sequence[Winner], least: int) -> tuple[Winner | None, State]:
    """The label of some answers, by the rule.

    >>> _decided(["a", "a", "tie"], 1), _decided(["a", "b"], 1), _decided(["b"], 2)
    (('a', 'majority'), (None, 'undecided'), (None, 'too few'))
    """
    if not votes:
        return None, "unanswered"
    if len(votes) < least:
        return None, "too few"
    (winner, n), *others = Counter(votes).most_common()
    if not others:
        return winner, "agreed"
    return (winner, "majority") if 2 * n > len(votes) else (None, "undecided")


def _counts(
    name: str, given: Sequence[PairAnswer], counted: Mapping[str, Winner | None]
) -> AnnotatorCounts:
    times = Counter(answer.case_id for answer in given if answer.case_id in counted)
    return AnnotatorCounts(
        annotator=name,
        n_answered=sum(winner is not None for winner in counted.values()),
        n_skipped=sum(winner is None for winner in counted.values()),
        n_answered_again=sum(n > 1 for n in times.values()),
        n_of_other_pairs=len({answer.case_id for answer in given} - set(counted)),
    )


def _agreement(names: tuple[str, str], labels: Sequence[PairLabel]) -> Agreement | None:
    """The agreement of two annotators; None where they answered no common pair."""
    first, second = names
    rows = [
        Row(
            cluster=cluster_number(label.case.cluster),
            label=one,
            winner=other,
            winners=(other,),
            consistent=None,
            scenario=label.case.scenario,
        )
        for label in labels
        if (one := label.answers.get(first)) is not None
        and (other := label.answers.get(second)) is not None
    ]
    if not rows:
        return None
    return Agreement(
        annotators=names,
        kappa=kappa.compute(rows),
        same_answer=proportion("same answer", rows, lambda row: float(row.label == row.winner)),
    )
