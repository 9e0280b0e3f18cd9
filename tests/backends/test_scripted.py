"""Answers from a function, and from a recorded run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoj import Judge
from autoj.backends.scripted import load
from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.records import Completion, Failure, JudgeCard
from autoj.runs import judge_run, open_run

from ..scripted import CARD, Recorder, by_hash


def test_a_function_answers_with_text_scores_or_an_outcome():
    longest = {True: (-0.1, -3.0, -5.0), False: "So, the final decision is Tie."}
    judge = Judge.load(CARD, answer=lambda request: longest[request.choices is not None])
    verdict = judge.compare("Why?", "a", "b")
    assert verdict.winners == ("a", "b")
    assert judge.compare("Why?", "a", "b", protocol="pairwise").winner == "tie"


def test_scores_that_do_not_fit_the_choices_are_refused():
    judge = Judge.load(CARD, answer=lambda request: (-1.0,))
    with pytest.raises(ConfigError, match="1 log-probabilities for 3 choices"):
        judge.compare("Why?", "a", "b")


def test_a_recorded_run_is_replayed_without_its_model(tmp_path, cases, pair_spec):
    spec = pair_spec(critique=True)
    with open_run(tmp_path / "old", spec, cases) as folder:
        judge_run(folder, spec, Recorder())
        recorded = [replace(verdict, judge="") for verdict in folder.verdicts()]
    card = load_card(f"scripted:{tmp_path / 'old'}")
    again = replace(spec, judge=card)
    with open_run(tmp_path / "new", again, cases) as folder:
        judge_run(folder, again, load(card))
        assert [replace(verdict, judge="") for verdict in folder.verdicts()] == recorded


def test_what_was_not_recorded_is_a_failure_and_no_answer(tmp_path, cases, pair_spec):
    spec = pair_spec()
    with open_run(tmp_path / "old", spec, cases) as folder:
        judge_run(folder, spec, Recorder())
    backend = Recorder()
    judge = Judge(backend)
    judge.compare("A new question", "a", "b")
    replay = load(load_card(f"scripted:{tmp_path / 'old'}"))
    outcomes = list(replay.complete(backend.asked))
    assert all(isinstance(outcome, Failure) for outcome in outcomes)
    assert "has no answer" in outcomes[0].message


@pytest.mark.parametrize("model", ["nowhere", "."])
def test_a_folder_without_a_run_is_refused(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="not a run folder"):
        load(JudgeCard(name="x", title="x", backend="scripted", model=model))


def test_streamed_text_is_the_completion():
    heard: list[tuple[str, str]] = []
    judge = Recorder()
    Judge(judge).compare("Why?", "a", "b", protocol="pairwise")
    backend = load(CARD, answer=by_hash)
    outcomes = list(backend.complete(judge.asked, lambda *text: heard.append(text)))
    assert heard == [
        (outcome.key, outcome.text) for outcome in outcomes if isinstance(outcome, Completion)
    ]
