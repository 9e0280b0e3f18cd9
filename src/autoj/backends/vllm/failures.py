"""Converts vLLM's exceptions into ours, in one place.

vLLM's engine runs in a process of its own and reports there why it did not start; here it raises a
sentence without a cause. Where its words reveal the cause, our error names it; else it names
memory, the most common one.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from autoj.backends._hub import needs_remote_code, not_cached
from autoj.backends._loading import in_short
from autoj.backends.hf.base_models import is_unknown
from autoj.errors import AutojError, BackendError, ConfigError, Unavailable
from autoj.records import JudgeCard

# Messages of vLLM (0.33) and PyTorch for too little GPU memory.
_MEMORY = (
    "out of memory",
    "Free memory on device",
    "No available memory for the cache blocks",
    "available KV cache",
)
_TOO_LONG = "greater than the derived max_model_len"
_STARTED_BADLY = ("Engine core initialization failed", "WorkerProc initialization failed")
_LOWER = (
    "Lower context_tokens of the card or options.gpu_memory_utilization, stop other processes on "
    "the GPU, set options.enforce_eager true, use a quantised checkpoint, or more GPUs."
)


@contextmanager
def as_ours(
    card: JudgeCard, doing: str, *, local: bool = False, unreached: str | None = None
) -> Iterator[None]:
    """Converts exceptions raised inside into ours.

    Args:
        card: the judge.
        doing: the failed action, such as "cannot be loaded".
        local: True where the model's files are local, so that a retry finds the same ones.
        unreached: the reason why the hub cannot be asked; None where it can.

    Raises:
        ConfigError: the card asks for more than the model, vLLM or the GPU's memory has.
        Unavailable: the model could not be fetched.
        BackendError: anything else.
    """
    try:
        yield
    except AutojError:
        raise
    except Exception as error:
        if unreached is not None and isinstance(error, OSError):
            raise not_cached(card, unreached) from error
        if (refused := needs_remote_code(card, error)) is not None:
            raise refused from error
        raise _translated(card, doing, error, local=local) from error


def _translated(card: JudgeCard, doing: str, error: Exception, *, local: bool) -> AutojError:
    said = in_short(error)
    if any(words in str(error) for words in _MEMORY) or isinstance(error, MemoryError):
        return ConfigError(f"{card.model} does not fit on the GPU: {said}", hint=_LOWER)
    if any(words in str(error) for words in _STARTED_BADLY):
        return ConfigError(
            f"{card.model} {doing}: {said}",
            hint=f"vLLM's own log above gives the reason. If it is the memory: {_LOWER}",
        )
    if _TOO_LONG in str(error):
        return ConfigError(
            f"{card.model} {doing}: {said}", hint="Lower context_tokens of the card."
        )
    if is_unknown(error):
        return ConfigError(f"there is no model {card.model!r}: {said}")
    if isinstance(error, OSError) and not local:
        return Unavailable(f"{card.model} {doing}: {said}")
    # Among them, validation errors of pydantic and vLLM.
    if isinstance(
        error, ImportError | KeyError | NotImplementedError | OSError | TypeError | ValueError
    ):
        return ConfigError(f"{card.model} {doing}: {said}")
    return BackendError(f"{card.model} {doing}: {said}")
