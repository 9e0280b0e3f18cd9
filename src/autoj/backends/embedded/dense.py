"""Converts a quantised GGUF file to a dense one, with exactly the weights of the format.

OpenVINO reads quantised GGUF files itself, but stores the offsets of Q4_1 as 4-bit integers, where
the format has 16-bit floats. On the embedded judge that shifted the log-probability of a verdict by
half a nat. Weights that the format's own library unpacks are exact, and a dense model also prefills
faster, at 270 MB in the cache folder instead of 92.

Larger models are packed again, into 8 bits in groups of 32 with a 16-bit scale each (Q8_0), which
OpenVINO stores as they are: half the memory, and at most 1/254 of a group's largest weight from the
unpacked value.

A LoRA adapter is added in between, in float32, before the single rounding to float16 or 8 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from autoj.backends._adapters import Adapter, LoraModule
from autoj.backends.embedded.merging import place_modules
from autoj.errors import BackendError, ConfigError

_BLOCK_ROWS = 4096
_N_THREADS = 2


def write_dense(
    quantised: Path, dense: Path, adapter: Adapter | None = None, *, packed: bool = False
) -> None:
    """Copies a GGUF file with its quantised tensors unpacked to float16, or packed into 8 bits.

    Args:
        quantised: the file to read.
        dense: the file to write.
        adapter: the adapter to add to the weights.
        packed: whether to store matrices in 8 bits.

    Raises:
        BackendError: the file is not GGUF, or holds a type that cannot be unpacked.
        ConfigError: the adapter does not fit the file.
    """
    import gguf

    try:
        reader = gguf.GGUFReader(quantised)
        writer = gguf.GGUFWriter(dense, _field(reader, "general.architecture"))
        _copy_fields(reader, writer, packed=packed)
        added = {} if adapter is None else _placed(adapter, reader)
        unpack = partial(_converted, added=added, packed=packed)
        # NumPy releases the interpreter's lock in what takes the time.
        with ThreadPoolExecutor(_N_THREADS) as pool:
            for tensor, (data, kind) in zip(
                reader.tensors, pool.map(unpack, reader.tensors), strict=True
            ):
                writer.add_tensor(tensor.name, data, raw_dtype=kind)
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


def _copy_fields(reader: Any, writer: Any, *, packed: bool) -> None:
    import gguf

    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue  # the writer makes these itself
        if field.name == "general.file_type":
            kinds = gguf.LlamaFileType
            writer.add_file_type(kinds.MOSTLY_Q8_0 if packed else kinds.MOSTLY_F16)
            continue
        kind = field.types[0]
        of_kind = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, sub_type=of_kind)


def _placed(adapter: Adapter, reader: Any) -> dict[str, LoraModule]:
    # A file states shapes with the columns first.
    shapes = {tensor.name: tuple(map(int, tensor.shape[::-1])) for tensor in reader.tensors}
    return place_modules(adapter, shapes, lambda name: _field(reader, name))


def _converted(tensor: Any, added: Mapping[str, LoraModule], *, packed: bool) -> tuple[Any, Any]:
    """The data of a tensor to write, and its kind where that is packed."""
    import gguf

    if tensor.tensor_type == gguf.GGMLQuantizationType.F32:  # norms, which are small
        return tensor.data, None
    # Rows are converted in blocks: an embedding in float32 would be the largest thing in memory.
    rows = tensor.data
    module = added.get(tensor.name)
    blocks = [
        _block(tensor, rows, start, module, packed=packed)
        for start in range(0, len(rows), _BLOCK_ROWS)
    ]
    kind = gguf.GGMLQuantizationType.Q8_0 if packed else None
    return np.concatenate(blocks), kind


def _block(tensor: Any, rows: Any, start: int, module: LoraModule | None, *, packed: bool) -> Any:
    import gguf

    weights = gguf.dequantize(rows[start : start + _BLOCK_ROWS], tensor.tensor_type)
    if module is not None:
        mine = replace(module, b=module.b[start : start + _BLOCK_ROWS])
        weights = _sum(weights, mine, tensor.name)
    if packed:
        return gguf.quantize(weights, gguf.GGMLQuantizationType.Q8_0)
    return weights.astype(np.float16)


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
