"""Logits and hidden states of a causal language model, in one forward pass per batch.

Everything here is differentiable: training computes its losses with it, and the judge its scores,
each under the mode that its caller sets.

Sequences are padded on the right, which a causal model never attends to from the left. The hidden
states of the queried positions are gathered before the projection to the vocabulary, which is
otherwise most of the work of a small model, and that projection is computed in float32: in bfloat16
a logit near 20 is rounded to 0.125, which would decide close verdicts.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autoj.backends._choices import ChoiceTrie
from autoj.backends.hf.packing import SEGMENTED, is_packed
from autoj.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

# Attention kernels that accept a custom mask; the others support causal attention only.
_MASKED_ATTENTION = ("eager", "sdpa", SEGMENTED)
_MASKED_LAYERS = {"full_attention", "sliding_attention"}
# The largest difference from the model's own logits, relative to these: bfloat16 keeps 8 bits.
_CLOSE = 0.03


def read_choices(model: Any, tries: Sequence[ChoiceTrie]) -> list[tuple[Tensor, Tensor]]:
    """The log-probability of each choice of each trie, with the state that it follows from.

    Args:
        model: a causal language model of transformers, or PEFT's wrapping of one.
        tries: a batch; padding costs, so sequences should have similar lengths.

    Returns:
        Per trie [n_choices], float32: the natural log of each whole string's probability; and the
        state at the root's end, [n_hidden], in the model's own precision.
    """
    import torch

    # Row 0 is the root's last token, row i + 1 the inner node i.
    states = hidden_states(model, tries, [asked_positions(trie) for trie in tries])
    logits = project(model, torch.cat(states)).split([len(rows) for rows in states])
    return [
        (sum_steps(trie, rows), read[0])
        for trie, rows, read in zip(tries, logits, states, strict=True)
    ]


def asked_positions(trie: ChoiceTrie) -> range:
    """The positions of a trie whose logits its choices need: the root's last token and all below.

    >>> asked_positions(ChoiceTrie((7, 8), (1,), (-1,), (((-1, 1), (0, 9)), ((-1, 2),))))
    range(1, 3)
    """
    return range(len(trie.root) - 1, trie.n_tokens)


def sum_steps(trie: ChoiceTrie, logits: Tensor) -> Tensor:
    """The log-probability of each choice, from the logits at the trie's queried positions.

    Args:
        trie: the trie of the choices.
        logits: [n_asked, n_vocabulary]

    Returns:
        [n_choices], natural logarithms.
    """
    import torch

    logprobs = torch.log_softmax(logits, dim=-1)
    taken = [
        (choice, node + 1, token)
        for choice, steps in enumerate(trie.steps)
        for node, token in steps
    ]
    choices, rows, tokens = torch.tensor(taken, device=logits.device).reshape(-1, 3).unbind(1)
    totals = torch.zeros(len(trie.steps), device=logits.device)
    return totals.index_add(0, choices, logprobs[rows, tokens])


def next_token_logits(
    model: Any, tries: Sequence[ChoiceTrie], positions: Sequence[Sequence[int]]
) -> list[Tensor]:
    """The logits of the token after given positions of sequences.

    Args:
        model: a causal language model of transformers, or PEFT's wrapping of one.
        tries: the sequences; one without choices is a root with nothing below it.
        positions: per sequence, indices into its `root + tokens`.

    Returns:
        Per sequence [n_positions, n_vocabulary], float32.

    Raises:
        ConfigError: the model's decoder and projection cannot be separated.
    """
    import torch

    states = hidden_states(model, tries, positions)
    logits = project(model, torch.cat(states))
    return list(logits.split([len(rows) for rows in states]))


def hidden_states(
    model: Any, tries: Sequence[ChoiceTrie], positions: Sequence[Sequence[int]]
) -> list[Tensor]:
    """The last layer's hidden states at positions of sequences, before any projection.

    Args:
        model: as of `next_token_logits`.
        tries: the sequences.
        positions: per sequence, indices into its `root + tokens`.

    Returns:
        Per sequence [n_positions, n_hidden], in the model's own precision.

    Raises:
        ConfigError: the model's decoder and projection cannot be separated.
    """
    import torch

    model = _base(model)
    rows, steps = _rows_and_steps(model, tries, positions)
    if is_packed(model):
        inputs, starts = _pack(model, rows)
        steps = [[(0, starts[row] + step) for row, step in of_sequence] for of_sequence in steps]
    else:
        inputs = _pad(model, rows)
    hidden = decoder_of(model)(**inputs, use_cache=False).last_hidden_state
    at = torch.tensor(
        [(row, step) for of_sequence in steps for row, step in of_sequence], device=hidden.device
    ).reshape(-1, 2)
    return list(hidden[at[:, 0], at[:, 1]].split([len(of_sequence) for of_sequence in steps]))


def _base(model: Any) -> Any:
    """The model inside PEFT's wrapper, whose layers hold the adapter."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def check_scoring(model: Any) -> None:
    """Checks that a model's own logits equal those that are computed here, on two tokens.

    A model family that scales or caps its logits in its own way would otherwise silently get wrong
    probabilities.

    Raises:
        ConfigError: they differ.
    """
    import torch

    device = model.get_input_embeddings().weight.device
    with torch.inference_mode():
        (ours,) = next_token_logits(model, [_plain((1, 2))], [(0, 1)])
        theirs = model(input_ids=torch.tensor([[1, 2]], device=device)).logits[0].float()
    apart = (ours - theirs.to(ours.device)).abs().max()
    # Weights that are not finite are reported with each request.
    if theirs.isfinite().all() and not apart <= _CLOSE * theirs.abs().max():
        raise ConfigError(
            f"{type(model).__name__} computes its logits in a way that is not supported here",
            hint="Run this judge on another backend, such as vllm.",
        )


