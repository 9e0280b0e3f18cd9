"""A rating head is fitted to what people chose, by states that are read once."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("safetensors")

from benchmarks.rating_head import Pairs, figures, fit, load_pairs, main

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
    )


def test_a_head_finds_what_decides() -> None:
    votes, right, held = (drawn(n, 1.5, seed) for seed, n in enumerate((300, 100, 400)))
    head = fit(votes, right, share_right=0.3, penalty=0.01)
    assert np.argmax(np.abs(head.weight)) == 2
    before, after = figures(held, None), figures(held, head)
    assert before["accuracy"] < 0.6
    assert after["accuracy"] > 0.75
    assert after["log_loss"] < before["log_loss"]
    # The scale stays where it is.
    assert after["mean"] == pytest.approx(before["mean"], abs=0.4)


def test_a_head_leaves_the_scale_as_wide_as_it_was() -> None:
    votes, right = drawn(300, 1.5, 0), drawn(100, 1.5, 1)
    head = fit(votes, right, share_right=0.3, penalty=3.0)
    wide = figures(votes, None)["sd"]
    assert figures(votes, head)["sd"] == pytest.approx(wide, rel=1e-3)
    assert abs(figures(votes, replace(head, sharpness=1.0))["sd"] - wide) > 0.05


def test_a_head_of_noise_is_small_where_it_is_penalised() -> None:
    votes, right = drawn(300, 0.0, 0), drawn(100, 0.0, 1)
    free = fit(votes, right, share_right=0.3, penalty=0.001)
    bound = fit(votes, right, share_right=0.3, penalty=100.0)
    assert np.abs(bound.weight).max() < np.abs(free.weight).max() / 20


def test_pairs_are_read_once_and_no_others_are_taken_for_them(
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

    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["rating_head", *words])
        main()
        return capsys.readouterr().out

    read = ("read", str(data), "--judge", f"embedded:{weights}", "--out", str(states))
    assert "votes.0.npz: 6 responses" in run(*read)
    assert run(*read) == ""
    pairs = load_pairs(states, "votes")
    assert (len(pairs), pairs.states.shape[-1]) == (3, toy_llama.HIDDEN)
    # The winner is first: "a" once, and "b" twice.
    assert pairs.n_characters[0, 0] < pairs.n_characters[0, 1]
    assert pairs.n_characters[1, 0] > pairs.n_characters[1, 1]
    names = ("--votes", "votes", "--right", "votes", "--states", str(states))
    adapter = toy_llama.write_adapter(tmp_path / "adapter", sha256) / "adapter_model.safetensors"
    before = read_adapter(adapter.parent, revision=None, base_sha256=sha256, judge="ours")
    told = run("fit", *names, "--into", str(adapter)).splitlines()
    assert told[1].startswith("votes with, which it was fitted to (3): accuracy")
    after = read_adapter(adapter.parent, revision=told[-1], base_sha256=sha256, judge="ours")
    head = fit(pairs, pairs, share_right=0.3, penalty=30.0)
    assert after.rating_head is not None
    assert after.rating_head.weight == pytest.approx(head.weight, abs=1e-6)
    assert after.rating_head.bias == pytest.approx(head.bias, abs=1e-6)
    assert after.rating_head.sharpness == pytest.approx(head.sharpness, rel=1e-6)
    assert after.digest == before.digest
    assert len(load_pairs(states, "votes", "votes")) == 6
    # Neither another file whose name begins so, nor what a killed reading left.
    shutil.copy(states / "votes.0.npz", states / "votes.more.0.npz")
    (states / "draft.npz").write_bytes(b"")
    assert len(load_pairs(states, "votes")) == 3
    data.write_text(data.read_text() + "\n")
    with pytest.raises(ConfigError, match="of another judge, or of another votes"):
        run(*read)
    with pytest.raises(FileNotFoundError, match="nothing of others was read"):
        load_pairs(states, "others")
