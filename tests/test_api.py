"""Judges in Python take the same route as the command line."""

from __future__ import annotations

import pytest

import autoj
from autoj import Judge
from autoj.errors import DataError, UnknownComponent
from autoj.runs import judge_run, open_run

from .scripted import CARD, Recorder, by_hash


def test_the_public_names_are_sorted_and_there():
    assert list(autoj.__all__) == sorted(autoj.__all__)
    assert all(hasattr(autoj, name) for name in autoj.__all__)


def test_one_case_is_judged_as_in_a_run(tmp_path, cases, pair_spec):
    spec = pair_spec(critique=True)
    with open_run(tmp_path / "run", spec, cases) as folder:
        judge_run(folder, spec, Recorder())
        judged = list(folder.judged())
    judge = Judge(Recorder())
    for case, verdict in judged:
        a, b = (response.text for response in case.responses)
        alone = judge.compare(case.query, a, b, critique=True)
        assert (alone.winner, alone.probabilities, alone.critiques) == (
            verdict.winner,
            verdict.probabilities,
            verdict.critiques,
        )


def test_swapping_the_responses_swaps_the_verdict():
    judge = Judge.load(CARD, answer=by_hash)
    one, two = judge.compare("Why?", "a", "b"), judge.compare("Why?", "b", "a")
    assert one.probabilities is not None
    assert two.probabilities is not None
    assert one.probabilities == (
        two.probabilities[1],
        two.probabilities[0],
        two.probabilities[2],
    )


def test_a_response_is_rated():
    with Judge.load(CARD, answer=by_hash) as judge:
        verdict = judge.rate("Why?", "Because.")
    (rating,) = verdict.ratings
    assert rating is not None
    assert 1 <= rating <= 10


def test_an_empty_query_and_an_unknown_judge_are_refused():
    with pytest.raises(DataError, match="the query is empty"):
        Judge.load(CARD, answer=by_hash).compare(" ", "a", "b")
    with pytest.raises(UnknownComponent, match="Did you mean embedded"):
        Judge.load("embeded")
