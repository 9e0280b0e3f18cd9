"""Reads and checks a judge's LoRA adapter in PEFT's layout, with neither torch nor PEFT.

Adapters are small and easily confused: a truncated file, one of an earlier training or one for
another base would load and judge. So everything is checked before an engine uses it: both files,
every tensor, the digest in the card, and the digest of the base in the file's metadata.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from autoj.backends._adapter_config import CONFIG_FILE, GET_AGAIN, LoraConfig, parse_config
from autoj.backends._heads import PREFIXES as HEADS
from autoj.backends._heads import Heads, parse_heads
from autoj.errors import ConfigError
from autoj.jsonl import sha256_of
from autoj.records import JudgeCard

WEIGHTS_FILE = "adapter_model.safetensors"

BASE_FIELD = "base_sha256"
"""The field of the weights file's metadata that names the base: sha256 (hex) of its file."""

_PREFIX = "base_model.model."
_FACTORS = (".lora_A.weight", ".lora_B.weight")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoraModule:
    """The change that an adapter makes to one matrix."""

    a: npt.NDArray[np.float32]
    """[rank, n_in]"""
    b: npt.NDArray[np.float32]
    """[n_out, rank]"""
    scaling: float

    @property
    def shape(self) -> tuple[int, int]:
        """(n_out, n_in): the shape of the matrix that it changes."""
        return self.b.shape[0], self.a.shape[1]

    def delta(self) -> npt.NDArray[np.float32]:
        """[n_out, n_in]: the change, `scaling * B @ A`."""
        return np.float32(self.scaling) * (self.b @ self.a)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Adapter:
    """A complete and checked adapter."""

    judge: str
    """The judge that uses it, for messages."""
    path: Path
    """Its weights file."""
    sha256: str
    """Hex digest of the weights file; a card's `adapter_revision` states it."""
    digest: str
    """sha256 (hex) of the configuration and the factors: all that a merged model depends on,
    besides the base."""
    base_sha256: str | None
    """The digest (hex) of the base's weights file that it was trained on, if stated."""
    config: LoraConfig
    modules: Mapping[str, LoraModule]
    """The change per module of the model, such as `model.layers.0.self_attn.q_proj`."""
    heads: Heads
    """Its changes of the scores of choices, beside the model."""


def read_adapter(
    folder: Path, *, revision: str | None, base_sha256: str | None, judge: str
) -> Adapter:
    """Reads a LoRA adapter, with all checks that are possible without its base.

    Args:
        folder: holds `adapter_config.json` and `adapter_model.safetensors`, in PEFT's layout.
        revision: `sha256:…` of the weights file, as in the card; None where the card has none.
        base_sha256: hex digest of the base's weights file; None where that is not a single file.
        judge: the judge's name, for messages.

    Raises:
        ConfigError: a file is missing or damaged, is not the one that the card names, belongs to
            another base, or cannot be merged.
    """
    if not folder.is_dir():
        raise ConfigError(
            f"judge {judge!r}: there is no adapter folder {str(folder)!r}",
            hint=f"Its card's `adapter` names a folder with {CONFIG_FILE} and {WEIGHTS_FILE}.",
        )
    path = folder / WEIGHTS_FILE
    settings = _read(folder / CONFIG_FILE, judge)
    config = parse_config(settings, folder / CONFIG_FILE, judge)
    content = _read(path, judge)
    where = f"judge {judge!r}: {path}"
    sha256 = hashlib.sha256(content).hexdigest()
    _check_revision(sha256, revision, where)
    tensors, metadata = _parse_weights(content, where)
    _check_base(metadata.get(BASE_FIELD), base_sha256, where)
    factors = {name: rows for name, rows in tensors.items() if not name.startswith(HEADS)}
    modules = _modules(factors, config, where)
    heads = parse_heads(tensors, where)
    _check_widths(heads, modules, where)
    return Adapter(
        judge=judge,
        path=path,
        sha256=sha256,
        digest=_digest(settings, factors),
        base_sha256=metadata.get(BASE_FIELD),
        config=config,
        modules=modules,
        heads=heads,
    )


def heads_of(card: JudgeCard) -> Heads:
    """The heads of a card's adapter; none without an adapter.

    Raises:
        ConfigError: the weights file is missing or damaged, or a head is.
    """
    if card.adapter is None:
        return Heads()
    path = card.locate(card.adapter) / WEIGHTS_FILE
    where = f"judge {card.name!r}: {path}"
    tensors, _ = _parse_weights(_read(path, card.name), where, HEADS)
    return parse_heads(tensors, where)


def remove_heads(folder: Path, card: JudgeCard) -> str:
    """Writes an adapter's weights file without its heads, and its factors in float32.

    Args:
        folder: a copy of the adapter's.
        card: the judge's.

    Returns:
        The new file's digest (hex).

    Raises:
        ConfigError: the file is missing, damaged, or not the one that the card pins.
    """
    from safetensors.numpy import save_file

    path = folder / WEIGHTS_FILE
    where, content = f"judge {card.name!r}: {path}", _read(path, card.name)
    _check_revision(hashlib.sha256(content).hexdigest(), card.adapter_revision, where)
    tensors, metadata = _parse_weights(content, where)
    kept = {name: rows for name, rows in tensors.items() if not name.startswith(HEADS)}
    save_file(kept, path, metadata)
    return sha256_of(path)


def _digest(settings: bytes, factors: Mapping[str, npt.NDArray[np.float32]]) -> str:
    found = hashlib.sha256(settings)
    for name in sorted(factors):
        found.update(name.encode())
        found.update(factors[name].tobytes())
    return found.hexdigest()


