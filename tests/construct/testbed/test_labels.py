"""Labels follow from answers by one rule, and agreement is counted on common pairs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoj.construct.testbed.annotating import PairAnswer, pair_digest
from autoj.construct.testbed.folder import DrawnPair
from autoj.construct.testbed.labels import resolve_labels
from autoj.records import Case, Response, Winner

NAMES = ("anna", "ben", "cleo", "dan")


def drawn(number: int, label: Winner | None = None) -> DrawnPair:
    pair = (Response(text=f"first {number}"), Response(text=f"second {number}"))
    case = Case(
        id=f"{number}", query=f"q{number}", cluster=f"q{number}", responses=pair, label=label,
        scenario="planning",
    )  # fmt: skip
    return DrawnPair(case=case, origin="made" if label is None else "labelled")


def said(pair: DrawnPair, winner: Winner | None) -> PairAnswer:
    return PairAnswer(
        case_id=pair.case.id,
        winner=winner,
        shown=(0, 1),
        pair=pair_digest(pair.case),
        via="terminal",
    )


RULES: list[tuple[str, str | None, str]] = [
    ("", None, "unanswered"),
    ("s", None, "unanswered"),
    ("a", "a", "agreed"),
    ("as", "a", "agreed"),
    ("ab", None, "undecided"),
    ("at", None, "undecided"),
    ("aab", "a", "majority"),
    ("tta", "tie", "majority"),
    ("abt", None, "undecided"),
    ("aabb", None, "undecided"),
    ("aabt", None, "undecided"),
    ("aaab", "a", "majority"),
]


@pytest.mark.parametrize(("given_answers", "label", "state"), RULES)
def test_a_label_is_the_answer_of_more_than_half(
    given_answers: str, label: str | None, state: str
) -> None:
    pair = drawn(1)
    words: dict[str, Winner | None] = {"a": "a", "b": "b", "t": "tie", "s": None}
    answers = {
        name: [said(pair, words[letter])]
        for name, letter in zip(NAMES, given_answers, strict=False)
    }
    (found,) = resolve_labels([pair], answers).labels
    assert (found.label, found.state) == (label, state)
    assert found.is_disputed == (len(set(given_answers) - {"s"}) > 1)


def test_the_label_of_a_file_is_kept_and_too_few_answers_are_said() -> None:
    labelled, waiting = drawn(1, "b"), drawn(2)
    answers = {"anna": [said(labelled, "a"), said(waiting, "a")]}
    found = resolve_labels([labelled, waiting], answers, least_annotators=2)
    assert [(one.label, one.state) for one in found.labels] == [("b", "source"), (None, "too few")]


def test_the_last_answer_counts_and_it_is_said_that_there_was_another() -> None:
    pair = drawn(1)
    stale = said(drawn(2), "a")
    answers = {"anna": [said(pair, "a"), said(pair, "b"), stale]}
    found = resolve_labels([pair], answers)
    assert found.labels[0].label == "b"
    (counts,) = found.annotators
    assert (counts.n_answered, counts.n_answered_again, counts.n_of_other_pairs) == (1, 1, 1)


def test_kappa_is_cohens_on_the_pairs_that_both_answered() -> None:
    pairs = [drawn(number) for number in range(20)]
    # 14 agree: 8 a, 6 b; 6 differ: anna a, ben b. By hand: po .7, pe .7*.4 + .3*.6 = .46.
    anna: list[Winner] = ["a"] * 8 + ["b"] * 6 + ["a"] * 6
    ben: list[Winner] = ["a"] * 8 + ["b"] * 6 + ["b"] * 6
    answers = {
        "anna": [said(pair, winner) for pair, winner in zip(pairs, anna, strict=True)],
        "ben": [said(pair, winner) for pair, winner in zip(pairs, ben, strict=True)],
        "cleo": [said(pairs[0], None)],
    }
    found = resolve_labels(pairs, answers)
    (agreement,) = found.agreement
    assert agreement.annotators == ("anna", "ben")
    assert agreement.kappa.n == 20
    assert agreement.same_answer.value == pytest.approx(0.7)
    assert agreement.kappa.value == pytest.approx((0.7 - 0.46) / 0.54)
    assert agreement.kappa.low is not None
    assert agreement.kappa.low < 0.444 < (agreement.kappa.high or 0)
    assert len(found.disputed) == 6
    assert len(found.missing) == 6


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["a", "b", "tie", None]), max_size=4))
def test_the_rule_does_not_depend_on_who_answered_first(winners: list[Winner | None]) -> None:
    pair = drawn(1)
    found = {
        resolve_labels(
            [pair],
            {name: [said(pair, winner)] for name, winner in zip(NAMES, order, strict=False)},
        )
        .labels[0]
        .label
        for order in (winners, winners[::-1], winners[1:] + winners[:1])
    }
    assert len(found) == 1
