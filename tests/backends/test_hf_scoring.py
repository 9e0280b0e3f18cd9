"""Scores of choices in one forward pass, against one pass per choice of the plain model."""

from __future__ import annotations

import random
from typing import Any

import pytest

from autoj.backends._choices import ChoiceTrie, build_trie
from autoj.errors import ConfigError
from tests.tiny_llama import make_model

torch = pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")

from autoj.backends.hf import scoring  # noqa: E402
from autoj.backends.hf.scoring import (  # noqa: E402
    check_scoring,
    next_token_logits,
    read_choices,
)

TAILS = [
    [[1, 9], [1, 0, 9], [2, 9, 4, 5], [3]],
    [[5], [6]],
    [[7, 8, 9, 10, 11], [7, 8, 12]],
    [[4], [4, 0]],
    # All of a written text: beside it stands the empty one.
    [[8, 9, 10, 4, 2, 6], []],
]


def sequences(n: int) -> list[tuple[list[int], list[list[int]]]]:
    """Prompts of 5 to 30 tokens, each with what may follow."""
    drawn = random.Random(1)
    return [
        ([drawn.randrange(3, 300) for _ in range(drawn.randint(5, 30))], TAILS[at % len(TAILS)])
        for at in range(n)
    ]


def tries(n: int) -> list[ChoiceTrie]:
    return [build_trie([[*root, *tail] for tail in tails]) for root, tails in sequences(n)]


def choice_logprobs(model: Any, batch: list[ChoiceTrie]) -> list[torch.Tensor]:
    return [logprobs for logprobs, _ in read_choices(model, batch)]


def one_by_one(model: Any, n: int) -> list[torch.Tensor]:
    """Each whole string by a forward pass of its own, with no padding, mask or cache."""
    scores: list[torch.Tensor] = []
    for (root, tails), trie in zip(sequences(n), tries(n), strict=True):
        totals = []
        for tail in tails:
            whole = torch.tensor([root + tail])
            logprobs = model(input_ids=whole).logits[0].float().log_softmax(-1)
            first = len(trie.root)
            steps = [logprobs[at - 1, whole[0, at]] for at in range(first, whole.shape[1])]
            totals.append(torch.stack(steps).sum() if steps else torch.tensor(0.0))
        scores.append(torch.stack(totals))
    return scores


FAMILIES: list[tuple[str, dict[str, Any]]] = [
    ("Llama", {}),
    ("Llama", {"attn_implementation": "eager"}),
    ("Llama", {"tie_word_embeddings": True}),
    ("Qwen2", {}),
    ("Mistral", {"sliding_window": 200}),
    ("Mistral", {"sliding_window": 8}),  # shorter than the prompts
    ("Gemma2", {"head_dim": 8, "final_logit_softcapping": 3.0, "sliding_window": 200}),
    ("Gemma2", {"head_dim": 8, "final_logit_softcapping": 3.0, "sliding_window": 8}),
    ("Cohere", {"logit_scale": 0.25}),
    ("Granite", {"logits_scaling": 3.0}),
    ("Bloom", {"n_head": 4, "n_layer": 2}),  # knows no positions that could be given
]


@pytest.mark.parametrize(("kind", "settings"), FAMILIES)
def test_scores_are_those_of_one_pass_per_choice(kind: str, settings: dict[str, Any]) -> None:
    model = make_model(kind, **settings)
    with torch.inference_mode():
        found = choice_logprobs(model, tries(7))
        expected = one_by_one(model, 7)
        check_scoring(model)
    assert all(scores.dtype == torch.float32 for scores in found)
    assert [scores.tolist() for scores in found] == [
        pytest.approx(scores.tolist(), abs=1e-5) for scores in expected
    ]
    assert max(scores.max() - scores.min() for scores in found) > 1


def test_a_score_does_not_depend_on_its_batch() -> None:
    model, all_tries = make_model(), tries(9)
    with torch.inference_mode():
        together = choice_logprobs(model, all_tries)
        backwards = choice_logprobs(model, all_tries[::-1])[::-1]
        alone = [choice_logprobs(model, [trie])[0] for trie in all_tries]
    for scores, other, own in zip(together, backwards, alone, strict=True):
        assert scores.tolist() == pytest.approx(other.tolist(), abs=1e-5)
        assert scores.tolist() == pytest.approx(own.tolist(), abs=1e-5)


