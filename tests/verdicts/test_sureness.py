"""The confidence of a verdict, and the mark of those below a threshold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoj.records import Case, Response, SureThreshold, Verdict
from autoj.verdicts.only import KINDS
from autoj.verdicts.resolve import add_critiques
from autoj.verdicts.sureness import confidence_of, is_unsure, mark

BOTH = Verdict(
    case_id="1", judge="j", winner="a", winners=("a", "a"), probabilities=(0.62, 0.3, 0.08)
)
AT_62 = SureThreshold(below=0.62)


def test_the_mark_is_below_the_threshold_and_changes_no_winner() -> None:
    at, above = mark(BOTH, AT_62), mark(BOTH, SureThreshold(below=0.63))
    assert (at.confidence, at.unsure, above.unsure) == (0.62, False, True)
    assert (at.winner, above.winner, above.probabilities) == ("a", "a", BOTH.probabilities)
    assert (is_unsure(BOTH), is_unsure(at), is_unsure(above)) == (False, False, True)
    assert is_unsure(add_critiques(above, []))


@pytest.mark.parametrize(
    "verdict",
    [
        replace(BOTH, winner=None),
        replace(BOTH, probabilities=None),
        replace(BOTH, winners=("a",), rule="one order"),
    ],
    ids=["no winner", "no probabilities", "one order"],
)
def test_what_has_no_confidence_is_neither_sure_nor_unsure(verdict: Verdict) -> None:
    marked = mark(verdict, AT_62)
    assert confidence_of(verdict) is marked.confidence is marked.unsure is None
    assert not is_unsure(marked)


def test_two_ratings_with_a_calibration_have_a_confidence() -> None:
    rated = replace(BOTH, winners=(), ratings=(7.0, 4.0))
    assert confidence_of(rated) == 0.62


def test_the_judges_threshold_precedes_the_margin_for_all_judges() -> None:
    level = replace(BOTH, probabilities=(0.45, 0.44, 0.11))
    responses = (Response(text="x"), Response(text="y"))
    case = Case(id="1", query="Why?", cluster="why", responses=responses)
    assert KINDS["unsure"].holds(case, level) is True
    assert KINDS["unsure"].holds(case, mark(level, SureThreshold(below=0.4))) is False