def _check_widths(heads: Heads, modules: Mapping[str, LoraModule], where: str) -> None:
    """Checks that heads are for the model's states, whose width the queries' projections have."""
    widths = {module.shape[1] for name, module in modules.items() if name.endswith(".q_proj")}
    for kind, head in (("rating", heads.rating), ("comparison", heads.comparison)):
        if head is not None and widths and widths != {len(head.weight)}:
            raise ConfigError(
                f"{where}: its {kind} head reads states of {len(head.weight):,} numbers, and the "
                f"model's have {sorted(widths)}",
                hint="It was fitted to another model; get the adapter's files again.",
            )


def _read(path: Path, judge: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"judge {judge!r}: there is no file {path}", hint=GET_AGAIN) from None
    except OSError as error:
        raise ConfigError(f"judge {judge!r}: {path} cannot be read: {error.strerror}") from None


def _check_revision(sha256: str, revision: str | None, where: str) -> None:
    if revision is None:
        return
    kind, _, stated = revision.partition(":")
    if kind != "sha256" or len(stated) != 64:
        raise ConfigError(
            f"{where}: the card's adapter_revision must be sha256:<64 hex digits>, "
            f"found {revision!r}"
        )
    if stated.lower() != sha256:
        raise ConfigError(
            f"{where}: the file is not the one that the card names: "
            f"expected sha256 {stated}, found {sha256}",
            hint=f"{GET_AGAIN} If it was trained again, its card was rewritten, too.",
        )


def _check_base(stated: str | None, base_sha256: str | None, where: str) -> None:
    if base_sha256 is None:
        return
    if stated is None:
        raise ConfigError(
            f"{where}: the file's metadata does not say which base the adapter was trained on: "
            f"expected a field {BASE_FIELD!r} with the sha256 {base_sha256}",
            hint=f"If that is its base, save the file with {BASE_FIELD!r} in its metadata.",
        )
    if stated.lower() != base_sha256:
        raise ConfigError(
            f"{where}: this adapter was trained on another base: expected sha256 {base_sha256} "
            f"(the card's model), found {stated!r} in the file's metadata",
            hint="Name the base that it was trained on as the card's model and revision.",
        )


def _parse_weights(
    content: bytes, where: str, prefixes: tuple[str, ...] = ("",)
) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, str]]:
    from safetensors import SafetensorError, deserialize

    try:
        # The library checks that the header is complete and covers the whole file.
        raw = deserialize(content)  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise ConfigError(f"{where} is damaged or incomplete ({error})", hint=GET_AGAIN) from None
    length = int.from_bytes(content[:8], "little")
    metadata: dict[str, str] = json.loads(content[8 : 8 + length]).get("__metadata__") or {}
    return {
        name: _decode(name, tensor, where) for name, tensor in raw if name.startswith(prefixes)
    }, metadata


def _decode(name: str, tensor: Mapping[str, Any], where: str) -> npt.NDArray[np.float32]:
    data, kind = tensor["data"], tensor["dtype"]
    if kind == "BF16":  # the upper half of a float32, which NumPy has no type for
        values = (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    elif kind in ("F16", "F32"):
        values = np.frombuffer(data, "<f2" if kind == "F16" else "<f4").astype(np.float32)
    else:
        raise ConfigError(
            f"{where}: tensor {name!r} is of type {kind!r}, expected F32, F16 or BF16",
            hint="Save the adapter in one of these types.",
        )
    if not np.isfinite(values).all():
        raise ConfigError(
            f"{where}: tensor {name!r} holds values that are not finite",
            hint="The training diverged, or the file is damaged.",
        )
    return values.reshape(tensor["shape"])


def _modules(
    tensors: Mapping[str, npt.NDArray[np.float32]], config: LoraConfig, where: str
) -> dict[str, LoraModule]:
    if not tensors:
        raise ConfigError(f"{where} holds no tensors", hint=GET_AGAIN)
    found = {_module_name(name, where) for name in sorted(tensors)}
    return {name: _module(name, tensors, config, where) for name in sorted(found)}


def _module_name(tensor: str, where: str) -> str:
    if tensor.startswith(_PREFIX) and tensor.endswith(_FACTORS):
        return tensor.removeprefix(_PREFIX).rsplit(".", 2)[0]
    raise ConfigError(
        f"{where}: tensor {tensor!r} is not a factor of a LoRA adapter: "
        f"expected '{_PREFIX}<module>{_FACTORS[0]}' or '…{_FACTORS[1]}'",
        hint="Adapters of embeddings and extra layers cannot be merged: train without them.",
    )


def _module(
    name: str,
    tensors: Mapping[str, npt.NDArray[np.float32]],
    config: LoraConfig,
    where: str,
) -> LoraModule:
    factors = [tensors.get(_PREFIX + name + factor) for factor in _FACTORS]
    for factor, kind in zip(factors, _FACTORS, strict=True):
        if factor is None:
            raise ConfigError(f"{where}: tensor '{_PREFIX}{name}{kind}' is missing", hint=GET_AGAIN)
    a, b = (factor for factor in factors if factor is not None)
    rank = config.rank(name)
    if a.ndim != 2 or b.ndim != 2 or (a.shape[0], b.shape[1]) != (rank, rank):
        raise ConfigError(
            f"{where}: the factors of {name!r} have shapes {a.shape} and {b.shape}, "
            f"expected ({rank}, n_in) and (n_out, {rank}) by {CONFIG_FILE}",
            hint=GET_AGAIN,
        )
    if not config.targets(name):
        raise ConfigError(
            f"{where}: {name!r} has factors but is not a target in {CONFIG_FILE}", hint=GET_AGAIN
        )
    return LoraModule(a=a, b=b, scaling=config.scaling(name))
