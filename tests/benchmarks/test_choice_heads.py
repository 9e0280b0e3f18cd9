"""Choice heads are fitted to what people chose, by states that are read once."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("safetensors")

from benchmarks.choice_heads import comparisons, ratings
from benchmarks.choice_heads.__main__ import main
from benchmarks.choice_heads.comparisons import Fitting
from benchmarks.choice_heads.ratings import Pairs
from benchmarks.choice_heads.reading import Read, joined, load_read

from autoj.backends._adapters import read_adapter
from autoj.backends._choice_heads import QUESTIONS
from autoj.errors import ConfigError
from tests.backends import toy_llama


def rated(n: int, liked: float, seed: int) -> Pairs:
    """Pairs whose ratings are noise, and whose winner is mostly further along the third number."""
    random = np.random.default_rng(seed)
    states = random.normal(3.0, 1.0, (n, 2, 5))
    states[:, 0, 2] += liked
    return Pairs(
        states=states,
        logprobs=random.normal(-2.0, 1.0, (n, 2, 10)),
        n_characters=random.integers(1, 99, (n, 2)).astype(float),
    )


def test_a_head_finds_what_decides_ratings() -> None:
    votes, right, held = (rated(n, 1.5, seed) for seed, n in enumerate((300, 100, 400)))
    weight, bias = ratings.fit(votes, right, share_right=0.3, penalty=0.01)
    assert np.argmax(np.abs(weight)) == 2
    before = ratings.figures(held, np.zeros(5), 0.0)
    after = ratings.figures(held, weight, bias)
    assert before["accuracy"] < 0.6
    assert after["accuracy"] > 0.75
    assert after["log_loss"] < before["log_loss"]
    # The mean state does not move, so the scale stays where it is.
    assert after["mean"] == pytest.approx(before["mean"], abs=0.4)


def test_a_head_of_noise_is_small_where_it_is_penalised() -> None:
    votes, right = rated(300, 0.0, 0), rated(100, 0.0, 1)
    free, _ = ratings.fit(votes, right, share_right=0.3, penalty=0.001)
    bound, _ = ratings.fit(votes, right, share_right=0.3, penalty=100.0)
    assert np.abs(bound).max() < np.abs(free).max() / 20


def compared(n: int, seed: int) -> Read:
    """Pairs of a judge that prefers the first and never ties; its state knows both better."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, n)
    better = np.where(labels == 2, 0.0, 1.0 - 2.0 * labels)
    states = random.normal(0.0, 0.5, (n, 2, 4)) + 2.0
    states[:, 0, 1] += better
    states[:, 1, 1] -= better
    states[:, :, 3] += 3.0 * (labels == 2)[:, None]
    return Read(
        states=states,
        logprobs=np.tile([-0.2, -1.9, -4.0], (n, 2, 1)),
        labels=labels,
        n_characters=random.integers(1, 99, (n, 2)).astype(float),
    )


def test_a_head_for_comparisons_finds_order_side_and_ties() -> None:
    votes, right, held = (compared(n, seed) for seed, n in enumerate((300, 100, 400)))
    settings = Fitting(share_right=0.3, penalties=(1.0, 1.0), share_ties=0.3)
    weight, bias = comparisons.fit(votes, right, settings)
    before = comparisons.figures(held)
    after = comparisons.figures(comparisons.moved(held, weight, bias))
    assert (before["agreement"], before["consistency"], before["ties"]) == (0.0, 0.0, 0.0)
    assert after["agreement"] > 0.75
    assert after["decided"] > 0.9
    assert after["log_loss"] < before["log_loss"] - 0.3
    # What the response in front has, and what both of a tie have.
    assert np.abs(weight).argmax(1).tolist() == [1, 3]
    # Nothing is learnt but the biases where directions cost too much.
    bound, free = comparisons.fit(votes, right, replace(settings, penalties=(1e9, 1e9)))
    assert np.abs(bound).max() < 1e-5
    assert free[0] < -1.0
    assert free[1] > 0.5
    # More ties are named where they weigh more.
    ties = [
        comparisons.figures(
            comparisons.moved(held, *comparisons.fit(votes, right, replace(settings, share_ties=x)))
        )["ties"]
        for x in (0.1, 0.3, 0.6)
    ]
    assert ties == sorted(set(ties))


