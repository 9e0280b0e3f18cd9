"""Sources of a benchmark as a caller names them: one of several, and nothing that excludes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.bench.critique_quality.measure import CritiqueJudge, critique_source
from autoj.bench.eval_c.choosing import NamedCritic, chosen_comparison
from autoj.bench.eval_c.critics import CritiqueFile, WritingJudge
from autoj.bench.eval_c.measure import NewComparison, Votes
from autoj.bench.eval_p import choosing
from autoj.bench.eval_p.measure import ValidationSet
from autoj.bench.eval_r.choosing import grading_judge, listed_sizes, rating_sources
from autoj.bench.eval_r.measure import PublishedRatings, RatingJudge
from autoj.bench.sources import Predictions, Scores, StoredRun
from autoj.bench.system_level.measure import MeanRatings, RatedModels, model_ratings
from autoj.errors import ConfigError

FILE = Path("file.jsonl")


def test_verdicts_on_pairs_have_one_source(tmp_path):
    judge = choosing.asked_judge("embedded", "pairwise-verdict")
    assert judge is not None
    assert (judge.card.name, judge.protocol) == ("embedded-1.5b", "pairwise-verdict")
    assert choosing.asked_judge(None) is None
    assert choosing.one_source(judge) is judge
    assert choosing.one_source(run=FILE) == StoredRun(FILE)
    assert choosing.one_source(predictions=FILE, swapped=FILE) == Predictions(FILE, FILE)
    assert choosing.one_source(scores=FILE) == Scores(FILE)
    for given in ({}, {"run": FILE, "scores": FILE}):
        with pytest.raises(ConfigError, match="give one of --judge, --run"):
            choosing.one_source(**given)
    with pytest.raises(ConfigError, match="--swapped needs"):
        choosing.one_source(run=FILE, swapped=FILE)
    assert choosing.other_source() is None
    assert choosing.other_source(tmp_path) == StoredRun(tmp_path)
    assert choosing.other_source(FILE, FILE) == Predictions(FILE, FILE)
    assert choosing.other_source(scores=FILE) == Scores(FILE)
    with pytest.raises(ConfigError, match="needs a file of predictions"):
        choosing.other_source(tmp_path, FILE)
    assert choosing.validation_set(FILE) == ValidationSet(path=FILE)
    with pytest.raises(ConfigError, match="--validation-scores needs"):
        choosing.validation_set(None, FILE)


def test_a_comparison_is_of_critics_or_stored_or_of_votes():
    critic, other = NamedCritic(None, FILE, "Anna"), NamedCritic("embedded")
    new = chosen_comparison(critic, other, "gpt-4", keep_ratings=True)
    assert isinstance(new, NewComparison)
    assert new.first == CritiqueFile(path=FILE, name="Anna")
    assert new.second == WritingJudge(judge="embedded")
    assert new.keep_ratings
    assert chosen_comparison(NamedCritic(), run=FILE) == StoredRun(FILE)
    votes = chosen_comparison(NamedCritic(), judge="gpt-4", votes=FILE, language="zh")
    assert votes == Votes(path=FILE, protocol="critique-comparison-zh", judge="gpt-4")
    with pytest.raises(ConfigError, match="critiques to compare, or an existing comparison"):
        chosen_comparison(critic, run=FILE)
    with pytest.raises(ConfigError, match="which have both critics already"):
        chosen_comparison(NamedCritic(), other, run=FILE)
    for given in ({"orders": "both"}, {"votes": FILE}):
        first = NamedCritic() if "votes" in given else critic
        with pytest.raises(ConfigError, match="one vote per case"):
            chosen_comparison(first, judge="gpt-4", one_vote=True, **given)


def test_ratings_of_candidates_are_listed_judges_first():
    found = rating_sources("embedded, embedded-base", [FILE], "GPT-4", Path("out"))
    assert [type(each) for each in found] == [RatingJudge, RatingJudge, StoredRun, PublishedRatings]
    assert found[0].out == Path("out/embedded")
    assert rating_sources() == []
    grader = grading_judge("embedded", Path("out"))
    assert grader is not None
    assert grader.out == Path("out/grades")
    assert grading_judge(None) is None
    assert listed_sizes("8, 16") == [8, 16]
    with pytest.raises(ConfigError, match="whole numbers"):
        listed_sizes("8,many")


def test_ratings_of_models_and_critiques_have_one_source():
    rated = model_ratings("embedded", sample=3)
    assert isinstance(rated, RatedModels)
    assert (rated.spec.task, rated.sample) == ("rate", 3)
    assert model_ratings("no such judge", run=FILE) == StoredRun(FILE)
    assert model_ratings("no such judge", ratings=FILE) == MeanRatings(FILE)
    with pytest.raises(ConfigError, match="not both"):
        model_ratings("embedded", run=FILE, ratings=FILE)
    assert critique_source() is None
    assert critique_source(run=FILE) == StoredRun(FILE)
    judge = critique_source("embedded", protocol="single")
    assert isinstance(judge, CritiqueJudge)
    assert judge.settings.protocol == "single"
    with pytest.raises(ConfigError, match="give one of --judge and --run"):
        critique_source("embedded", FILE)
