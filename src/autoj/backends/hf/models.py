"""Loads a card's model and tokenizer, from a folder, the hub or a GGUF file, with its adapter."""

import importlib.util
import io
import struct
from contextlib import ExitStack, redirect_stderr
from functools import partial
from pickle import UnpicklingError
from typing import Any

from autoj.backends._hub import hub_arguments, needs_remote_code, not_cached
from autoj.backends._loading import in_short, quiet
from autoj.backends._native_memory import bound_kernel_caches
from autoj.backends.embedded.weights import OPTIONS as EMBEDDED_OPTIONS
from autoj.backends.hf.adapters import check_adapter, lay_adapter
from autoj.backends.hf.base_models import Base, find_base, is_unknown
from autoj.backends.hf.gguf_tokenizer import mend_splits
from autoj.backends.hf.memory import does_not_fit, is_out_of_memory
from autoj.backends.hf.templates import PIN
from autoj.errors import ConfigError, MissingExtra, Unavailable
from autoj.fetching import OnFetch
from autoj.records import JudgeCard

_OPTIONS = (
    "precision", "device_map", "attention", "load_in_4bit", "batch_tokens", "continuous", PIN,
)  # fmt: skip
_SWITCHES = ("load_in_4bit", "continuous")
# Pickles that would build objects are refused by torch; a GGUF file may end inside its header.
_NO_MODEL = (LookupError, MemoryError, RuntimeError, ValueError, UnpicklingError, struct.error)
_PRECISIONS = ("auto", "float32", "bfloat16", "float16")
# Packages that transformers reads 4-bit checkpoints with; our extras include none of them.
_PACKAGES = {
    "gptq": "pip install gptqmodel optimum",
    "awq": "pip install gptqmodel",
    "bitsandbytes": "pip install bitsandbytes",
    "compressed-tensors": "pip install compressed-tensors",
}


def load_model(
    card: JudgeCard, device: str | None = None, on_fetch: OnFetch | None = None
) -> tuple[Any, Any]:
    """Loads a card's tokenizer and model, ready to judge.

    Args:
        card: its model is a folder, a `.gguf` file, a name on the hub, or a shipped card's weights,
            whose source is in its options.
        device: "cpu", "cuda", …; None takes a GPU where there is one.
        on_fetch: called with the progress of fetching a shipped card's weights.

    Returns:
        The tokenizer and the model, of transformers; wrapped by PEFT where an adapter is kept
        separate from quantised weights.

    Raises:
        MissingExtra: a package is not installed.
        ConfigError: an option is invalid, a file is missing or damaged, the model is not a causal
            language model, or the device is missing or too small for it.
        Unavailable: the model could not be fetched.
    """
    check_options(card)
    if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers")):
        raise MissingExtra("hf", f"judge {card.name!r}")
    if card.adapter is not None and importlib.util.find_spec("peft") is None:
        raise MissingExtra("hf", f"the adapter of judge {card.name!r}")
    base = find_base(card, on_fetch)
    adapter = None if card.adapter is None else check_adapter(card, base.weights)
    import transformers
    from safetensors import SafetensorError

    device = _device(card, device)
    if device.startswith("cpu"):
        bound_kernel_caches()
    with ExitStack() as silence:
        silence.enter_context(quiet(transformers.logging, bars=not base.local))
        if base.gguf is not None:  # unpacking shows a progress bar that nothing turns off
            silence.enter_context(redirect_stderr(io.StringIO()))
        try:
            tokenizer, model = _load(card, base, device)
        except OSError as error:
            if base.unreached is not None:
                raise not_cached(card, base.unreached) from None
            if not base.local and is_unknown(error):
                raise ConfigError(
                    f"there is no model {card.model!r}: {in_short(error)}",
                    hint="Write the path of a local folder with ./ or / at its beginning.",
                ) from None
            kind = ConfigError if base.local else Unavailable
            raise kind(f"{card.model} cannot be loaded: {in_short(error)}") from error
        except ImportError as error:
            raise _missing_packages(card, base, error) from None
        except (*_NO_MODEL, SafetensorError) as error:
            if (refused := needs_remote_code(card, error)) is not None:
                raise refused from None
            if is_out_of_memory(error):
                raise does_not_fit(card.model, device, error) from None
            raise ConfigError(
                f"{card.model} is not a language model that transformers loads: {in_short(error)}"
            ) from None
    return tokenizer, model if adapter is None else lay_adapter(model, adapter)


def _device(card: JudgeCard, wanted: str | None) -> str:
    """The device of a model.

    Raises:
        ConfigError: there is no such device.
    """
    import torch

    if wanted is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        kind = torch.device(wanted).type
    except RuntimeError:
        raise ConfigError(
            f"judge {card.name!r}: there is no device {wanted!r}; use cpu or cuda"
        ) from None
    if kind == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            f"judge {card.name!r}: PyTorch finds no GPU here, but the device is {wanted!r}",
            hint="Leave the device out, or install a PyTorch that was built for this GPU.",
        )
    return wanted