def plain(tokens: list[int]) -> ChoiceTrie:
    return ChoiceTrie(root=tuple(tokens), tokens=(), parents=(), steps=())


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside tries"])
def test_logits_of_plain_sequences_are_the_models_own(beside: bool) -> None:
    model = make_model()
    roots = [root for root, _ in sequences(5)]
    asked = [[0, len(root) - 1, 2] for root in roots]
    more = tries(2) if beside else []
    with torch.inference_mode():
        found = next_token_logits(
            model, [*map(plain, roots), *more], [*asked, *([0] for _ in more)]
        )
        for root, positions, logits in zip(roots, asked, found, strict=False):
            expected = model(input_ids=torch.tensor([root])).logits[0, positions]
            torch.testing.assert_close(logits, expected, atol=1e-5, rtol=0)


def test_one_pass_reads_the_batch_and_only_what_is_asked_is_projected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, passes, rows = make_model(), [], []
    real = scoring.project

    def project(of: Any, states: torch.Tensor) -> torch.Tensor:
        rows.append(len(states))
        return real(of, states)

    monkeypatch.setattr(scoring, "project", project)
    model.get_decoder().register_forward_hook(lambda *_: passes.append(1))
    batch = tries(4)
    choice_logprobs(model, batch)
    assert passes == [1]
    assert rows == [sum(len(trie.tokens) + 1 for trie in batch)]


def test_sequences_without_tries_need_no_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    model, given = make_model(), []
    model.get_decoder().register_forward_pre_hook(
        lambda _, args, kwargs: given.append(set(kwargs)), with_kwargs=True
    )
    next_token_logits(model, [plain([5, 6, 7]), plain([5])], [[2], [0]])
    next_token_logits(model, tries(2), [[0], [0]])
    assert ["attention_mask" in names for names in given] == [False, True]


def gradients(model: Any, scores: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    model.zero_grad()
    torch.stack([row[0] - row[-1] for row in scores]).sum().backward()
    return {
        name: parameter.grad.clone()
        for name, parameter in model.named_parameters()
        if parameter.grad is not None
    }


def test_gradients_are_those_of_one_pass_per_choice() -> None:
    model = make_model()
    found = gradients(model, choice_logprobs(model, tries(5)))
    expected = gradients(model, one_by_one(model, 5))
    assert found.keys() == expected.keys()
    assert any(gradient.abs().max() > 0.1 for gradient in found.values())
    for name, gradient in found.items():
        torch.testing.assert_close(gradient, expected[name], atol=1e-3, rtol=1e-3)


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning")  # PEFT's
def test_it_works_through_an_adapter() -> None:
    peft = pytest.importorskip("peft", reason="the extra `hf` is not installed: no peft")
    model = make_model()
    with torch.inference_mode():
        before = choice_logprobs(model, tries(3))
    laid = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", r=2))
    for name, parameter in laid.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(parameter, std=0.3)
    scores = choice_logprobs(laid, tries(3))
    assert not torch.allclose(scores[0], before[0], atol=0.1)
    for row, expected in zip(scores, one_by_one(laid, 3), strict=True):
        assert row.tolist() == pytest.approx(expected.tolist(), abs=1e-4)
    assert all("lora_" in name for name in gradients(laid, scores))


def test_a_model_in_bfloat16_is_projected_in_float32() -> None:
    exact, rough = make_model(), make_model().bfloat16()
    with torch.inference_mode():
        wanted = torch.cat(choice_logprobs(exact, tries(4)))
        found = torch.cat(choice_logprobs(rough, tries(4)))
        (logits,) = next_token_logits(rough, [plain([5, 6, 7])], [[2]])
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, wanted, atol=1.0, rtol=0.05)
    assert (logits != logits.bfloat16().float()).any(), "they were rounded to bfloat16"


def test_training_in_mixed_precision_takes_tries() -> None:
    model = make_model()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = choice_logprobs(model, tries(4))
    for row, expected in zip(scores, one_by_one(model, 4), strict=True):
        assert row.tolist() == pytest.approx(expected.tolist(), abs=1.0)
    assert all(gradient.isfinite().all() for gradient in gradients(model, scores).values())


def test_a_model_with_logits_of_a_kind_of_its_own_is_refused() -> None:
    model = make_model()
    real = model.forward

    def doubled(*args: Any, **kwargs: Any) -> Any:
        output = real(*args, **kwargs)
        output.logits = output.logits * 2
        return output

    model.forward = doubled
    with pytest.raises(ConfigError, match="LlamaForCausalLM computes its logits in a way"):
        check_scoring(model)


def test_what_is_no_language_model_is_refused() -> None:
    with pytest.raises(ConfigError, match="LlamaModel is not a causal language model"):
        choice_logprobs(make_model().model, tries(1))
