"""What vLLM raises, as our errors: the one seam of this backend.

vLLM's engine runs in a process of its own and says there why it did not start; here it raises a
sentence that names no cause. Where the cause can be told from the words, it is told; else the
memory is named, which it mostly is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autoj.backends._loading import in_short
from autoj.backends.hf.places import is_unknown
from autoj.errors import AutojError, BackendError, ConfigError, Unavailable
from autoj.records import JudgeCard

__all__ = ["as_ours"]

# What vLLM (0.33) and PyTorch say where a GPU's memory is not enough.
_MEMORY = (
    "out of memory",
    "Free memory on device",
    "No available memory for the cache blocks",
    "available KV cache",
)
_TOO_LONG = "greater than the derived max_model_len"
_STARTED_BADLY = ("Engine core initialization failed", "WorkerProc initialization failed")
_LOWER = (
    "Lower context_tokens of the card or options.gpu_memory_utilization, free the GPU of other "
    "processes, set options.enforce_eager true, use a quantised checkpoint, or more GPUs."
)


@contextmanager
def as_ours(card: JudgeCard, doing: str, *, local: bool = False) -> Iterator[None]:
    """Turn what is raised inside into an error of ours.

    Args:
        card: the judge.
        doing: what was being done, such as "cannot be loaded".
        local: whether the model's files lie here, so that no later start finds others.

    Raises:
        ConfigError: the card asks for what the model, vLLM or the GPU's memory does not have.
        Unavailable: the model could not be fetched.
        BackendError: anything else.
    """
    try:
        yield
    except AutojError:
        raise
    except Exception as error:
        raise _translated(card, doing, error, local=local) from error


def _translated(card: JudgeCard, doing: str, error: Exception, *, local: bool) -> AutojError:
    said = in_short(error)
    if any(words in str(error) for words in _MEMORY) or isinstance(error, MemoryError):
        return ConfigError(f"{card.model} has no room on the GPU: {said}", hint=_LOWER)
    if any(words in str(error) for words in _STARTED_BADLY):
        return ConfigError(
            f"{card.model} {doing}: {said}",
            hint=f"vLLM's own log above says why. Where it is the memory: {_LOWER}",
        )
    if _TOO_LONG in str(error):
        return ConfigError(
            f"{card.model} {doing}: {said}", hint="Lower context_tokens of the card."
        )
    if is_unknown(error):
        return ConfigError(f"there is no model {card.model!r}: {said}")
    if isinstance(error, OSError) and not local:
        return Unavailable(f"{card.model} {doing}: {said}")
    # pydantic's and vLLM's errors of validation, among them.
    if isinstance(
        error, ImportError | KeyError | NotImplementedError | OSError | TypeError | ValueError
    ):
        return ConfigError(f"{card.model} {doing}: {said}")
    return BackendError(f"{card.model} {doing}: {said}")
