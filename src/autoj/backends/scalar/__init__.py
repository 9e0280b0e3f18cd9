"""Reward models: one forward pass scores a query and a response, on the CPU or a GPU.

Any sequence-classification model that transformers loads can be a judge. The card's options say how
it is read:

```
input      pair: query and response are the tokenizer's two segments
           chat: the tokenizer's own chat template, user and assistant
           text: a template of the card's
           (without it: chat where the tokenizer has a template, else pair)
template   of `text`: holds {query} and, after it, {response}
label      one of two labels, by number or name; a model with one label needs none
precision  float32 (without it) or bfloat16
```
"""

import importlib.util
from pickle import UnpicklingError

from autoj.backends._hub import find_in_hub, hub_arguments, needs_remote_code, not_cached
from autoj.backends._loading import in_short, quiet
from autoj.backends._native_memory import bound_kernel_caches
from autoj.backends.hf.base_models import is_unknown
from autoj.backends.hf.memory import does_not_fit, is_out_of_memory
from autoj.backends.scalar.engine import ScalarBackend
from autoj.errors import ConfigError, MissingExtra, Unavailable
from autoj.records import JudgeCard

__all__ = ["ScalarBackend", "load"]

_OPTIONS = ("input", "template", "label", "precision")
_INPUTS = ("pair", "chat", "text")
_PRECISIONS = ("float32", "bfloat16")
_LOWER = "Use options.precision bfloat16 or a smaller model, or stop other processes on the device."


def load(card: JudgeCard, device: str | None = None) -> ScalarBackend:
    """Loads a reward model; from the hub the first time, where its card names no folder.

    Args:
        card: its options are those of this file.
        device: "cpu", "cuda", …; None takes a GPU where there is one.

    Raises:
        MissingExtra: torch or transformers is not installed.
        ConfigError: an option is invalid for the model, there is no such model or no memory for it,
            or it is not a reward model.
        Unavailable: the model could not be fetched.
    """
    if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers")):
        raise MissingExtra("scalar", f"judge {card.name!r}")
    if card.adapter is not None:
        raise ConfigError(f"judge {card.name!r}: this version cannot merge adapters yet")
    _check_options(card)
    folder = card.locate(card.model)
    local = folder.is_dir()
    if not local and card.model.startswith(("/", ".", "~")):
        raise ConfigError(f"judge {card.name!r}: there is no folder {str(folder)!r}")
    unreached = None if local else find_in_hub(card)
    import torch
    import transformers

    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cpu"):
        bound_kernel_caches()
    name = str(folder) if local else card.model
    where = hub_arguments(card.revision, local=local, unreached=unreached)
    with quiet(transformers.logging, bars=not local):
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, **where)
            model, report = transformers.AutoModelForSequenceClassification.from_pretrained(
                name,
                dtype=getattr(torch, str(card.options.get("precision", "float32"))),
                output_loading_info=True,
                **where,
            )
            model = model.to(device)
        except OSError as error:
            if unreached is not None:
                raise not_cached(card, unreached) from None
            kind = ConfigError if local or is_unknown(error) else Unavailable
            raise kind(f"{card.model} cannot be loaded: {in_short(error)}") from error
        except (
            ImportError, KeyError, MemoryError, RuntimeError, UnpicklingError, ValueError
        ) as error:  # fmt: skip
            if (refused := needs_remote_code(card, error)) is not None:
                raise refused from None
            if is_out_of_memory(error):
                raise does_not_fit(card.model, device, error, _LOWER) from None
            raise ConfigError(
                f"{card.model} is not a model that transformers can load: {in_short(error)}"
            ) from None
    if report["missing_keys"]:
        raise ConfigError(
            f"{card.model} is not a reward model: it has no weights for "
            f"{', '.join(sorted(report['missing_keys'])[:3])}, which would be random"
        )
    return ScalarBackend(card, tokenizer, model.eval())


def _check_options(card: JudgeCard) -> None:
    given = card.options
    wrong: str | None = None
    if unknown := sorted(set(given) - set(_OPTIONS)):
        wrong = f"unknown option {unknown[0]!r}; expected one of {', '.join(_OPTIONS)}"
    elif given.get("input", "pair") not in _INPUTS:
        wrong = f"options.input must be one of {', '.join(_INPUTS)}, found {given['input']!r}"
    elif ("template" in given) != (given.get("input") == "text"):
        wrong = "options.template and the input `text` must be used together"
    elif "template" in given and not _holds_both(str(given["template"])):
        wrong = "options.template must hold {query} once and, after it, {response} once"
    elif given.get("precision", "float32") not in _PRECISIONS:
        wrong = f"options.precision must be one of {', '.join(_PRECISIONS)}"
    if wrong is not None:
        raise ConfigError(f"judge {card.name!r}: {wrong}")


def _holds_both(template: str) -> bool:
    counts = (template.count("{query}"), template.count("{response}"))
    return counts == (1, 1) and template.index("{query}") < template.index("{response}")
