"""Heads are fitted to states that are read once."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the extra `bench` is not installed: no scikit-learn")
pytest.importorskip("safetensors")

from benchmarks.heads import comparisons, ratings
from benchmarks.heads.__main__ import main
from benchmarks.heads.reading import Pairs, load_pairs

from autoj.backends._adapters import read_adapter
from autoj.errors import ConfigError
from tests.backends import toy_llama


def drawn(n: int, liked: float, seed: int) -> Pairs:
    """Pairs whose ratings are noise, and whose winner is mostly further along the third number."""
    random = np.random.default_rng(seed)
    states = random.normal(3.0, 1.0, (n, 2, 5))
    states[:, 0, 2] += liked
    return Pairs(
        states=states,
        logprobs=random.normal(-2.0, 1.0, (n, 2, 10)),
        n_characters=random.integers(1, 99, (n, 2)).astype(float),
        labels=np.zeros(n, int),
    )


def test_a_head_for_ratings_finds_what_decides() -> None:
    votes, right, held = (drawn(n, 1.5, seed) for seed, n in enumerate((300, 100, 400)))
    head = ratings.fit(votes, right, share_right=0.3, penalty=0.01)
    assert np.argmax(np.abs(head.weight)) == 2
    before, after = ratings.figures(held, None), ratings.figures(held, head)
    assert before["accuracy"] < 0.6
    assert after["accuracy"] > 0.75
    assert after["log_loss"] < before["log_loss"]
    # The scale stays where it is.
    assert after["mean"] == pytest.approx(before["mean"], abs=0.4)


def test_a_head_leaves_the_scale_as_wide_as_it_was() -> None:
    votes, right = drawn(300, 1.5, 0), drawn(100, 1.5, 1)
    head = ratings.fit(votes, right, share_right=0.3, penalty=3.0)
    wide = ratings.figures(votes, None)["sd"]
    assert ratings.figures(votes, head)["sd"] == pytest.approx(wide, rel=1e-3)
    assert abs(ratings.figures(votes, replace(head, sharpness=1.0))["sd"] - wide) > 0.05


def test_a_head_of_noise_is_small_where_it_is_penalised() -> None:
    votes, right = drawn(300, 0.0, 0), drawn(100, 0.0, 1)
    free = ratings.fit(votes, right, share_right=0.3, penalty=0.001)
    bound = ratings.fit(votes, right, share_right=0.3, penalty=100.0)
    assert np.abs(bound.weight).max() < np.abs(free.weight).max() / 20


def compared(n: int, seed: int, *, noted: float = 1.0) -> Pairs:
    """Pairs whose verdict is half the better response's and half the place's.

    The third number of each state notes the preference for the place, the fourth the content.
    """
    random = np.random.default_rng(seed)
    place, content = random.normal(0.5, 1.0, n), random.normal(0.0, 1.0, n)
    log_odds = np.stack([place + content, place - content], axis=1)
    states = random.normal(3.0, 1.0, (n, 2, 6))
    states[:, :, 2] += 5 * noted * place[:, None]
    states[:, 0, 3] += content
    states[:, 1, 3] -= content
    zeros = np.zeros((n, 2))
    return Pairs(
        states=states,
        logprobs=np.stack([log_odds / 2, -log_odds / 2, zeros - 3], axis=-1),
        n_characters=random.integers(1, 99, (n, 2)).astype(float),
        labels=(content + random.normal(0.0, 0.5, n) < 0).astype(int),
    )


def test_a_head_for_comparisons_takes_the_preference_for_a_place_away() -> None:
    fitted = comparisons.fit(compared(200, 0), penalty=1.0)
    held = compared(400, 1)
    before = comparisons.figures(held.logprobs, held)
    after = comparisons.figures(fitted.head.apply(held.logprobs, held.states), held)
    assert np.argmax(np.abs(fitted.head.weight)) == 2
    assert before["place"] > 0.9
    assert after["place"] < 0.3
    assert before["consistency"] < 0.7
    assert after["consistency"] > 0.85
    assert after["agreement"] > before["agreement"] + 0.1
    # What both orders say together does not change.
    together = "decided_averaged_right"
    assert after[together] == pytest.approx(before[together], abs=0.02)


def test_a_head_for_comparisons_leaves_verdicts_as_far_apart_as_they_were() -> None:
    # Where a state notes the log-odds themselves, what is said of the place takes content along.
    pairs = compared(400, 0, noted=0.0)
    log_odds = pairs.logprobs[..., 0] - pairs.logprobs[..., 1]
    states = pairs.states.copy()
    states[..., 2] = log_odds
    pairs = replace(pairs, states=states)
    fitted = comparisons.fit(pairs, penalty=1.0)
    wide = comparisons.figures(pairs.logprobs, pairs)["spread"]
    assert comparisons.figures(fitted.held_out, pairs)["spread"] == pytest.approx(wide)
    blunt = replace(fitted.head, sharpness=1.0).apply(pairs.logprobs, pairs.states)
    assert comparisons.figures(blunt, pairs)["spread"] < 0.8 * wide
    sharp = fitted.head.apply(pairs.logprobs, pairs.states)
    assert comparisons.figures(sharp, pairs)["spread"] == pytest.approx(wide, rel=0.05)


def test_a_head_for_comparisons_is_held_out_from_the_pairs_that_it_is_told_for() -> None:
    # States that note nothing but their pair: a head that had seen it in one order knew the other.
    noise = compared(100, 0, noted=0.0)
    of_pair = np.random.default_rng(1).normal(0.0, 3.0, (100, 1, 400)).repeat(2, axis=1)
    noise = replace(noise, states=np.concatenate([noise.states, of_pair], axis=-1))
    fitted = comparisons.fit(noise, penalty=1e-3)
    held_out = comparisons.figures(fitted.held_out, noise)["place"]
    seen = comparisons.figures(fitted.head.apply(noise.logprobs, noise.states), noise)["place"]
    assert seen < 0.2
    assert held_out > 0.8


def test_both_orders_agree_on_what_they_call_the_same_responses() -> None:
    first, second, tie = [0.0, -1, -2], [-1.0, 0, -2], [-1.0, -2, 0]
    pairs = replace(
        compared(4, 0),
        labels=np.array([0, 0, 2, 1]),
        n_characters=np.array([[9.0, 1], [1, 9], [1, 9], [1, 9]]),
    )
    scores = np.array([[first, second], [first, first], [tie, tie], [tie, second]])
    found = comparisons.figures(scores, pairs)
    assert (found["n"], found["decided"], found["ties"]) == (4, 3, 3 / 8)
    assert (found["consistency"], found["agreement"]) == (0.5, 0.5)
    # Right: both orders of the first and of the tie, one of the second.
    assert found["one_order_right"] == 5 / 8


def test_the_winner_is_read_before_the_loser_and_ties_are_left_out() -> None:
    pairs = replace(
        drawn(3, 0.0, 0),
        labels=np.array([1, 2, 0]),
        n_characters=np.array([[1.0, 2], [3, 4], [5, 6]]),
    )
    decided = pairs.winners_first()
    assert decided.n_characters.tolist() == [[2, 1], [5, 6]]
    assert decided.states[0].tolist() == pairs.states[0, ::-1].tolist()
    assert decided.logprobs[1].tolist() == pairs.logprobs[2].tolist()


def test_pairs_are_read_once_and_no_others_are_taken_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("openvino_genai")
    pytest.importorskip("torch", reason="adapters are rewritten by the extra `hf`")
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    weights = tmp_path / "model.gguf"
    sha256 = toy_llama.write_llama(weights, toy_llama.random_weights(), marks=toy_llama.CHAT_MARKS)
    rows = [
        {
            "id": str(number),
            "query": f"Hi {number}?",
            "responses": ["Yes.", "No, no."],
            "label": label,
        }
        for number, label in enumerate(["a", "b", "tie", "b"])
    ]
    data, states = tmp_path / "votes.jsonl", tmp_path / "states"
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["heads", *words])
        main()
        return capsys.readouterr().out

    for question in ("ratings", "comparisons"):
        read = ("read", question, str(data), "--judge", f"embedded:{weights}", "--out", str(states))
        n_pairs = {"ratings": 3, "comparisons": 4}[question]
        assert f"votes.{question}.00000.npz: {n_pairs} pairs" in run(*read)
        assert run(*read) == ""
    both = load_pairs(states, "comparisons", "votes")
    assert (both.labels.tolist(), both.logprobs.shape) == ([0, 1, 2, 1], (4, 2, 3))
    pairs = load_pairs(states, "ratings", "votes").winners_first()
    assert (len(pairs), pairs.states.shape[-1]) == (3, toy_llama.HIDDEN)
    assert pairs.n_characters.tolist() == [[4, 7], [7, 4], [7, 4]]
    adapter = toy_llama.write_adapter(tmp_path / "adapter", sha256) / "adapter_model.safetensors"
    before = read_adapter(adapter.parent, revision=None, base_sha256=sha256, judge="ours")
    into = ("--states", str(states), "--into", str(adapter))
    told = run("ratings", "--votes", "votes", "--right", "votes", *into).splitlines()
    assert told[1].startswith("votes with, which it was fitted to (3): accuracy")
    told = run("comparisons", "--pairs", "votes", "--validation", "votes", *into).splitlines()
    assert told[1].startswith("... held out in ten parts (4): decided 3.000 place ")
    after = read_adapter(adapter.parent, revision=told[-1], base_sha256=sha256, judge="ours")
    wanted = {
        "rating": ratings.fit(pairs, pairs, share_right=0.3, penalty=30.0),
        "comparison": comparisons.fit(both, penalty=3000.0).head,
    }
    for kind, head in wanted.items():
        found = getattr(after.heads, kind)
        assert found.weight == pytest.approx(head.weight, abs=1e-6)
        assert found.bias == pytest.approx(head.bias, abs=1e-6)
        assert found.sharpness == pytest.approx(head.sharpness, rel=1e-6)
    assert after.digest == before.digest
    assert len(load_pairs(states, "comparisons", "votes", "votes")) == 8
    # Neither another file whose name begins so, nor what a killed reading left.
    shutil.copy(states / "votes.ratings.00000.npz", states / "votes.more.ratings.00000.npz")
    (states / "draft.npz").write_bytes(b"")
    assert len(load_pairs(states, "ratings", "votes")) == 3
    data.write_text(data.read_text() + "\n")
    with pytest.raises(ConfigError, match="of another judge, or of another votes"):
        run(*read)
    with pytest.raises(FileNotFoundError, match="no ratings of others were read"):
        load_pairs(states, "ratings", "others")
