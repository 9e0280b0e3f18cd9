"""Trivial judges on a leaderboard: computed on the data, or said to be missing."""

from __future__ import annotations

import pytest

from autoj.bench.eval_c.files import Critiques
from autoj.bench.leaderboard.baseline_rows import (
    longer_critique_row,
    longest_in_hindsight,
    pair_baselines,
)
from autoj.bench.leaderboard.boards import board
from autoj.records import Case, Estimate, Response, normalise_query

from .boards import by_judge, nowhere, place_eval_p, values


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch, tmp_path):
    nowhere(monkeypatch, tmp_path)


@pytest.fixture
def eval_p_file(monkeypatch, tmp_path):
    return place_eval_p(monkeypatch, tmp_path)


def pair(number, label, first="short", second="quite a bit longer", scenario="planning"):
    query = f"Question {number}?"
    return Case(
        id=f"case-{number}",
        query=query,
        cluster=normalise_query(query),
        responses=(Response(text=first), Response(text=second)),
        label=label,
        scenario=scenario,
    )


def test_trivial_judges_are_computed_on_the_data(eval_p_file):
    baseline = by_judge(board("eval-p"), "trivial")
    assert list(baseline) == [
        "longest, best tie band",
        "longest",
        "majority",
        "random",
        "first",
    ] or (set(baseline) == {"longest, best tie band", "longest", "majority", "random", "first"})
    assert values(baseline["longest"], "accuracy", "agreement", "consistency") == (
        pytest.approx(40 / 60),
        pytest.approx(40 / 60),
        1.0,
    )
    assert values(baseline["first"], "accuracy", "agreement") == (pytest.approx(20 / 60), 0.0)
    assert values(baseline["majority"], "agreement") == (pytest.approx(40 / 60),)
    longest = baseline["longest"].figures["agreement"]
    assert isinstance(longest, Estimate)
    assert longest.low < longest.value < longest.high


def test_without_the_data_it_says_so_and_how_to_get_it():
    found = board("eval-p")
    assert not by_judge(found, "trivial")
    (message,) = found.messages
    assert "autoj data get eval-p" in message
    assert by_judge(found, "published")


def test_hindsight_finds_the_band_that_fits_the_labels_and_says_in_sample():
    near = [pair(n, "tie", "x" * 100, "y" * 95) for n in range(5)]
    far = [pair(n, "b", "x" * 50, "y" * 100) for n in range(5, 9)]
    row = longest_in_hindsight([*near, *far])
    assert row.in_sample
    assert values(row, "accuracy", "agreement", "averaged accuracy") == (1.0, 1.0, 1.0)
    assert "at most 5% of the longer" in row.notes[0]
    assert "in-sample" in row.notes[0]
    plain = next(other for other in pair_baselines([*near, *far]) if other.judge == "longest")
    assert not plain.in_sample
    assert values(plain, "accuracy") == (pytest.approx(4 / 9),)
    assert "100.0%" in plain.notes[1]


def test_eval_p_itself(monkeypatch, data_folder):
    monkeypatch.setenv("AUTOJ_DATA", str(data_folder))
    baseline = by_judge(board("eval-p", breakdown="group"), "trivial")
    longest, hindsight = baseline["longest"], baseline["longest, best tie band"]
    assert round(longest.figures["accuracy"].value * 100, 2) == 53.02
    assert round(hindsight.figures["accuracy"].value * 100, 2) == 53.74
    assert "6% of the longer" in hindsight.notes[0]
    assert longest.notes[1] == "right on 71.4% of the pairs not labelled a tie"
    assert round(baseline["majority"].figures["agreement"].value * 1392) == 520
    assert len(longest.parts["group"]) == 8
    assert next(iter(longest.parts["group"])) == "Summarization"


def test_the_longer_critique_wins_without_its_rating():
    cases = [pair(n, None) for n in range(4)]
    first = Critiques(critic="x", texts=("long one\n\nRating: [[3]]", "aa", None, "b"), source="")
    second = Critiques(
        critic="y", texts=("long on\n\nRating: [[10]]", "bb", "c", "bbbb"), source=""
    )
    row = longer_critique_row(first, second, cases)
    assert values(row, "win", "tie", "lose") == tuple(pytest.approx(1 / 3) for _ in range(3))
    assert row.figures["win"].n_unscored == 1


def test_on_eval_c_length_alone_prefers_auto_j(monkeypatch, data_folder):
    monkeypatch.setenv("AUTOJ_DATA", str(data_folder))
    baseline = by_judge(board("eval-c"), "trivial")
    assert values(baseline["autoj"], "win") == (pytest.approx(221 / 232),)