def check_options(card: JudgeCard) -> None:
    """Checks that a card's options are those of this backend.

    Raises:
        ConfigError: an option is unknown, or its value is invalid.
    """
    given = card.options
    wrong: str | None = None
    batch_tokens = given.get("batch_tokens", 1)
    if unknown := sorted(set(given) - {*_OPTIONS, *EMBEDDED_OPTIONS}):
        wrong = f"unknown option {unknown[0]!r}; expected one of {', '.join(_OPTIONS)}"
    elif given.get("precision", "auto") not in _PRECISIONS:
        wrong = (
            f"options.precision must be one of {', '.join(_PRECISIONS)}, "
            f"found {given['precision']!r}"
        )
    elif not isinstance(given.get("device_map", ""), str | dict):
        wrong = f"options.device_map must be a name or a map, found {given['device_map']!r}"
    elif not isinstance(given.get("attention", ""), str):
        wrong = f"options.attention must be a name, such as sdpa, found {given['attention']!r}"
    elif switches := [name for name in _SWITCHES if not isinstance(given.get(name, False), bool)]:
        wrong = f"options.{switches[0]} must be true or false, found {given[switches[0]]!r}"
    elif type(batch_tokens) is not int or batch_tokens < 1:
        wrong = f"options.batch_tokens must be a number from 1, found {batch_tokens!r}"
    if wrong is not None:
        raise ConfigError(f"judge {card.name!r}: {wrong}")


def _missing_packages(card: JudgeCard, base: Base, error: ImportError) -> ConfigError:
    """The error where transformers lacks a package for a checkpoint's layout, with its command."""
    method = "bitsandbytes" if card.options.get("load_in_4bit") else _quantisation(card, base)
    what = f"{card.model} needs a package that is not installed: {in_short(error)}"
    if method not in _PACKAGES:
        return ConfigError(what)
    return ConfigError(f"{what} (its weights are in {method}'s layout)", hint=_PACKAGES[method])


def _quantisation(card: JudgeCard, base: Base) -> str | None:
    """The quantisation method of a checkpoint; None where its weights are dense."""
    import transformers

    if base.gguf is not None:
        return None
    config = transformers.AutoConfig.from_pretrained(base.name, **_where(card, base))
    settings: Any = getattr(config, "quantization_config", None)
    if settings is None:
        return None
    read = settings.get if isinstance(settings, dict) else partial(getattr, settings)
    method = read("quant_method", None) or "unknown"
    return str(getattr(method, "value", method))


def _where(card: JudgeCard, base: Base) -> dict[str, Any]:
    where = hub_arguments(card.revision, local=base.local, unreached=base.unreached)
    if base.gguf is not None:
        where["gguf_file"] = base.gguf
    return where


def _load(card: JudgeCard, base: Base, device: str) -> tuple[Any, Any]:
    import transformers

    where = _where(card, base)
    tokenizer = transformers.AutoTokenizer.from_pretrained(base.name, **where)
    if base.gguf is not None and base.weights is not None:
        mend_splits(tokenizer, base.weights)
    method = _quantisation(card, base)
    model, report = transformers.AutoModelForCausalLM.from_pretrained(
        base.name, output_loading_info=True, **where, **_settings(card, base, device, method)
    )
    if report["missing_keys"]:
        raise ConfigError(
            f"{card.model} is not a complete language model: it has no weights for "
            f"{', '.join(sorted(report['missing_keys'])[:3])}, which would be random"
        )
    if method == "compressed-tensors":
        _unpack(model)
    if device == "cpu" or "device_map" in card.options:
        return tokenizer, model.eval()
    # Quantised weights were placed as they were loaded, and some kinds cannot be moved.
    return tokenizer, (model if getattr(model, "is_quantized", False) else model.to(device)).eval()


def _unpack(model: Any) -> None:
    """Unpacks weights that compressed-tensors unpacks when a model is first called as a whole.

    Choices are scored by its decoder alone, which would find no weights.
    """
    import torch

    with torch.no_grad():
        model(torch.zeros((1, 1), dtype=torch.long, device=model.device))


def _settings(card: JudgeCard, base: Base, device: str, method: str | None) -> dict[str, Any]:
    """The arguments of `from_pretrained` on precision, placement and attention."""
    import torch
    import transformers

    given = card.options
    usual = "bfloat16" if device.startswith("cuda") else "float32"
    if method is not None:
        usual = "auto"  # dense parts beside packed weights have the type that their kernels take
        if given.get("load_in_4bit"):
            raise ConfigError(
                f"{card.model} is quantised already, by {method}",
                hint="Leave out options.load_in_4bit: the checkpoint is run as it is.",
            )
    precision = given.get("precision", usual)
    settings: dict[str, Any] = {
        "dtype": precision if precision == "auto" else getattr(torch, precision)
    }
    if "attention" in given:
        settings["attn_implementation"] = given["attention"]
    if "device_map" in given:
        settings["device_map"] = given["device_map"]
    elif device != "cpu" and importlib.util.find_spec("accelerate") is not None:
        settings["device_map"] = {"": device}
    if base.gguf is not None and hasattr(transformers, "GgufConfig"):
        # Packed weights could not take an adapter; older versions always unpack.
        settings["quantization_config"] = transformers.GgufConfig(
            gguf_file=base.gguf, dequantize=True
        )
    elif given.get("load_in_4bit"):
        settings["quantization_config"] = transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
        )
    return settings
