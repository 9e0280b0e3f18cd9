"""Losses of a batch at once: those of `trainer.learn`, and their gradients."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")

import torch
from benchmarks.gpu.losses import learn, score

from autoj.backends._choices import ChoiceTrie, build_trie
from autoj.backends.hf.scoring import choice_logprobs
from autoj.errors import ConfigError
from autoj.training.judge import trainer
from autoj.training.judge.recipe import Objective
from autoj.training.judge.rows import ComparedResponses
from autoj.training.judge.samples import Choice, Compared, Sample, Written

from ...tiny_llama import make_model

OBJECTIVES = [
    Objective(kind="decision", protocol="pairwise-verdict"),
    Objective(kind="judgment", protocol="pairwise", weight=0.5),
    Objective(
        kind="preference", protocol="pairwise-by-rating", temperature=2.0, tie=0.3,
        label_smoothing=0.1, tie_weight=2.0,
    ),
    Objective(kind="preference", protocol="pairwise-by-rating", tie=0.0),
]  # fmt: skip


@pytest.fixture(scope="module")
def model() -> Any:
    return make_model("Qwen2")


def prompt(random: Random, n_tokens: int) -> list[int]:
    return [random.randrange(3, 340) for _ in range(n_tokens)]


def written(random: Random, n_prompt: int, n_tokens: int) -> Sample:
    root = tuple(prompt(random, n_tokens))
    sequence = ChoiceTrie(root=root, tokens=(), parents=(), steps=())
    return Sample(
        objective=1, case_id="w", sequences=(sequence,), target=Written(n_prompt=n_prompt)
    )


def chosen(random: Random, weights: tuple[float, ...]) -> Sample:
    root = prompt(random, random.randint(4, 30))
    # "Response 1" and "Response 2" share a token below the root, "Tie" does not.
    tails = [[7, 8, 9], [7, 8, 11], [12, 9], [13, 14, 15]][: len(weights)]
    trie = build_trie([[*root, *tail] for tail in tails])
    return Sample(objective=0, case_id="c", sequences=(trie,), target=Choice(weights=weights))


def compared(random: Random, objective: int, comparisons: list[ComparedResponses]) -> Sample:
    n = 1 + max(max(one.first, one.second) for one in comparisons)
    ratings = [[20 + rating, 40] for rating in range(1, 10)] + [
        [21, 30, 40]
    ]  # "10" begins with "1"
    tries = tuple(
        build_trie([[*root, *tail] for tail in ratings])
        for root in (prompt(random, random.randint(4, 30)) for _ in range(n))
    )
    target = Compared(comparisons=tuple(comparisons))
    return Sample(objective=objective, case_id="p", sequences=tries, target=target)


def batch() -> list[Sample]:
    random = Random(3)
    first = ComparedResponses(first=0, second=1, shares=(1.0, 0.0, 0.0))
    split = ComparedResponses(first=2, second=1, shares=(0.5, 0.2, 0.3))
    tie = ComparedResponses(first=0, second=1, shares=(0.0, 0.0, 1.0))
    return [
        compared(random, 2, [first, split]),
        chosen(random, (0.97, 0.015, 0.015)),
        written(random, 5, 19),
        compared(random, 2, [tie]),
        chosen(random, (0.1, 0.2, 0.3, 0.4)),
        compared(random, 3, [tie, first]),
        written(random, 11, 13),
    ]


def gradients(model: Any, loss: Any) -> list[Any]:
    model.zero_grad()
    loss.backward()
    return [one.grad.clone() for one in model.parameters() if one.grad is not None]


@pytest.mark.parametrize("only", [None, 0, 1, 2, 3])
def test_losses_and_gradients_are_those_of_the_trainer(model: Any, only: int | None) -> None:
    samples = [one for one in batch() if only is None or one.objective == only]
    expected = trainer.learn(model, samples, OBJECTIVES)
    losses, right = learn(model, samples, OBJECTIVES)
    torch.testing.assert_close(
        losses, torch.stack([one.loss for one in expected]), atol=1e-5, rtol=1e-5
    )
    for found, one in zip(right, expected, strict=True):
        assert found.isnan() if one.right is None else found == pytest.approx(float(one.right))
    theirs = gradients(model, torch.stack([one.loss for one in expected]).sum())
    ours = gradients(model, learn(model, samples, OBJECTIVES)[0].sum())
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def test_scores_are_those_of_the_backend(model: Any) -> None:
    tries = [sample.sequences[0] for sample in batch() if sample.objective == 2]
    with torch.inference_mode():
        expected = torch.stack(choice_logprobs(model, tries))
        torch.testing.assert_close(score(model, tries), expected, atol=1e-5, rtol=1e-5)


def test_a_scalar_objective_is_refused(model: Any) -> None:
    sample = compared(Random(0), 0, [ComparedResponses(first=0, second=1, shares=(1, 0, 0))])
    with pytest.raises(ConfigError, match="autoj train"):
        learn(model, [sample], [Objective(kind="scalar", protocol="scalar")])
