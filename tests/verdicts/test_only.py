"""Kinds of cases: each by hand, at its border, and told apart from what cannot be told."""

from __future__ import annotations

import pytest

from autoj.records import Case, Response, Verdict
from autoj.verdicts.jury import JuryVerdict
from autoj.verdicts.only import KINDS, find


def case(label=None) -> Case:
    responses = (Response(text="x"), Response(text="y"))
    return Case(id="1", query="Why?", cluster="why", responses=responses, label=label)


def verdict(**its) -> Verdict:
    return Verdict(case_id="1", judge="j", **its)


def jury(*winners) -> JuryVerdict:
    votes = tuple(verdict(winner=winner) for winner in winners)
    return JuryVerdict(case_id="1", judge="jury", judges=votes)


@pytest.mark.parametrize(
    ("only", "label", "given", "expected"),
    [
        ("wrong", "a", verdict(winner="b"), True),
        ("wrong", "tie", verdict(winner="a"), True),
        ("wrong", "a", verdict(winner="a"), False),
        ("wrong", "a", verdict(), False),
        ("wrong", None, verdict(winner="a"), None),
        ("wrong", 7.0, verdict(winner="a"), None),
        ("disagree", None, verdict(consistent=False), True),
        ("disagree", None, verdict(consistent=True), False),
        ("disagree", None, verdict(), None),
        ("disagree", None, jury("a", "b", "a"), True),
        ("disagree", None, jury("a", None, "a"), False),
        ("disagree", None, jury(None, None), None),
        ("failed", None, verdict(n_failed=1), True),
        ("failed", None, verdict(n_unreadable=1), False),
        ("unreadable", None, verdict(n_unreadable=2), True),
        ("unreadable", None, verdict(n_failed=1), False),
        ("unsure", None, verdict(probabilities=(0.5, 0.41, 0.09)), True),
        ("unsure", None, verdict(probabilities=(0.2, 0.5, 0.3)), False),
        ("unsure", None, verdict(vote_shares=(0.6, None)), True),
        ("unsure", None, verdict(vote_shares=(2 / 3, 1.0)), False),
        ("unsure", None, verdict(vote_shares=(None, None)), None),
        ("unsure", None, verdict(winner="a"), None),
        ("close", None, verdict(ratings=(4.1, 3.6)), True),
        ("close", None, verdict(ratings=(4.2, 3.6)), False),
        ("close", None, verdict(ratings=(9.0, 1.0, 8.75)), True),
        ("close", None, verdict(ratings=(4.0, None)), None),
    ],
)  # fmt: skip
def test_a_case_is_of_a_kind_or_not_or_it_cannot_be_told(only, label, given, expected):
    assert KINDS[only].holds(case(label), given) is expected


def test_all_cases_are_counted_and_the_first_kept():
    judged = [(case("a"), verdict(winner=winner)) for winner in ("b", "a", "b", "b")]
    judged.append((case(), verdict(winner="b")))
    found = find(judged, "wrong", 2)
    assert [kept for _, kept in found.first] == [judged[0][1], judged[2][1]]
    assert (found.n, found.n_told) == (3, 4)
