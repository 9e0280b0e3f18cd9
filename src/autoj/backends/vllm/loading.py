"""Loads a card's model into vLLM's engine, with the same tokenizer as in the other engines."""

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

from autoj import trust
from autoj.backends._adapter_config import CONFIG_FILE
from autoj.backends._adapters import heads_of
from autoj.backends._hub import hub_arguments
from autoj.backends.hf.adapters import check_adapter
from autoj.backends.hf.base_models import Base, find_base
from autoj.backends.hf.templates import PIN
from autoj.backends.vllm.failures import as_ours
from autoj.errors import ConfigError, MissingExtra
from autoj.records import JudgeCard

_OPTIONS = (
    "tensor_parallel", "precision", "quantization", "gpu_memory_utilization", "enforce_eager",
    "batch_requests", PIN,
)  # fmt: skip
_PRECISIONS = ("auto", "float32", "bfloat16", "float16")
# vLLM supports only these maximum ranks of adapters.
_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
# Log-probabilities of prompt tokens take memory that vLLM does not reserve when it divides up the
# GPU: its first runner computes all logits of a step, [n_tokens, n_vocabulary], in bfloat16 and
# again in float32, and the engine dies where they do not fit (vllm#5907, vllm#52054). At 16,384
# tokens a step, its default on large GPUs, that is 15 GB for a vocabulary of 150,000. A quarter of
# that keeps a GPU as busy.
_STEP_TOKENS = 4096
# Set before vLLM is imported; the user's own settings stay. Its log would otherwise go to stdout,
# where results are printed, and it sends usage data.
_ENVIRONMENT = {
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_NO_USAGE_STATS": "1",
}


def load_engine(card: JudgeCard) -> tuple[Any, Any, Any]:
    """Loads a card's tokenizer, engine and adapter.

    Args:
        card: its model is a folder or a name on the hub.

    Returns:
        transformers' tokenizer, `vllm.LLM`, and vLLM's request for the card's adapter, None where
        it has none.

    Raises:
        MissingExtra: vLLM is not installed.
        ConfigError: there is no GPU or no memory for the model, an option is invalid, or a file is
            missing, damaged or not the right one.
        Unavailable: the model could not be fetched.
        BackendError: vLLM broke down.
    """
    check_options(card)
    if importlib.util.find_spec("vllm") is None:
        raise MissingExtra("vllm", f"judge {card.name!r}", note="on Linux, with a GPU")
    if card.model.endswith(".gguf") or "package" in card.options:
        raise ConfigError(
            f"judge {card.name!r}: the vllm backend cannot run GGUF files",
            hint="Use the hf backend for it, or the model's folder in transformers' layout.",
        )
    base = find_base(card)
    adapter = None if card.adapter is None else check_adapter(card, base.weights)
    if heads_of(card):
        raise ConfigError(
            f"judge {card.name!r}: its adapter has a head for verdicts, which vLLM cannot apply: "
            "its verdicts would be another judge's",
            hint="Run it on the hf backend, or on the embedded one.",
        )
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with as_ours(card, "cannot be loaded", local=base.local, unreached=base.unreached):
        import transformers
        import vllm
        from vllm.lora.request import LoRARequest

        n_gpus = _count_gpus(card)
        where = hub_arguments(card.revision, local=base.local, unreached=base.unreached)
        config = transformers.AutoConfig.from_pretrained(base.name, **where).get_text_config()
        tokenizer = transformers.AutoTokenizer.from_pretrained(base.name, **where)
        engine = vllm.LLM(**_arguments(card, base, config, n_gpus, adapter))
        request = None if adapter is None else LoRARequest("judge", 1, str(adapter))
    return tokenizer, engine, request


