"""Outcomes of requests, for engines that compute log-probabilities of strings and token ids."""

import math
from collections.abc import Sequence

from autoj.backends.base import Outcome
from autoj.records import Completion, Failure, Request


def scored(request: Request, n_prompt_tokens: int, logprobs: Sequence[float]) -> Outcome:
    """The likeliest choice with the probabilities of all; a failure where they are not finite.

    Args:
        request: a request with choices.
        n_prompt_tokens: tokens of its prompt.
        logprobs: one per choice.
    """
    if not all(map(math.isfinite, logprobs)):
        said = f"the log-probabilities of the choices are {tuple(logprobs)}"
        return failed(request, "NotFinite", said)
    return Completion(
        key=request.key,
        text=max(zip(logprobs, request.choices or (), strict=True))[1],
        finish="stop",
        prompt_tokens=n_prompt_tokens,
        completion_tokens=0,
        choice_logprobs=tuple(logprobs),
    )


def overflowed(request: Request, n_tokens: int, most: int) -> Failure:
    """The failure of a request that is longer than the judge's context, both in tokens."""
    said = f"the request needs {n_tokens:,} tokens; the judge's context has {most:,}"
    return failed(request, "ContextOverflow", said)


def failed(request: Request, error: str, message: str, *, retryable: bool = False) -> Failure:
    """The failure of a request that was tried once and has no answer."""
    return Failure(key=request.key, error=error, message=message, retryable=retryable, attempts=1)
