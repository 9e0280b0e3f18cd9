"""`tasks.sureness`: a threshold of unsure verdicts fitted to a run, and written to its card."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from autoj.datasets import open_cases
from autoj.errors import ConfigError
from autoj.jsonl import write_records
from autoj.judges import load_card
from autoj.records import Calibration, Request
from autoj.runs import judge_run, make_spec, open_run
from autoj.tasks.sureness import fit_run_sureness

from ..scripted import CARD, Recorder

CARD_TEXT = (
    "# mine\ntitle: Mine\nbackend: scripted\nmodel: script\nwrapper: chatml\n"
    "protocols: [pairwise-verdict]\ncontext_tokens: 4096\n"
)


def by_words(request: Request) -> tuple[float, ...]:
    """Surer of the longer response the longer it is, whichever stands first."""
    first, second = request.messages[-1].content.split("[Response 1]")[1].split("[Response 2]")[:2]
    lead = first.split("[")[0].count("word") - second.split("[")[0].count("word")
    return 0.4 * lead, -0.4 * lead, -2.0


def pair(draw: random.Random, number: int) -> dict[str, object]:
    n_words = draw.randint(1, 9), draw.randint(1, 9)
    gap = 0.5 * (n_words[0] - n_words[1]) + draw.gauss(0, 1)
    # Some labels are wrong, whatever the judge is sure of.
    gap *= -1 if draw.random() < 0.08 else 1
    return {
        "id": f"case-{number}",
        "query": f"Question {number}?",
        "responses": [" ".join(["word"] * n) for n in n_words],
        "label": "a" if gap > 0 else "b",
    }


@pytest.fixture
def run(tmp_path: Path) -> Path:
    draw = random.Random(3)
    write_records(tmp_path / "val.jsonl", [pair(draw, number) for number in range(300)])
    spec = make_spec("judge", CARD)
    with open_run(tmp_path / "run", spec, open_cases(tmp_path / "val.jsonl")) as folder:
        judge_run(folder, spec, Recorder(by_words))
    return tmp_path / "run"


def test_what_is_sure_is_right_at_the_rate_and_held_out_about_so(run: Path) -> None:
    low, high = (fit_run_sureness(run, right=rate) for rate in (0.75, 0.84))
    for found, wanted in ((low, 0.75), (high, 0.84)):
        assert (found.right.value or 0) >= wanted
        assert found.held_out.high is not None
        assert found.held_out.high >= wanted
        assert (found.threshold.right, found.threshold.n) == (wanted, 300)
        assert found.threshold.fitted_on == "val.jsonl"
    assert low.threshold.below < high.threshold.below
    assert (low.coverage.value or 0) > (high.coverage.value or 0)
    assert (low.everywhere.value or 1) < 0.75
    assert low.as_json()["judge"] == "script"


def test_a_rate_that_nothing_reaches_is_refused(run: Path, tmp_path: Path) -> None:
    card = tmp_path / "mine.yaml"
    card.write_text(CARD_TEXT, "utf-8")
    with pytest.raises(ConfigError, match="no confidence reaches"):
        fit_run_sureness(run, right=0.999, write=card)
    assert card.read_text("utf-8") == CARD_TEXT


def test_the_threshold_is_written_to_the_card_and_marks(run: Path, tmp_path: Path) -> None:
    card = tmp_path / "mine.yaml"
    card.write_text(CARD_TEXT, "utf-8")
    found = fit_run_sureness(run, right=0.84, write=card)
    assert card.read_text("utf-8").startswith(CARD_TEXT)
    assert load_card(str(card)).unsure == {"pairwise-verdict": found.threshold}
    # A second fit replaces the first.
    again = fit_run_sureness(run, right=0.75, write=card)
    assert yaml.safe_load(card.read_text("utf-8"))["unsure"]["pairwise-verdict"]["right"] == 0.75
    assert load_card(str(card)).unsure == {"pairwise-verdict": again.threshold}


def test_a_card_with_another_calibration_is_refused(run: Path, tmp_path: Path) -> None:
    card = tmp_path / "mine.yaml"
    text = CARD_TEXT + "calibration:\n  pairwise-verdict: {temperature: 2.0, tie: 0.1}\n"
    card.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match="has another calibration"):
        fit_run_sureness(run, right=0.75, write=card)
    spec = make_spec(
        "judge",
        replace(CARD, calibration={"pairwise-verdict": Calibration(temperature=2.0, tie=0.1)}),
    )
    with open_run(run, spec, open_cases(tmp_path / "val.jsonl")) as folder:
        backend = Recorder(by_words)
        judge_run(folder, spec, backend)
    assert backend.asked == []
    assert fit_run_sureness(run, right=0.75, write=card).card == card
