"""Judges in Python take the same route as the command line."""

from __future__ import annotations

from dataclasses import replace

import pytest

import autoj
from autoj import Judge, Jury
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.runs import judge_run, open_run

from ..classifiers import WordClassifier
from ..scripted import CARD, Recorder, by_hash


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


def test_a_judge_names_a_scenario_where_its_card_offers_that(monkeypatch):
    monkeypatch.setattr("autoj.api.judge.load_classifier", lambda name: WordClassifier(name=name))
    asking = replace(CARD, protocols=("pairwise", "scenario"))
    with Judge.load(asking, answer=lambda request: "Planning.") as judge:
        named = judge.classify("Hello.")
        assert (named.scenario, named.group, named.classifier) == (
            "planning",
            "General Communication",
            "script",
        )
        assert named.probability is None
        # A classifier that is named goes before the judge.
        assert judge.classify("Hello.", classifier="best").scenario == "chitchat"
    with Judge.load(asking, answer=lambda request: "No.") as judge:
        named = judge.classify("Hello.")
    assert (named.scenario, named.state) == (None, "unreadable")
    assert "'No'" in (named.reason or "")


def test_any_other_judge_leaves_it_to_the_embedded_classifier(monkeypatch):
    loaded = []

    def load(name):
        loaded.append(name)
        return WordClassifier(name=name)

    monkeypatch.setattr("autoj.api.judge.load_classifier", load)
    judge = Judge(Recorder())
    named = judge.classify("Plan a trip.", top=2)
    assert (named.scenario, named.probability, named.classifier) == ("planning", 0.9, "fast")
    assert len(named.alternatives) == 1
    judge.classify("Hello.")
    assert loaded == ["fast"]
    asked = judge.classify("Plan a trip.", protocol="scenario-menu")
    assert asked.classifier == "script"
    with pytest.raises(ConfigError, match="give only one"):
        judge.classify("Hello.", protocol="scenario", classifier="fast")
    with pytest.raises(DataError, match="the query is empty"):
        judge.classify(" ")


def test_a_scenario_may_be_given_to_be_judged_by():
    backend = Recorder()
    judge = Judge(backend)
    judge.compare("Why?", "a", "b", scenario="small talk", protocol="pairwise-criteria")
    judge.rate("Why?", "a", scenario="chitchat", protocol="single-criteria")
    systems = {request.messages[0].content for request in backend.asked}
    assert len(systems) == 1
    assert "criteria" in systems.pop()
    with pytest.raises(ConfigError, match="has no scenario"):
        judge.compare("Why?", "a", "b", protocol="pairwise-criteria")
    with pytest.raises(UnknownComponent, match="planning"):
        judge.compare("Why?", "a", "b", scenario="planing", protocol="pairwise-criteria")


def seated(*preferences, method=None):
    """A jury of which each judge prefers the first response so much, in either order."""

    def judge(number, share):
        def answer(request):
            shown = (share, -share) if request.shown == (0, 1) else (-share, share)
            return (*shown, -9.0)

        return Judge.load(replace(CARD, name=f"j{number}", model=f"m{number}"), answer=answer)

    return Jury([judge(number, share) for number, share in enumerate(preferences)], method)


def test_a_jury_decides_and_keeps_each_judges_verdict():
    asked = {"protocol": "pairwise-verdict", "critique": False}
    verdict = seated(2.0, -0.1, -0.1).compare("Why?", "a", "b", **asked)
    assert (verdict.winner, verdict.rule, verdict.judge) == ("a", "mean", "j0, j1, j2")
    assert [its.winner for its in verdict.judges] == ["a", "b", "b"]
    assert [its.judge for its in verdict.judges] == ["j0", "j1", "j2"]
    voted = seated(2.0, -0.1, -0.1, method="majority").compare("Why?", "a", "b", **asked)
    assert (voted.winner, voted.rule) == ("b", "majority")


def test_a_jury_rates_by_the_mean():
    def rating(value):
        return lambda request: f"Rating: [[{value}]]"

    judges = [
        Judge.load(replace(CARD, name=name, model=name), answer=rating(value))
        for name, value in (("low", 3), ("high", 8))
    ]
    with Jury(judges) as jury:
        verdict = jury.rate("Why?", "Because.", protocol="single")
    assert verdict.ratings == (5.5,)
    assert [its.ratings for its in verdict.judges] == [(3.0,), (8.0,)]


def test_a_jury_needs_two_judges_that_differ_and_frees_those_it_has_when_one_fails(monkeypatch):
    judge = Judge.load(CARD, answer=by_hash)
    with pytest.raises(ConfigError, match="at least two judges, found 1"):
        Jury([judge])
    with pytest.raises(ConfigError, match="one judge twice"):
        Jury([judge, judge]).compare("Why?", "a", "b")
    closed = []
    monkeypatch.setattr(Judge, "close", lambda self: closed.append(self.card.name))

    def load(name):
        if name == "good":
            return judge
        raise UnknownComponent("judge", name, ())

    monkeypatch.setattr(Judge, "load", load)
    with pytest.raises(UnknownComponent):
        Jury.load("good", "no-such-judge")
    assert closed == ["script"]
