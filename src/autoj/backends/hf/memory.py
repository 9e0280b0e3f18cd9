"""Memory that does not do for a model or for a request: how it is told, and what to lower."""

from __future__ import annotations

from autoj.backends._loading import in_short
from autoj.errors import ConfigError

__all__ = ["does_not_fit", "is_out_of_memory", "no_room_for_a_request"]

# Of PyTorch on a GPU, of its allocator on the CPU, and of bitsandbytes.
_SAID = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "Some modules are dispatched on the CPU",
)
_FOR_A_MODEL = (
    "Use options.precision bfloat16, options.load_in_4bit, a smaller model, or options.device_map "
    "auto for several GPUs; or free the device of other processes."
)
_FOR_A_REQUEST = (
    "Lower context_tokens or decoding.max_tokens of the card, use options.precision bfloat16 or "
    "options.load_in_4bit, or more GPUs with options.device_map auto."
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory is what an error is about; on the CPU it is a plain RuntimeError.

    >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
    True
    """
    return isinstance(error, MemoryError) or any(words in str(error) for words in _SAID)


def does_not_fit(
    model: str, device: str, error: BaseException, lower: str = _FOR_A_MODEL
) -> ConfigError:
    """A model for which a device has no room.

    Args:
        model: its name.
        device: where it was to be loaded.
        error: what was said there.
        lower: what to do about it.
    """
    return ConfigError(
        f"{model} does not fit into the memory of {device}: {in_short(error)}",
        hint=lower,
    )


def no_room_for_a_request(
    model: str, n_tokens: int, error: BaseException, lower: str = _FOR_A_REQUEST
) -> ConfigError:
    """A single request for which no room is left beside the weights.

    Args:
        model: its name.
        n_tokens: what the request reads and may write.
        error: what was said.
        lower: what to do about it.
    """
    return ConfigError(
        f"{model} has no memory for one request of {n_tokens:,} tokens: {in_short(error)}",
        hint=lower,
    )
