"""Losses of a batch at once: those of each sample alone, and their gradients, packed or padded."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")

import torch
from torch import Tensor

from autoj.backends._choices import ChoiceTrie, build_trie
from autoj.backends.hf.packing import pack_sequences
from autoj.backends.hf.scoring import hidden_states, read_choices
from autoj.errors import ConfigError
from autoj.protocols.single import RATINGS
from autoj.records import WINNERS
from autoj.training.judge import losses as batched
from autoj.training.judge.learning import choice_scores, learn
from autoj.training.judge.models import add_score_head
from autoj.training.judge.recipe import Objective
from autoj.training.judge.rows import ComparedResponses
from autoj.training.judge.samples import Choice, Compared, Sample, Written

from ...tiny_llama import make_model
from .test_losses import loss_of_label

OBJECTIVES = [
    Objective(kind="decision", protocol="pairwise-verdict"),
    Objective(kind="judgment", protocol="pairwise", weight=0.5),
    Objective(
        kind="preference", protocol="pairwise-by-rating", temperature=2.0, tie=0.3,
        label_smoothing=0.1, tie_weight=2.0,
    ),
    Objective(kind="preference", protocol="pairwise-by-rating", tie=0.0),
    Objective(kind="scalar", protocol="scalar", temperature=0.5),
]  # fmt: skip


@pytest.fixture(scope="module", params=["Qwen2", "Llama"])
def model(request: pytest.FixtureRequest) -> Any:
    made = make_model(request.param)
    add_score_head(made)
    return made


def alone(model: Any, sample: Sample) -> tuple[Tensor, float]:
    """A sample's loss and correctness from plain forward passes, one sequence at a time."""
    objective = OBJECTIVES[sample.objective]
    target = sample.target
    match target:
        case Written(n_prompt=n_prompt):
            tokens = torch.tensor([sample.sequences[0].root])
            logits = model(input_ids=tokens).logits[0, n_prompt - 1 : -1].float()
            return torch.nn.functional.cross_entropy(logits, tokens[0, n_prompt:]), float("nan")
        case Choice(weights=weights):
            ((logprobs, _),) = read_choices(model, sample.sequences)
            loss = -(logprobs * torch.tensor(weights)).sum()
            return loss, float(logprobs.argmax() == torch.tensor(weights).argmax())
        case Compared():
            ratings = [rating(model, one, objective) for one in sample.sequences]
    found, right = [], []
    for one in target.comparisons:
        difference = ratings[one.first] - ratings[one.second]
        labels = zip(one.shares, WINNERS, strict=True)
        found.append(sum(share * loss_of_label(difference, of, objective) for share, of in labels))
        if one.shares[0] != one.shares[1]:
            right.append(float((difference > 0) == (one.shares[0] > one.shares[1])))
    mean = sum(right) / len(right) if right else float("nan")
    return torch.stack(found).mean(), mean


def rating(model: Any, sequence: ChoiceTrie, objective: Objective) -> Tensor:
    if objective.kind == "scalar":
        (states,) = hidden_states(model, [sequence], [[sequence.n_tokens - 1]])
        score: Tensor = model.score(states.float()).squeeze()
        return score
    ((logprobs, _),) = read_choices(model, [sequence])
    return (logprobs.softmax(dim=-1) * torch.tensor(RATINGS)).sum()


def prompt(random: Random, n_tokens: int) -> list[int]:
    return [random.randrange(3, 340) for _ in range(n_tokens)]


def written(random: Random, n_prompt: int, n_tokens: int) -> Sample:
    sequence = plain(prompt(random, n_tokens))
    target = Written(n_prompt=n_prompt)
    return Sample(objective=1, case_id="w", sequences=(sequence,), target=target)


def plain(tokens: Sequence[int]) -> ChoiceTrie:
    return ChoiceTrie(root=tuple(tokens), tokens=(), parents=(), steps=())


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
    roots = [prompt(random, random.randint(4, 30)) for _ in range(n)]
    if objective == 4:  # a score reads a text alone
        tries = tuple(plain(root) for root in roots)
    else:
        tries = tuple(build_trie([[*root, *tail] for tail in ratings]) for root in roots)
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
        compared(random, 4, [first, split]),
    ]


def gradients(model: Any, loss: Tensor) -> dict[str, Tensor]:
    model.zero_grad()
    loss.backward()
    named = model.named_parameters()
    return {name: one.grad.clone() for name, one in named if one.grad is not None}


def same(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name], atol=1e-4, rtol=1e-4)


def packed(model: Any) -> Any:
    found = copy.deepcopy(model)
    pack_sequences(found)
    return found