def _rows_and_steps(
    model: Any, tries: Sequence[ChoiceTrie], positions: Sequence[Sequence[int]]
) -> tuple[list[ChoiceTrie], list[list[tuple[int, int]]]]:
    """The computed sequences, and for each input its (row, index in that row) pairs.

    A model without custom masks reads each branch of a trie as a sequence of its own.
    """
    if _takes_masks(model, max((trie.n_tokens for trie in tries), default=0)):
        return list(tries), [[(row, at) for at in asked] for row, asked in enumerate(positions)]
    rows: list[ChoiceTrie] = []
    steps: list[list[tuple[int, int]]] = []
    for trie, asked in zip(tries, positions, strict=True):
        n_root, lines = len(trie.root), trie.ancestors()
        places: dict[int, tuple[int, int]] = {at: (len(rows), at) for at in range(n_root)}
        leaves = set(range(len(trie.tokens))) - set(trie.parents)
        for leaf in sorted(leaves):
            for depth, node in enumerate(lines[leaf]):
                places[n_root + node] = (len(rows), n_root + depth)
            rows.append(_plain(trie.root + tuple(trie.tokens[node] for node in lines[leaf])))
        if not leaves:
            rows.append(_plain(trie.root))
        steps.append([places[at] for at in asked])
    return rows, steps


def _plain(tokens: tuple[int, ...]) -> ChoiceTrie:
    return ChoiceTrie(root=tokens, tokens=(), parents=(), steps=())


def _takes_masks(model: Any, n_tokens: int) -> bool:
    """True where each layer applies a mask that we pass, at this length."""
    config = model.config.get_text_config()
    return (
        _MASKED_LAYERS.issuperset(getattr(config, "layer_types", None) or ())
        and n_tokens <= (getattr(config, "sliding_window", None) or n_tokens)
        and config._attn_implementation in _MASKED_ATTENTION
        and "position_ids" in inspect.signature(decoder_of(model).forward).parameters
    )


def _pack(model: Any, tries: Sequence[ChoiceTrie]) -> tuple[dict[str, Any], list[int]]:
    """A batch in one row: its inputs (see `packing`), and the place of each sequence in it."""
    import torch

    device = model.get_input_embeddings().weight.device
    tokens: list[int] = []
    places: list[int] = []
    segments: list[tuple[int, Tensor | None]] = []
    starts: list[int] = []
    for trie in tries:
        starts.append(len(tokens))
        tokens += trie.root + trie.tokens
        places += _places(trie)
        mask = None if trie.is_chain else _seen(trie, trie.n_tokens)[None, None].to(device)
        segments.append((trie.n_tokens, mask))
    inputs = {
        "input_ids": torch.tensor([tokens], device=device),
        "position_ids": torch.tensor([places], device=device),
        "segments": segments,
    }
    return inputs, starts


