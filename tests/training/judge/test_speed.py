"""The speed of a training, and the share of the peak that it is."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")

import torch

from autoj.backends._choices import ChoiceTrie, build_trie
from autoj.reports.train import report_lines, speed_words
from autoj.training.judge import speed
from autoj.training.judge.recipe import Recipe, Shape, Update
from autoj.training.judge.samples import Choice, Sample, Written, n_asked
from autoj.training.judge.scale import flops_per_token, shape_of
from autoj.training.judge.speed import Peak, Stopwatch, find_peak, product_flops, speed_of
from autoj.training.judge.train import Report

SHAPE = Shape(
    num_hidden_layers=4, hidden_size=64, intermediate_size=128, num_attention_heads=4,
    num_key_value_heads=2, vocab_size=1000, tie_word_embeddings=True,
)  # fmt: skip
LAYER = 2 * 64 * (64 + 32) + 3 * 64 * 128 + 2 * 64
PEAK = Peak(flops_per_second=1e9, is_measured=True)


def recipe_of(**fields: object) -> Recipe:
    objective = {"kind": "judgment", "protocol": "single"}
    given = {"title": "t", "base": {"judge": "x"}, "objectives": [objective], **fields}
    return Recipe.model_validate({"batch_samples": 2, "micro_batch_samples": 2, **given})


def written(n_tokens: int, n_prompt: int) -> Sample:
    sequence = ChoiceTrie(root=tuple(range(n_tokens)), tokens=(), parents=(), steps=())
    target = Written(n_prompt=n_prompt)
    return Sample(objective=0, case_id="w", sequences=(sequence,), target=target)


def test_operations_are_those_of_what_is_trained() -> None:
    def of(update: Update, **more: bool) -> float:
        recipe = recipe_of(update=update.model_dump(exclude_unset=True), **more)
        return flops_per_token(recipe, SHAPE, 0.0, projected=0.0)

    whole = of(Update(method="all"))
    assert whole == 6 * 4 * LAYER
    # Each layer is read, and the gradients of one alone are computed.
    assert of(Update(method="layers", top_layers=1)) == 2 * LAYER * (4 + 2)
    # Frozen matrices hand gradients on, and have none.
    assert of(Update(method="lora")) == 4 * 4 * LAYER
    assert of(Update(method="all"), gradient_checkpointing=True) == 8 * 4 * LAYER


def test_the_share_is_of_the_models_own_operations() -> None:
    recipe = recipe_of(update={"method": "all"}, gradient_checkpointing=True)
    samples = [written(10, 6), written(30, 20)]
    found = speed_of(recipe, samples, 2.0, SHAPE, PEAK)
    assert found.tokens_per_second == 20
    layers = 6 * 40 * 4 * LAYER
    # A token sees half of its sequence: 10 of 10 and 30 of 30 make 1,000 pairs of 40 tokens.
    attention = 3 * 4 * 2 * 64 * 1000
    head = 3 * 2 * 1000 * 64 * (4 + 10)
    assert found.peak_share == pytest.approx((layers + attention + head) / 2.0 / 1e9)


def test_choices_ask_for_a_few_positions() -> None:
    trie = build_trie([[7, 8, 1, 9], [7, 8, 2, 9], [7, 8, 3]])
    sample = Sample(objective=0, case_id="c", sequences=(trie,), target=Choice(weights=()))
    assert n_asked(sample) == 3
    assert n_asked(written(10, 6)) == 4


def test_the_first_step_warms_up_and_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 9.0, 10.0, 12.0, 20.0, 22.0])
    monkeypatch.setattr(speed.time, "monotonic", lambda: next(clock))
    samples = [written(n, 2) for n in (99, 99, 10, 20, 30, 40)]
    watch = Stopwatch(recipe_of(), samples)
    for step in (1, 2, 3):
        watch.begin()
        watch.end(step)
    found = watch.speed(None, PEAK)
    assert found is not None
    assert found.tokens_per_second == (10 + 20 + 30 + 40) / 4
    assert found.peak_share is None


def test_one_step_has_no_speed() -> None:
    watch = Stopwatch(recipe_of(), [written(9, 2)] * 2)
    watch.begin()
    watch.end(1)
    assert watch.speed(SHAPE, PEAK) is None


def test_a_peak_is_measured_or_as_the_recipe_says() -> None:
    assert product_flops("cpu", torch.float32, 64) > 0
    assert find_peak(recipe_of(peak_tflops=312), "cpu", halved=True) == Peak(
        flops_per_second=312e12, is_measured=False
    )


def test_a_report_says_where_its_peak_is_from() -> None:
    recipe = recipe_of(update={"method": "all"})
    found = speed_of(recipe, [written(1000, 900)], 1.0, SHAPE, PEAK)
    said = speed_words(found)
    assert said.startswith("1,000 tokens/s, ")
    assert "MFU; 0.001 TFLOP/s, measured here by a matrix product" in said
    given = Peak(flops_per_second=1e12, is_measured=False)
    assert "as given" in speed_words(speed_of(recipe, [written(9, 2)], 1.0, SHAPE, given))
    report = Report(folder=Path("out"), resumed_at=None, n_steps=3, best={}, speed=found)
    assert said in report_lines(report)


def test_a_configuration_of_another_family_has_no_shape() -> None:
    assert shape_of({"hidden_size": 64, "n_layer": 4}) is None
    assert shape_of([]) is None


@pytest.mark.parametrize("tf32", [False, True])
def test_the_peak_is_measured_in_the_precision_of_the_training(
    monkeypatch: pytest.MonkeyPatch, tf32: bool
) -> None:
    products = torch.backends.cuda.matmul
    before, seen = products.fp32_precision, []

    def product(device: str, dtype: object) -> float:
        seen.append(products.fp32_precision)
        return 1e12

    monkeypatch.setattr(speed, "product_flops", product)
    find_peak(recipe_of(tf32=tf32), "cuda", halved=False)
    assert seen == ["tf32" if tf32 else before]
    assert products.fp32_precision == before


def test_a_step_ends_when_the_gpu_has_done_it(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: done.append("waited"))
    watch = Stopwatch(recipe_of(), [written(9, 2)] * 2)
    watch.begin()
    watch.end(1)
    assert done == ["waited", "waited"]
