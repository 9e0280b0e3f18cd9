"""`tasks.calibrate`: a calibration fitted to a run by one call that prints nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.judges import load_card
from autoj.records import Request
from autoj.runs import judge_run, make_spec, open_run
from autoj.tasks.calibrate import calibrate

from ..damage import without_digests
from ..scripted import CARD, Recorder
from ..watches import Notes


def by_words(request: Request) -> tuple[float, ...]:
    """A rating around the number of words."""
    n_words = request.messages[0].content.count("word")
    return tuple(-0.5 * (rating - n_words) ** 2 for rating in range(1, 11))


def pair(draw: random.Random, number: int) -> dict[str, object]:
    n_words = draw.randint(1, 9), draw.randint(1, 9)
    gap = 0.5 * (n_words[0] - n_words[1]) + draw.gauss(0, 1)
    return {
        "id": f"case-{number}",
        "query": f"Question {number}?",
        "responses": [" ".join(["word"] * n) for n in n_words],
        "label": "tie" if abs(gap) < 0.4 else "a" if gap > 0 else "b",
    }


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    draw = random.Random(3)
    write_records(tmp_path / "val.jsonl", [pair(draw, number) for number in range(120)])
    return tmp_path / "val.jsonl"


@pytest.fixture
def run(pairs: Path, tmp_path: Path) -> Path:
    spec = make_spec("judge", CARD, protocol="pairwise-by-rating")
    with open_run(tmp_path / "run", spec, open_cases(pairs)) as folder:
        judge_run(folder, spec, Recorder(by_words))
    return tmp_path / "run"


def test_the_fit_weights_ties_as_told_and_is_written_to_no_card(run, capsys):
    found = calibrate(run)
    assert found.fit.calibration.temperature > 0
    assert found.card is None
    assert found.as_json()["judge"] == "script"
    few, many = calibrate(run, tie_share=0.05), calibrate(run, tie_share=0.6)
    assert few.fit.calibration.tie < found.fit.calibration.tie < many.fit.calibration.tie
    assert calibrate(run, tie_share=None).fit != found.fit
    assert capsys.readouterr() == ("", "")


def test_the_calibration_is_put_into_the_card_that_is_named(run, tmp_path):
    card = tmp_path / "script.yaml"
    card.write_text(
        "title: A script\nbackend: scripted\nmodel: script\nwrapper: none\n"
        "protocols: [pairwise-by-rating]\ncontext_tokens: 4096\n"
    )
    found = calibrate(run, write=card)
    assert found.card == card
    assert load_card(str(card)).calibration["pairwise-by-rating"] == found.fit.calibration


def test_surface_is_learnt_from_other_queries_and_says_what_it_left_out(run, pairs, tmp_path):
    draw = random.Random(5)
    rows = [pair(draw, number) for number in range(110, 900)]
    write_records(tmp_path / "labelled.jsonl", rows)
    notes = Notes()
    found = calibrate(run, surface=tmp_path / "labelled.jsonl", watch=notes)
    assert found.fit.calibration.surface
    assert notes.messages == [
        f"10 rows of {tmp_path / 'labelled.jsonl'} ask a query of the run: left out"
    ]


def test_a_run_that_gives_no_preferences_of_both_orders_is_refused(pairs, run, tmp_path):
    spec = make_spec("judge", CARD, protocol="pairwise-verdict", orders="one")
    with open_run(tmp_path / "one", spec, open_cases(pairs)) as folder:
        judge_run(folder, spec, Recorder())
    with pytest.raises(ConfigError, match="one order"):
        calibrate(tmp_path / "one")
    with pytest.raises(ConfigError, match="expected a card's file"):
        calibrate(run, write=tmp_path / "no-card.txt")


def test_a_run_without_labels_or_not_finished_is_refused(tmp_path, run):
    rows = [{"query": "Which?", "responses": ["word", "word word"]}]
    write_records(tmp_path / "bare.jsonl", rows)
    spec = make_spec("judge", CARD, protocol="pairwise-by-rating")
    with open_run(tmp_path / "bare", spec, open_cases(tmp_path / "bare.jsonl")) as folder:
        judge_run(folder, spec, Recorder(by_words))
    with pytest.raises(DataError, match="has no labels"):
        calibrate(tmp_path / "bare")
    ledger = run / "ledger.jsonl"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:100]))
    with pytest.raises(DataError, match="100 lines, and run"):
        calibrate(run)
    without_digests(run)
    (run / "verdicts.jsonl").unlink()
    with pytest.raises(DataError, match="is not finished"):
        calibrate(run)
