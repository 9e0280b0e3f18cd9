"""Loss functions: differentiable, from torch tensors to one number per sample or token."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autoj.backends.hf.scoring import head_of, project
from autoj.protocols.single import RATINGS

if TYPE_CHECKING:
    from torch import Tensor

CHUNK_LOGITS = 1 << 26
"""The logits of a text that are in memory at once: 256 MiB in float32."""


def expected_ratings(logprobs: Tensor) -> Tensor:
    """Computes the mean of each rating distribution as `single-verdict` reads it, from 1 to 10.

    Args:
        logprobs: [n, at least 10], log-probabilities of the ratings 1 to 10.
    """
    import torch

    ratings = torch.tensor(RATINGS, dtype=torch.float32, device=logprobs.device)
    return (logprobs[:, : len(RATINGS)].softmax(dim=-1) * ratings).sum(dim=-1)


def comparison_losses(difference: Tensor, shares: Tensor, settings: Tensor) -> Tensor:
    """Computes the cross entropy of comparisons under Rao and Kupper's model of pairs with ties.

    With x the difference of the ratings over the temperature and t half the tie band,
    P(a) = sigmoid(x - t), P(b) = sigmoid(-x - t), and a tie has the rest.

    Args:
        difference: [n], the first rating or score less the second.
        shares: [n, 3], the shares of labels for the first, the second, and a tie.
        settings: [n, 4], the objective's temperature, half its tie band, its weight of ties and its
            label smoothing.
    """
    import torch

    for_first, for_second, for_tie = shares.unbind(1)
    temperature, tie, tie_weight, smoothing = settings.unbind(1)
    scaled = difference / temperature
    log_a = torch.nn.functional.logsigmoid(scaled - tie)
    log_b = torch.nn.functional.logsigmoid(-scaled - tie)
    # 1 - P(a) - P(b) = P(a) P(b) (e^(2t) - 1). Without a band ties have no probability; the loss of
    # a tie then only pulls the ratings together.
    band = torch.where(tie > 0, torch.log(torch.expm1(2 * tie)), torch.zeros_like(tie))
    return -(
        for_first * ((1 - smoothing) * log_a + smoothing * log_b)
        + for_second * ((1 - smoothing) * log_b + smoothing * log_a)
        + for_tie * tie_weight * (log_a + log_b + band)
    )


def token_losses(model: Any, states: Tensor, tokens: Tensor) -> Tensor:
    """Computes the negative log-likelihood of each token of texts, logits a chunk at a time.

    The logits of a long text are larger than all else of a small model. Those of a chunk are
    computed again in the backward pass, so that one chunk's are in memory; on a GPU with Liger's
    kernels, these compute loss and gradient together.

    Args:
        model: a causal language model of transformers, or one wrapped by PEFT.
        states: [m, h], each at the position before its token.
        tokens: [m], the target tokens.
    """
    import torch
    from torch.utils.checkpoint import checkpoint

    if (fused := fused_kernel(model, states.device.type)) is not None:
        return fused(states, tokens)

    def of_chunk(rows: Tensor, wanted: Tensor) -> Tensor:
        return torch.nn.functional.cross_entropy(project(model, rows), wanted, reduction="none")

    n_rows = max(1, CHUNK_LOGITS // model.config.get_text_config().vocab_size)
    if len(states) <= n_rows:
        return of_chunk(states, tokens)
    pieces = zip(states.split(n_rows), tokens.split(n_rows), strict=True)
    return torch.cat([checkpoint(of_chunk, *piece, use_reentrant=False) for piece in pieces])


def fused_kernel(model: Any, device: str) -> Callable[[Tensor, Tensor], Tensor] | None:
    """Liger's projection and cross entropy in one; None where it cannot be used.

    It needs Triton, and knows plain projections alone.
    """
    if device != "cuda" or importlib.util.find_spec("liger_kernel") is None:
        return None
    head = head_of(model)
    if head is None:
        return None
    import torch
    from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy

    def fused(states: Tensor, tokens: Tensor) -> Tensor:
        with torch.autocast(device, enabled=False):
            bias = None if head.bias is None else head.bias.float()
            found: Tensor = liger_fused_linear_cross_entropy(
                states.float(), head.weight.float(), tokens, bias=bias, reduction="none"
            )
        return found

    return fused
