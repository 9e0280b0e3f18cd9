"""Holds that a judge that version 0.1 trained is shown, judges under equal keys, and is exported.

`v0_1_judge/` is data and is never written anew. The first commit that could train wrote it:
`learnt` by `autoj train learnt.recipe.yaml --data learnt.jsonl --out learnt`, from the toy of
random weights in `toy/`, and `taught` by `autoj judge learnt.jsonl --judge learnt --out taught`.
Locks, the picture of the curve, and checkpoints, which a finished judge does not need, are left
out.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from tests.frozen.harness import HERE, compare, prepare, run, transcript, written

FOLDERS = HERE / "v0_1_judge"
MISSING = [
    name for name in ("torch", "transformers", "peft") if importlib.util.find_spec(name) is None
]
needs_engine = pytest.mark.skipif(
    bool(MISSING), reason=f"the extra `train` is not installed: no {', '.join(MISSING)}"
)


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """The working folder: a copy of the judge, its data and its run."""
    prepare(monkeypatch, tmp_path, FOLDERS)
    return tmp_path


def answers(path: Path) -> dict[str, list[float]]:
    """The log-probabilities of a run's choices by key."""
    rows = map(json.loads, (path / "ledger.jsonl").read_bytes().splitlines())
    return {row["key"]: row["choice_logprobs"] for row in rows}


def near(expected: dict[str, list[float]]) -> dict[str, object]:
    """The same log-probabilities, as another processor may compute them."""
    return {key: pytest.approx(values, abs=1e-3) for key, values in expected.items()}


def test_the_judge_and_its_run_are_shown_as_ever(folder):
    commands = [
        "autoj judges show learnt", "autoj judges show learnt --json",
        "autoj show taught", "autoj show taught --json", "autoj show taught pair-0",
    ]  # fmt: skip
    found = {"transcript.txt": transcript(commands, folder)}
    compare(found, HERE / "expected" / "v0_1_judge")
    assert written(folder, FOLDERS) == {}


def test_its_finished_run_needs_no_engine_and_keeps_its_answers(folder):
    code, _, err = run("autoj judge learnt.jsonl --judge learnt --out taught")
    assert code == 0
    assert "no new requests were needed" in err
    for name in ("cases.jsonl", "plan.jsonl", "ledger.jsonl"):
        assert (folder / "taught" / name).read_bytes() == (FOLDERS / "taught" / name).read_bytes()


@needs_engine
@pytest.mark.filterwarnings("ignore")
def test_it_judges_under_equal_keys_and_merges_with_what_it_judged_then(folder):
    code, _, err = run("autoj judge learnt.jsonl --judge learnt --out now")
    assert code == 0, err
    assert answers(folder / "now") == near(answers(FOLDERS / "taught"))
    assert run("autoj merge taught now --out both")[0] == 0
    # Where both have an answer, the first run's is kept.
    assert answers(folder / "both") == answers(FOLDERS / "taught")


@needs_engine
@pytest.mark.filterwarnings("ignore")
def test_it_is_exported_and_the_export_judges_like_it(folder):
    code, _, err = run("autoj export-model learnt --format merged --out merged")
    assert code == 0, err
    assert (folder / "merged" / "README.md").is_file()
    code, _, err = run("autoj judge learnt.jsonl --judge merged --out by-merged")
    assert code == 0, err
    # Other weights, so other keys; the same prompts in the same order, so the same answers.
    plans = [
        [json.loads(line)["key"] for line in (place / "plan.jsonl").read_bytes().splitlines()]
        for place in (FOLDERS / "taught", folder / "by-merged")
    ]
    before, now = answers(FOLDERS / "taught"), answers(folder / "by-merged")
    assert set(before).isdisjoint(now)
    for old, new in zip(*plans, strict=True):
        assert now[new] == pytest.approx(before[old], abs=1e-2)


@needs_engine
@pytest.mark.filterwarnings("ignore")
def test_its_training_is_found_done_and_is_not_begun_anew(folder):
    code, _, err = run("autoj train learnt.recipe.yaml --data learnt.jsonl --out learnt")
    assert code == 0, err
    assert {
        path: text for path, text in written(folder, FOLDERS).items() if "lock" not in path
    } == {}
