"""A card's model and tokenizer, from a folder, the hub or a GGUF file, with its adapter on it."""

from __future__ import annotations

import importlib.util
import io
from contextlib import ExitStack, redirect_stderr
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autoj.backends._loading import in_short, quiet
from autoj.backends.embedded.weights import OnFetch, fetch_weights
from autoj.backends.hf.adapters import check_adapter, lay_adapter
from autoj.backends.hf.gguf_tokenizer import mend_splits
from autoj.errors import BackendError, ConfigError, MissingExtra, Unavailable
from autoj.jsonl import sha256_of
from autoj.records import JudgeCard

__all__ = ["check_options", "load_model"]

_OPTIONS = ("precision", "device_map", "attention", "load_in_4bit", "batch_tokens")
# Where the weights of a shipped card come from, by `embedded.weights.fetch_weights`.
_SOURCES = ("package", "file", "url", "size_bytes")
_PRECISIONS = ("auto", "float32", "bfloat16", "float16")
_WEIGHTS = "model.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    """Where a base lies."""

    name: str
    """A folder, or a name on the hub."""
    local: bool
    gguf: str | None = None
    """The file in that folder, where it is a GGUF file."""
    weights: Path | None = None
    """The one file that holds all weights, where there is one here."""


def load_model(
    card: JudgeCard, device: str | None = None, on_fetch: OnFetch | None = None
) -> tuple[Any, Any]:
    """A card's tokenizer and model, ready to judge.

    Args:
        card: its model is a folder, a `.gguf` file, a name on the hub, or a shipped card's weights,
            which its options say the source of.
        device: "cpu", "cuda", …; None takes a GPU where there is one.
        on_fetch: told of the progress of a fetch of a shipped card's weights.

    Returns:
        The tokenizer and the model, of transformers; PEFT's wrapping of one where an adapter lies
        beside quantised weights.

    Raises:
        MissingExtra: a package is not installed.
        ConfigError: an option makes no sense, a file is missing or damaged, or the model is no
            causal language model.
        Unavailable: the model could not be fetched.
        BackendError: the device has no memory for it.
    """
    check_options(card)
    if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers")):
        raise MissingExtra("hf", f"judge {card.name!r}")
    base = _find(card, on_fetch)
    adapter = None if card.adapter is None else check_adapter(card, base.weights)
    import torch
    import transformers
    from safetensors import SafetensorError

    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    with ExitStack() as silence:
        silence.enter_context(quiet(transformers.logging, bars=not base.local))
        if base.gguf is not None:  # it is unpacked under a bar that nothing turns off
            silence.enter_context(redirect_stderr(io.StringIO()))
        try:
            tokenizer, model = _load(card, base, device)
        except torch.OutOfMemoryError as error:
            raise BackendError(
                f"{card.model} does not fit into the memory of {device}: {in_short(error)}",
                hint="Use options.precision bfloat16, options.load_in_4bit, a smaller model, or "
                "options.device_map auto for several GPUs.",
            ) from None
        except OSError as error:
            kind = ConfigError if base.local else Unavailable
            raise kind(f"{card.model} cannot be loaded: {in_short(error)}") from error
        except (ImportError, KeyError, RuntimeError, ValueError, SafetensorError) as error:
            raise ConfigError(
                f"{card.model} is no language model that transformers can load: {in_short(error)}"
            ) from None
    return tokenizer, model if adapter is None else lay_adapter(model, adapter)


def check_options(card: JudgeCard) -> None:
    """Make sure that a card's options are those of this backend.

    Raises:
        ConfigError: there is no such option, or its value makes no sense.
    """
    given = card.options
    wrong: str | None = None
    batch_tokens = given.get("batch_tokens", 1)
    if unknown := sorted(set(given) - {*_OPTIONS, *_SOURCES}):
        wrong = f"there is no option {unknown[0]!r}; there are {', '.join(_OPTIONS)}"
    elif given.get("precision", "auto") not in _PRECISIONS:
        wrong = (
            f"options.precision must be one of {', '.join(_PRECISIONS)}, "
            f"found {given['precision']!r}"
        )
    elif not isinstance(given.get("device_map", ""), str | dict):
        wrong = f"options.device_map must be a name or a map, found {given['device_map']!r}"
    elif not isinstance(given.get("attention", ""), str):
        wrong = f"options.attention must be a name, such as sdpa, found {given['attention']!r}"
    elif not isinstance(given.get("load_in_4bit", False), bool):
        wrong = f"options.load_in_4bit must be true or false, found {given['load_in_4bit']!r}"
    elif type(batch_tokens) is not int or batch_tokens < 1:
        wrong = f"options.batch_tokens must be a number from 1, found {batch_tokens!r}"
    if wrong is not None:
        raise ConfigError(f"judge {card.name!r}: {wrong}")


def _find(card: JudgeCard, on_fetch: OnFetch | None) -> _Base:
    path = card.locate(card.model)
    if card.model.endswith(".gguf") or "package" in card.options or "url" in card.options:
        for package in ("gguf", "accelerate"):
            if importlib.util.find_spec(package) is None:
                raise MissingExtra("hf", f"the GGUF file of judge {card.name!r}")
        own = card.model.endswith(".gguf")
        file = fetch_weights(replace(card, model=str(path)) if own else card, on_fetch)
        base = _Base(name=str(file.parent), local=True, gguf=file.name, weights=file)
    elif path.is_dir():
        single = path / _WEIGHTS
        base = _Base(name=str(path), local=True, weights=single if single.is_file() else None)
    elif card.model.startswith(("/", ".", "~")):
        raise ConfigError(f"judge {card.name!r}: there is no folder {str(path)!r}")
    else:
        return _Base(name=card.model, local=False)
    _check_revision(card, base.weights)
    return base


def _check_revision(card: JudgeCard, weights: Path | None) -> None:
    digest = (card.revision or "").removeprefix("sha256:")
    if weights is None or digest == card.revision or not digest:
        return
    found = sha256_of(weights)
    if found != digest:
        raise ConfigError(
            f"judge {card.name!r}: {weights} is not the file that its card pins: expected sha256 "
            f"{digest}, found {found}"
        )


def _load(card: JudgeCard, base: _Base, device: str) -> tuple[Any, Any]:
    import transformers

    where: dict[str, Any] = {"local_files_only": base.local}
    if not base.local:
        where["revision"] = card.revision
    if base.gguf is not None:
        where["gguf_file"] = base.gguf
    tokenizer = transformers.AutoTokenizer.from_pretrained(base.name, **where)
    if base.gguf is not None and base.weights is not None:
        mend_splits(tokenizer, base.weights)
    model, report = transformers.AutoModelForCausalLM.from_pretrained(
        base.name, output_loading_info=True, **where, **_settings(card, base, device)
    )
    if report["missing_keys"]:
        raise ConfigError(
            f"{card.model} is no whole language model: it has no weights for "
            f"{', '.join(sorted(report['missing_keys'])[:3])}, and random ones would judge"
        )
    if device == "cpu" or "device_map" in card.options:
        return tokenizer, model.eval()
    # Quantised weights were placed as they were loaded, and some kinds refuse to be moved.
    return tokenizer, (model if getattr(model, "is_quantized", False) else model.to(device)).eval()


def _settings(card: JudgeCard, base: _Base, device: str) -> dict[str, Any]:
    """What `from_pretrained` is told of how weights are kept and computed with."""
    import torch
    import transformers

    given = card.options
    precision = given.get("precision", "bfloat16" if device.startswith("cuda") else "float32")
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