def test_what_is_held_out_is_scored_by_a_head_that_never_saw_it() -> None:
    votes, right = compared(120, 0), compared(40, 1)
    # Directions at random: what is learnt by heart is worth nothing on other pairs.
    noise = np.random.default_rng(3).normal(size=(160, 2, 400))
    votes, right = replace(votes, states=noise[:120]), replace(right, states=noise[120:])
    settings = Fitting(share_right=0.3, penalties=(0.1, 0.1), share_ties=0.3)
    by_heart = comparisons.moved(votes, *comparisons.fit(votes, right, settings))
    scored, others = comparisons.held_out(votes, right, settings)
    assert comparisons.figures(by_heart)["decided"] > 0.9
    assert comparisons.figures(scored)["decided"] < 0.65
    assert len(others) == 40
    assert not np.array_equal(scored.logprobs, votes.logprobs)


def test_a_card_is_told_from_which_confidence_on_verdicts_are_right() -> None:
    pairs = compared(300, 0)
    logprobs = np.log(np.full((300, 2, 3), 0.1))
    sure = np.arange(300) < 150
    rows = np.arange(300)
    logprobs[rows[sure], 0, pairs.labels[sure]] = np.log(0.8)
    logprobs[rows[sure], 1, np.array([1, 0, 2])[pairs.labels[sure]]] = np.log(0.8)
    found = comparisons.sureness(replace(pairs, logprobs=logprobs), 0.8)
    assert found.startswith("sure from 0.8 on: 0.500 of 300, right 1.000")


def test_what_is_shown_second_is_b_in_one_order_and_a_in_the_other() -> None:
    pairs = compared(2, 0)
    found = comparisons.chances(pairs)
    assert found[0, 0, 0] > found[0, 0, 1]
    assert found[0, 1, 0] < found[0, 1, 1]
    assert found.sum(-1) == pytest.approx(np.ones((2, 2)))


def test_states_are_read_once_fitted_and_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("openvino_genai")
    pytest.importorskip("torch", reason="adapters are rewritten by the extra `hf`")
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    weights = tmp_path / "model.gguf"
    sha256 = toy_llama.write_llama(weights, toy_llama.random_weights(), marks=toy_llama.CHAT_MARKS)
    rows = [
        {"id": str(number), "query": "Hi?", "responses": ["Yes.", "No, no."], "label": label}
        for number, label in enumerate(["a", "b", "tie", "b"])
    ]
    data, states = tmp_path / "votes.jsonl", tmp_path / "states"
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def run(*words: Any) -> str:
        monkeypatch.setattr(sys, "argv", ["choice_heads", *map(str, words)])
        main()
        return capsys.readouterr().out

    heads = []
    for asked in ("rating", "comparison"):
        read = ("read", asked, data, "--judge", f"embedded:{weights}", "--out", states)
        assert f"{asked}.votes.0.npz: 4 pairs" in run(*read)
        assert run(*read) == ""
        names = ("--votes", "votes", "--right", "votes", "--states", states)
        heads.append(tmp_path / f"{asked}.safetensors")
        assert "votes with" in run("fit", asked, *names, "--out", heads[-1])
    pairs = load_read(states, "rating", "votes")
    assert pairs.states.shape == (4, 2, toy_llama.HIDDEN)
    assert pairs.labels.tolist() == [0, 1, 2, 1]
    # The winner is first: "a" once, and "b" twice.
    assert ratings.decided(pairs).n_characters.tolist() == [[4, 7], [7, 4], [7, 4]]
    # Neither another file whose name begins so, nor what a killed reading left.
    shutil.copy(states / "rating.votes.0.npz", states / "rating.votes.more.0.npz")
    (states / "draft.npz").write_bytes(b"")
    assert len(load_read(states, "rating", "votes")) == 4
    assert len(joined([pairs, pairs])) == 8
    adapter = toy_llama.write_adapter(tmp_path / "adapter", sha256) / "adapter_model.safetensors"
    before = read_adapter(adapter.parent, revision=None, base_sha256=sha256, judge="ours")
    run("add", heads[0], "--adapter", adapter)
    revision = run("add", *heads, "--adapter", adapter).strip()
    after = read_adapter(adapter.parent, revision=revision, base_sha256=sha256, judge="ours")
    assert after.modules.keys() == before.modules.keys()
    for question in QUESTIONS.values():
        assert after.choice_heads.of(question.prefix, question.choices) is not None
    data.write_text(data.read_text() + "\n")
    with pytest.raises(ConfigError, match="of another judge, or of another votes"):
        run("read", "rating", data, "--judge", f"embedded:{weights}", "--out", states)
    with pytest.raises(FileNotFoundError, match="no rating of others was read"):
        load_read(states, "rating", "others")
