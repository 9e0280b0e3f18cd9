"""Out-of-memory errors of a model or of a request: recognising them, and the settings to lower."""

from autoj.backends._loading import in_short
from autoj.errors import ConfigError

# Messages of PyTorch on a GPU, of its allocator on the CPU, and of bitsandbytes.
_SAID = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "Some modules are dispatched on the CPU",
)
_FOR_A_MODEL = (
    "Use options.precision bfloat16, options.load_in_4bit, a smaller model, or options.device_map "
    "auto for several GPUs; or stop other processes on the device."
)
_FOR_A_REQUEST = (
    "Lower context_tokens or decoding.max_tokens of the card, use options.precision bfloat16 or "
    "options.load_in_4bit, or more GPUs with options.device_map auto."
)


def is_out_of_memory(error: BaseException) -> bool:
    """True where an error is about memory; on the CPU it is a plain RuntimeError.

    >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
    True
    """
    return isinstance(error, MemoryError) or any(words in str(error) for words in _SAID)


def does_not_fit(
    model: str, device: str, error: BaseException, lower: str = _FOR_A_MODEL
) -> ConfigError:
    """The error of a model that does not fit into a device's memory.

    Args:
        model: its name.
        device: the device.
        error: the original error.
        lower: the advice.
    """
    return ConfigError(
        f"{model} does not fit into the memory of {device}: {in_short(error)}",
        hint=lower,
    )


def no_room_for_a_request(
    model: str, n_tokens: int, error: BaseException, lower: str = _FOR_A_REQUEST
) -> ConfigError:
    """The error of a single request that does not fit into memory beside the weights.

    Args:
        model: its name.
        n_tokens: tokens of the request and of its answer.
        error: the original error.
        lower: the advice.
    """
    return ConfigError(
        f"{model} has no memory for one request of {n_tokens:,} tokens: {in_short(error)}",
        hint=lower,
    )
