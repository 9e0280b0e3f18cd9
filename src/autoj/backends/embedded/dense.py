"""Converts a quantised GGUF file to a dense one, with exactly the weights of the format.

OpenVINO reads quantised GGUF files itself, but stores the offsets of Q4_1 as 4-bit integers, where
the format has 16-bit floats. On the embedded judge that shifted the log-probability of a verdict by
half a nat. Weights that the format's own library unpacks are exact, and a dense model also prefills
faster, at 270 MB in the cache folder instead of 92.

A LoRA adapter is added in between, in float32, before the single rounding to float16.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from autoj.backends._adapters import Adapter, LoraModule
from autoj.backends.embedded.merging import place_modules
from autoj.errors import BackendError, ConfigError

__all__ = ["write_dense"]


def write_dense(quantised: Path, dense: Path, adapter: Adapter | None = None) -> None:
    """Copies a GGUF file with its quantised tensors unpacked to float16.

    Args:
        quantised: the file to read.
        dense: the file to write.
        adapter: the adapter to add to the weights.

    Raises:
        BackendError: the file is not GGUF, or holds a type that cannot be unpacked.
        ConfigError: the adapter does not fit the file.
    """
    import gguf

    try:
        reader = gguf.GGUFReader(quantised)
        writer = gguf.GGUFWriter(dense, _field(reader, "general.architecture"))
        _copy_fields(reader, writer)
        added = {} if adapter is None else _placed(adapter, reader)
        for tensor in reader.tensors:
            writer.add_tensor(tensor.name, _unpacked(tensor, added.get(tensor.name)))
    except (ValueError, KeyError, NotImplementedError) as error:
        raise BackendError(f"{quantised} cannot be read as GGUF: {error}") from error
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _field(reader: Any, name: str) -> Any:
    field = reader.get_field(name)
    if field is None:
        raise KeyError(name)
    return field.contents()


def _copy_fields(reader: Any, writer: Any) -> None:
    import gguf

    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue  # the writer makes these itself
        if field.name == "general.file_type":
            writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
            continue
        kind = field.types[0]
        of_kind = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, sub_type=of_kind)


def _placed(adapter: Adapter, reader: Any) -> dict[str, LoraModule]:
    # A file states shapes with the columns first.
    shapes = {tensor.name: tuple(map(int, tensor.shape[::-1])) for tensor in reader.tensors}
    return place_modules(adapter, shapes, lambda name: _field(reader, name))


def _unpacked(tensor: Any, added: LoraModule | None) -> Any:
    import gguf

    exact = tensor.tensor_type == gguf.GGMLQuantizationType.F32  # norms, which are small
    weights = tensor.data if exact else gguf.dequantize(tensor.data, tensor.tensor_type)
    if added is not None:
        weights = _sum(weights, added, tensor.name)
    return weights if exact else weights.astype(np.float16)


def _sum(weights: Any, added: LoraModule, name: str) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):
        merged = weights + added.delta()
        fits = bool(np.abs(merged).max() <= np.finfo(np.float16).max)
    if not fits:
        raise ConfigError(
            f"the adapter makes weights of {name!r} too large for float16",
            hint="Its training diverged: train it again with a lower learning rate.",
        )
    return merged
