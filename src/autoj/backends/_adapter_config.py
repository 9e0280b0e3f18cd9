"""Reads `adapter_config.json`: the target modules and the scaling of an adapter, in PEFT's layout.

Only plain LoRA can be merged into a model's matrices with the trained result. Any other change of
the model is refused by name, and so is a setting unknown to this version: a half-applied adapter
would judge, and nobody would notice.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from autoj.errors import ConfigError

CONFIG_FILE = "adapter_config.json"

GET_AGAIN = "Get the adapter's files again from their source."
"""The hint where a file of an adapter is damaged."""

# Records of the training, without effect on the merged weights.
_HARMLESS = frozenset(
    {
        "auto_mapping", "base_model_name_or_path", "corda_config", "eva_config", "inference_mode",
        "loftq_config", "lora_dropout", "lora_ga_config", "megatron_core", "peft_version",
        "qalora_group_size", "revision", "task_type",
    }
)  # fmt: skip
# Other initialisations (PiSSA, OLoRA, …) change the base's weights too, which the file lacks.
_PLAIN_BEGINNINGS = (True, False, None, "gaussian", "eva", "orthogonal")

_ENDING = r"(.*\.)?({})$"
_LAYER = r"(?:^|.*?\.){}\.(?P<number>\d+)\."

_Finite = Annotated[float, Field(allow_inf_nan=False)]
_Rank = Annotated[int, Field(ge=1)]
_Value = TypeVar("_Value", int, float)


class LoraConfig(BaseModel):
    """The settings of a LoRA adapter that decide its target modules and its scaling.

    **Source:** the fields and their meaning are those of PEFT's `LoraConfig`.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    r: _Rank
    """The rank of the two factors."""
    lora_alpha: _Finite
    target_modules: tuple[str, ...] | str
    """Endings of the target modules' paths, or a regular expression for whole paths."""
    exclude_modules: tuple[str, ...] | str | None = None
    layers_to_transform: tuple[int, ...] | int | None = None
    layers_pattern: tuple[str, ...] | str | None = None
    rank_pattern: Mapping[str, _Rank] = {}
    """The rank of modules whose path ends with a match of a regular expression."""
    alpha_pattern: Mapping[str, _Finite] = {}
    use_rslora: bool = False
    bias: str = "none"
    init_lora_weights: bool | str | None = True

    def rank(self, module: str) -> int:
        """The rank of a module's factors.

        Args:
            module: its path in the model, such as `model.layers.0.self_attn.q_proj`.
        """
        return _of_pattern(self.rank_pattern, module, self.r)

    def scaling(self, module: str) -> float:
        """The factor of the product of a module's matrices before it is added."""
        alpha = _of_pattern(self.alpha_pattern, module, self.lora_alpha)
        rank = self.rank(module)
        return alpha / (math.sqrt(rank) if self.use_rslora else rank)

    def targets(self, module: str) -> bool:
        """True where the adapter has factors for a module of the model."""
        if self.exclude_modules and _named(self.exclude_modules, module):
            return False
        if not _named(self.target_modules, module):
            return False
        chosen = self.layers_to_transform
        if isinstance(self.target_modules, str) or chosen is None or chosen == ():
            return True
        layer = _layer(self.layers_pattern, module)
        return layer == chosen if isinstance(chosen, int) else layer in chosen


def parse_config(content: bytes, path: Path, judge: str) -> LoraConfig:
    """Reads the settings of an adapter.

    Args:
        content: the file's content.
        path: the file's path, for messages.
        judge: the judge's name, for messages.

    Raises:
        ConfigError: it is not an adapter's file, or the adapter cannot be merged.
    """
    where = f"judge {judge!r}: {path}"
    try:
        loaded = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where} is not JSON ({error})", hint=GET_AGAIN) from None
    if not isinstance(loaded, dict):
        raise ConfigError(f"{where}: expected a JSON object", hint=GET_AGAIN)
    if loaded.get("peft_type") != "LORA":
        raise ConfigError(
            f"{where}: expected peft_type 'LORA', found {loaded.get('peft_type')!r}",
            hint="Only LoRA adapters can be merged; merge this one with the library that made it.",
        )
    try:
        config = LoraConfig.model_validate(loaded)
        _try_patterns(config)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ConfigError(
            f"{where}: {field}: {first['msg']}, found {first['input']!r}", hint=GET_AGAIN
        ) from None
    except re.error as error:
        raise ConfigError(f"{where}: {error.pattern!r} is not a regular expression") from None
    if unmergeable := list(_unmergeable(config)):
        raise ConfigError(
            f"{where}: this adapter is more than plain LoRA: {', '.join(unmergeable)}",
            hint="Train it without, or merge it with PEFT and name the merged model in the card.",
        )
    return config


def _unmergeable(config: LoraConfig) -> Iterable[str]:
    """The settings, as `name=value`, that a plain sum of weights cannot represent."""
    if config.bias != "none":
        yield f"bias={config.bias!r}"
    if config.init_lora_weights not in _PLAIN_BEGINNINGS:
        yield f"init_lora_weights={config.init_lora_weights!r}"
    settings: dict[str, Any] = config.model_extra or {}
    for name, value in sorted(settings.items()):
        if value and name not in {"peft_type", *_HARMLESS}:
            yield f"{name}={value!r}"


def _try_patterns(config: LoraConfig) -> None:
    """Compiles every regular expression, so that a broken one is found before it is needed."""
    for ending in (*config.rank_pattern, *config.alpha_pattern):
        re.compile(_ENDING.format(ending))
    for path in (config.target_modules, config.exclude_modules):
        if isinstance(path, str):
            re.compile(path)
    for pattern in _patterns(config.layers_pattern):
        re.compile(_LAYER.format(pattern))


def _of_pattern(patterns: Mapping[str, _Value], module: str, otherwise: _Value) -> _Value:
    for ending, value in patterns.items():
        if re.match(_ENDING.format(ending), module):
            return value
    return otherwise


def _named(names: tuple[str, ...] | str, module: str) -> bool:
    if isinstance(names, str):
        return re.fullmatch(names, module) is not None
    return any(module == name or module.endswith(f".{name}") for name in names)


def _patterns(patterns: tuple[str, ...] | str | None) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else patterns or (r"[^.]*",)


def _layer(patterns: tuple[str, ...] | str | None, module: str) -> int | None:
    """The number of a module's layer: the first number in its path that follows a pattern."""
    for pattern in _patterns(patterns):
        if found := re.match(_LAYER.format(pattern), module):
            return int(found["number"])
    return None
