"""The benchmark of the engines: its rooflines, and that it runs where there is no GPU."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
pytest.importorskip("transformers", reason="the extra `hf` is not installed: no transformers")
pytest.importorskip("openvino_genai", reason="the extra `embedded` is not installed")

from benchmarks.engine_throughput import (
    LLAMA2_13B,
    TINY,
    Size,
    make_requests,
    random_backend,
    run_gpu,
)
from benchmarks.roofline import Machine, Shape, read_seconds, shape_of, write_seconds

# 13.0 billion weights without the embeddings that are looked up; 800 kB per token in bfloat16.
NEEDS = Shape(
    n_weights=12_852_024_320, weight_bytes=25_704_048_640, cache_bytes=819_200,
    attention_flops=819_200,
)  # fmt: skip
H100 = Machine(bytes_per_second=3e12, flops=600e12)


def test_the_roofline_of_an_h100_is_in_the_order_of_what_is_aimed_at() -> None:
    reading = read_seconds(NEEDS, H100, 700)
    assert reading == pytest.approx(700 * 25.7e9 / 600e12, rel=0.02)
    assert 60 / reading > 1_500
    writing = write_seconds(NEEDS, H100, 60, 700, 250)
    assert writing == pytest.approx(250 * (25.7e9 + 60 * 825 * 819_200) / 3e12, rel=0.01)
    assert 400 < 60 * 60 / (60 * reading + writing) < 800
    alone = write_seconds(NEEDS, H100, 1, 700, 250)
    assert alone == pytest.approx(250 * 26.4e9 / 3e12, rel=0.01)


def test_a_models_shape_is_counted() -> None:
    shape = shape_of(random_backend(TINY, "cpu")._model)
    width, inner, layers, vocabulary = 32, 64, 2, 512
    per_layer = 2 * width**2 + 2 * width * width // 2 + 3 * width * inner + 2 * width
    assert shape.n_weights == layers * per_layer + width + width * vocabulary
    assert shape.weight_bytes == 2 * shape.n_weights
    assert shape.cache_bytes == 2 * layers * 2 * 8 * 2
    assert set(TINY) == set(LLAMA2_13B)


def test_prompts_have_about_the_wanted_length_and_are_distinct() -> None:
    backend = random_backend(TINY, "cpu")
    size = Size(n_requests=5, prompt_tokens=400, new_tokens=3)
    requests = make_requests(backend, size, scored=False)
    lengths = {len(backend._encoder.prompt(request)) for request in requests}
    assert len({request.messages for request in requests}) == 5
    assert all(320 < length < 560 for length in lengths)
    assert len(lengths) > 1


def test_without_a_gpu_the_part_for_one_runs_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_gpu(Size(n_requests=3, prompt_tokens=60, new_tokens=4), n_alone=2, n_rounds=1, device="cpu")
    said = capsys.readouterr().out
    assert "This machine has no GPU" in said
    assert "RANDOM WEIGHTS" in said
    for title in ("critiques one at a time", "critiques in batches", "verdicts in batches"):
        assert f"| {title} |" in said