@pytest.mark.parametrize("only", [None, 0, 1, 2, 3, 4])
@pytest.mark.parametrize("packs", [False, True], ids=["padded", "packed"])
def test_losses_and_gradients_are_those_of_each_sample_alone(
    model: Any, only: int | None, packs: bool
) -> None:
    samples = [one for one in batch() if only is None or one.objective == only]
    expected = [alone(model, sample) for sample in samples]
    theirs = gradients(model, torch.stack([loss for loss, _ in expected]).sum())
    of = packed(model) if packs else model
    losses, right = learn(of, samples, OBJECTIVES)
    torch.testing.assert_close(
        losses, torch.stack([loss for loss, _ in expected]), atol=1e-5, rtol=1e-5
    )
    torch.testing.assert_close(
        right, torch.tensor([found for _, found in expected]), equal_nan=True, atol=1e-6, rtol=0
    )
    same(gradients(of, losses.sum()), theirs)


def test_nothing_leaks_from_one_packed_sample_into_the_others(model: Any) -> None:
    of, samples = packed(model), batch()
    whole, _ = learn(of, samples, OBJECTIVES)
    # Another first sample, of another length: every other loss is what it was.
    random = Random(8)
    changed, _ = learn(of, [written(random, 3, 27), *samples[1:]], OBJECTIVES)
    torch.testing.assert_close(changed[1:], whole[1:], atol=1e-6, rtol=1e-6)
    # And no gradient of theirs reaches its tokens, where these are its own.
    tries = [trie for one in samples for trie in one.sequences]
    used = {token for trie in tries for token in trie.root + trie.tokens}
    own = [token for token in range(3, 340) if token not in used][:9]
    stranger = Sample(objective=1, case_id="s", sequences=(plain(own),), target=Written(n_prompt=2))
    embedding = of.get_input_embeddings().weight
    assert embedding is not of.get_output_embeddings().weight
    losses, _ = learn(of, [stranger, *samples], OBJECTIVES)
    (reached,) = torch.autograd.grad(losses[1:].sum(), [embedding])
    assert reached[own].abs().max() == 0
    assert reached[list(samples[0].sequences[0].root)].abs().max() > 0


@pytest.mark.filterwarnings("ignore:`gradient_checkpointing_enable`:FutureWarning")
def test_packing_holds_where_layers_are_computed_again(model: Any) -> None:
    of, samples = packed(model).train(), batch()
    theirs = gradients(of, learn(of, samples, OBJECTIVES)[0].sum())
    of.gradient_checkpointing_enable({"use_reentrant": False})
    same(gradients(of, learn(of, samples, OBJECTIVES)[0].sum()), theirs)


def test_other_attention_than_pytorchs_is_not_packed() -> None:
    made = make_model("Llama")
    made.set_attn_implementation("eager")
    with pytest.raises(ConfigError, match="eager attention"):
        pack_sequences(made)
    assert made.config._attn_implementation == "eager"


@pytest.mark.parametrize(
    ("kind", "said"), [("Mistral", "layers of other attention"), ("Bloom", "positions of its own")]
)
def test_windows_and_positions_of_its_own_are_not_packed(kind: str, said: str) -> None:
    made = make_model(kind)
    made.set_attn_implementation("sdpa" if kind == "Mistral" else "eager")
    # Bloom has no attention of PyTorch's: its positions are what this looks at.
    made.config._attn_implementation_internal = "sdpa"
    with pytest.raises(ConfigError, match=said):
        pack_sequences(made)


def test_a_text_in_chunks_has_the_same_loss_and_gradient(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = [one for one in batch() if one.objective == 1]
    whole, _ = learn(model, samples, OBJECTIVES)
    theirs = gradients(model, whole.sum())
    calls: list[int] = []
    project = batched.project

    def counted(of: Any, states: Tensor) -> Tensor:
        calls.append(len(states))
        return project(of, states)

    monkeypatch.setattr(batched, "project", counted)
    # Three rows of logits at once: 14 and 2 tokens are 16, in six chunks.
    monkeypatch.setattr(batched, "CHUNK_LOGITS", 3 * model.config.vocab_size)
    losses, _ = learn(model, samples, OBJECTIVES)
    assert calls == [3, 3, 3, 3, 3, 1]
    torch.testing.assert_close(losses, whole, atol=1e-6, rtol=1e-6)
    same(gradients(model, losses.sum()), theirs)


def test_scores_are_those_of_the_backend(model: Any) -> None:
    tries = [sample.sequences[0] for sample in batch() if sample.objective == 2]
    with torch.inference_mode():
        expected = torch.stack([logprobs for logprobs, _ in read_choices(model, tries)])
        torch.testing.assert_close(choice_scores(model, tries), expected, atol=1e-5, rtol=1e-5)