def _pad(model: Any, tries: Sequence[ChoiceTrie]) -> dict[str, Tensor]:
    """A padded batch: `n` sequences of up to `t` tokens.

    Returns:
        `input_ids` [n, t]; where a trie branches also `position_ids` [n, t] and `attention_mask`
        [n, 1, t, t], which says where a token may attend. Without a mask attention is causal, with
        the fastest available kernel.
    """
    import torch

    device = model.get_input_embeddings().weight.device
    n, t = len(tries), max(trie.n_tokens for trie in tries)
    input_ids = torch.zeros((n, t), dtype=torch.long)
    for row, trie in enumerate(tries):
        input_ids[row, : trie.n_tokens] = torch.tensor(trie.root + trie.tokens)
    if all(trie.is_chain for trie in tries):
        return {"input_ids": input_ids.to(device)}
    position_ids = torch.arange(t).repeat(n, 1)
    for row, trie in enumerate(tries):
        position_ids[row, : trie.n_tokens] = torch.tensor(_places(trie))
    mask = torch.stack([_seen(trie, t) for trie in tries]).unsqueeze(1).to(device)
    if model.config.get_text_config()._attn_implementation == "eager":  # it adds the mask to scores
        dtype = model.dtype
        mask = torch.zeros(mask.shape, dtype=dtype, device=device).masked_fill_(
            ~mask, torch.finfo(dtype).min
        )
    return {
        "input_ids": input_ids.to(device),
        "position_ids": position_ids.to(device),
        "attention_mask": mask,
    }


def _places(trie: ChoiceTrie) -> list[int]:
    """The position of each token of a trie: an inner node's is its depth."""
    n_root = len(trie.root)
    return [*range(n_root), *(n_root - 1 + depth for depth in trie.depths())]


def _seen(trie: ChoiceTrie, t: int) -> Tensor:
    """The tokens that each of `t` may attend to: [t, t].

    Below the root, a node attends to the root and its own ancestors. Padding attends to the tokens
    before it: a row without any would be NaN, and so would its gradient.
    """
    import torch

    n_root = len(trie.root)
    seen = torch.ones((t, t), dtype=torch.bool).tril()
    seen[n_root : trie.n_tokens, n_root:] = False
    for node, line in enumerate(trie.ancestors()):
        seen[n_root + node, [n_root + ancestor for ancestor in line]] = True
    return seen


def decoder_of(model: Any) -> Any:
    """The layers of a model, without its projection to the vocabulary.

    Raises:
        ConfigError: they cannot be separated.
    """
    model = _base(model)
    decoder = model.get_decoder()
    if decoder is None or decoder is model or model.get_output_embeddings() is None:
        raise ConfigError(f"{type(model).__name__} is not a causal language model to score with")
    return decoder


_SCALES = ("logit_scale", "logits_scaling", "final_logit_softcapping")


def head_of(model: Any) -> Any:
    """The projection of a model; None where more than a matrix and a bias makes its logits."""
    import torch

    model = _base(model)
    head, config = model.get_output_embeddings(), model.config.get_text_config()
    scaled = any(getattr(config, name, None) is not None for name in _SCALES)
    return head if type(head) is torch.nn.Linear and not scaled else None


def project(model: Any, states: Tensor) -> Tensor:
    """Projects hidden states [m, h] to the model's logits [m, n_vocabulary] in float32."""
    import torch

    model = _base(model)
    head, config = model.get_output_embeddings(), model.config.get_text_config()
    if type(head) is torch.nn.Linear and not hasattr(head, "_hf_hook"):
        with torch.autocast(states.device.type, enabled=False):
            weight, bias = head.weight.float(), None if head.bias is None else head.bias.float()
            logits = torch.nn.functional.linear(states.float().to(weight.device), weight, bias)
    else:
        logits = head(states).float()
    if (scale := getattr(config, "logit_scale", None)) is not None:
        logits = logits * scale
    if (divisor := getattr(config, "logits_scaling", None)) is not None:
        logits = logits / divisor
    if (cap := getattr(config, "final_logit_softcapping", None)) is not None:
        logits = cap * torch.tanh(logits / cap)
    return logits