def check_options(card: JudgeCard) -> None:
    """Checks that a card's options are those of this backend.

    Raises:
        ConfigError: an option is unknown, or its value is invalid.
    """
    given = card.options
    wrong: str | None = None
    share = given.get("gpu_memory_utilization", 0.5)
    if unknown := sorted(set(given) - set(_OPTIONS)):
        wrong = f"unknown option {unknown[0]!r}; expected one of {', '.join(_OPTIONS)}"
    elif given.get("precision", "auto") not in _PRECISIONS:
        wrong = (
            f"options.precision must be one of {', '.join(_PRECISIONS)}, "
            f"found {given['precision']!r}"
        )
    elif not isinstance(given.get("quantization", ""), str):
        wrong = f"options.quantization must be a name, found {given['quantization']!r}"
    elif not isinstance(given.get("enforce_eager", False), bool):
        wrong = f"options.enforce_eager must be true or false, found {given['enforce_eager']!r}"
    elif isinstance(share, bool) or not isinstance(share, float | int) or not 0 < share <= 1:
        wrong = f"options.gpu_memory_utilization must be above 0 and at most 1, found {share!r}"
    for name in ("tensor_parallel", "batch_requests"):
        number = given.get(name, 1)
        if type(number) is not int or number < 1:
            wrong = wrong or f"options.{name} must be a number from 1, found {number!r}"
    if wrong is not None:
        raise ConfigError(f"judge {card.name!r}: {wrong}")


def _count_gpus(card: JudgeCard) -> int:
    import torch

    n_gpus: int = torch.cuda.device_count()
    if n_gpus == 0:
        raise ConfigError(
            f"judge {card.name!r} runs on the 'vllm' backend, which needs a GPU, and there is none",
            hint="Run it on the hf backend, or point the openai backend at a machine where "
            "`vllm serve` runs.",
        )
    return n_gpus


def _arguments(
    card: JudgeCard, base: Base, config: Any, n_gpus: int, adapter: Path | None
) -> dict[str, Any]:
    """The arguments of `vllm.LLM`; others keep vLLM's defaults."""
    given = card.options
    positions: int | None = getattr(config, "max_position_embeddings", None)
    arguments: dict[str, Any] = {
        "model": base.name,
        "dtype": given.get("precision", "auto"),
        "tensor_parallel_size": _n_parallel(card, config, n_gpus),
        "max_model_len": min(card.context_tokens, positions or card.context_tokens),
        "max_num_batched_tokens": _STEP_TOKENS,
        "enable_prefix_caching": True,
        # The number of choices that a protocol may have; the default is 20.
        "max_logprobs": -1,
        "seed": card.decoding.seed,
        "trust_remote_code": trust.runs_remote_code(),
    }
    if not base.local and card.revision is not None:
        arguments |= {"revision": card.revision, "tokenizer_revision": card.revision}
    for name in ("quantization", "gpu_memory_utilization", "enforce_eager"):
        if name in given:
            arguments[name] = given[name]
    if adapter is not None:
        arguments |= {"enable_lora": True, "max_loras": 1, "max_lora_rank": _rank(adapter)}
    return arguments


def _n_parallel(card: JudgeCard, config: Any, n_gpus: int) -> int:
    """The number of GPUs that each layer is spread over: each gets the same number of heads."""
    wanted: int | None = card.options.get("tensor_parallel")
    if wanted is not None:
        if wanted > n_gpus:
            raise ConfigError(
                f"judge {card.name!r}: options.tensor_parallel is {wanted}, but there are only "
                f"{n_gpus} GPUs"
            )
        return wanted
    heads: int = getattr(config, "num_attention_heads", 1)
    shared: int = getattr(config, "num_key_value_heads", None) or heads
    return max(
        n for n in range(1, n_gpus + 1) if heads % n == 0 and (shared % n == 0 or n % shared == 0)
    )


def _rank(adapter: Path) -> int:
    """The smallest supported maximum rank for an adapter's factors."""
    settings = json.loads((adapter / CONFIG_FILE).read_text(encoding="utf-8"))
    largest: int = max([settings.get("r", 8), *(settings.get("rank_pattern") or {}).values()])
    fitting = [rank for rank in _RANKS if rank >= largest]
    if not fitting:
        raise ConfigError(
            f"{adapter}: its rank is {largest}, but vLLM supports adapters up to {_RANKS[-1]}",
            hint="Merge it into the model's weights and use those.",
        )
    return fitting[0]
