"""Converts a quantised GGUF file to a dense one, with exactly the weights of the format.

OpenVINO reads quantised GGUF files itself, but stores the offsets of Q4_1 as 4-bit integers, where
the format has 16-bit floats. On the embedded judge that shifted the log-probability of a verdict by
half a nat. Weights that the format's own library unpacks are exact, and a dense model also prefills
faster, at 270 MB in the cache folder instead of 92.

Larger models are packed again, into 8 bits: half the memory. A matrix has one scale a row, at most
1/254 of the row's largest weight from the unpacked value, because the engine multiplies such rows
twice as fast as groups of 32. The vocabulary, which is read one word at a time and multiplied for
few tokens, keeps those groups. Both are written as Q8_0, which OpenVINO stores as it is; `lean`
writes the scales of a row as one.

A LoRA adapter is added in between, in float32, before the single rounding to float16 or 8 bits.

Tensors are written one by one as they are converted: memory holds one per thread, not the model.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from autoj.backends._adapters import Adapter, LoraModule
from autoj.backends.embedded.merging import place_modules
from autoj.errors import BackendError, ConfigError

_BLOCK_ROWS = 256
VOCABULARY = ("token_embd.weight", "output.weight")
"""The tensors with a row for each token: what is read of it, and what is compared with states."""
_MOST = 127
"""The largest of the 8-bit values; the smallest is its negative."""
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

    writer, whole = None, False
    try:
        reader = _open(quantised)
        writer = gguf.GGUFWriter(dense, _field(reader, "general.architecture"))
        _copy_fields(reader, writer, packed=packed)
        added = {} if adapter is None else _placed(adapter, reader)
        for tensor in reader.tensors:
            _announce(tensor, writer, packed=packed)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        for data in _in_order(partial(_converted, added=added, packed=packed), reader.tensors):
            writer.write_tensor_data(data)
        whole = True
    except (ValueError, KeyError, NotImplementedError) as error:
        raise BackendError(f"{quantised} cannot be read as GGUF: {error}") from error
    finally:
        if writer is not None:
            writer.close()
        if not whole:
            dense.unlink(missing_ok=True)


def _open(file: Path) -> Any:
    import gguf

    try:
        return gguf.GGUFReader(file)
    except (ValueError, LookupError) as error:
        raise BackendError(
            f"{file} cannot be read as GGUF: {error}",
            hint="It may be cut short: compare its size and digest with its source's, and get it "
            "again.",
        ) from error


def _announce(tensor: Any, writer: Any, *, packed: bool) -> None:
    """Adds a tensor's entry to the file's table, which stands before all data."""
    import gguf

    shape = tuple(map(int, tensor.shape[::-1]))
    if tensor.tensor_type == gguf.GGMLQuantizationType.F32:
        writer.add_tensor_info(tensor.name, shape, np.dtype(np.float32), tensor.data.nbytes)
        return
    row_bytes = _row_bytes(shape[-1], packed=packed)
    n_bytes = int(np.prod(shape[:-1])) * row_bytes
    kind = gguf.GGMLQuantizationType.Q8_0 if packed else None
    writer.add_tensor_info(tensor.name, shape, np.dtype(np.float16), n_bytes, raw_dtype=kind)


def _row_bytes(n_columns: int, *, packed: bool) -> int:
    import gguf

    if not packed:
        return 2 * n_columns
    group, group_bytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType.Q8_0]
    if n_columns % group:
        raise ValueError(f"rows of {n_columns} weights cannot be packed in groups of {group}")
    return int(n_columns // group * group_bytes)


def _in_order(convert: Callable[[Any], Any], tensors: Sequence[Any]) -> Iterator[Any]:
    """Yields the data of each tensor; no more than one per thread is held at a time."""
    # NumPy releases the interpreter's lock in what takes the time.
    with ThreadPoolExecutor(_N_THREADS) as pool:
        running: deque[Future[Any]] = deque()
        for tensor in tensors:
            running.append(pool.submit(convert, tensor))
            if len(running) == _N_THREADS:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


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


def _converted(tensor: Any, added: Mapping[str, LoraModule], *, packed: bool) -> Any:
    """The data of a tensor to write."""
    import gguf

    if tensor.tensor_type == gguf.GGMLQuantizationType.F32:  # norms, which are small
        return tensor.data
    # Rows are converted in blocks: an embedding in float32 would be the largest thing in memory.
    rows = tensor.data
    module = added.get(tensor.name)
    row_bytes = _row_bytes(int(tensor.shape[0]), packed=packed)
    kind, n_values = (np.uint8, row_bytes) if packed else (np.float16, row_bytes // 2)
    converted = np.empty((*rows.shape[:-1], n_values), kind)
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = _block(tensor, rows, start, module, packed=packed)
        converted[start : start + _BLOCK_ROWS] = block
    return converted


def _block(tensor: Any, rows: Any, start: int, module: LoraModule | None, *, packed: bool) -> Any:
    import gguf

    weights = gguf.dequantize(rows[start : start + _BLOCK_ROWS], tensor.tensor_type)
    if module is not None:
        mine = replace(module, b=module.b[start : start + _BLOCK_ROWS])
        weights = _sum(weights, mine, tensor.name)
    if not packed:
        return weights.astype(np.float16)
    if tensor.name in VOCABULARY:
        return gguf.quantize(weights, gguf.GGMLQuantizationType.Q8_0)
    return _with_one_scale_a_row(weights)


def _with_one_scale_a_row(weights: Any) -> Any:
    """Rows in Q8_0, [n, bytes], all of whose groups have the scale of their row."""
    import gguf

    n_rows, n_columns = weights.shape
    group, group_bytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType.Q8_0]
    scales = (np.abs(weights).max(1, keepdims=True) / _MOST).astype(np.float16)
    divisors = np.where(scales > 0, scales, 1).astype(np.float32)
    values = np.clip(np.rint(weights / divisors), -_MOST, _MOST).astype(np.int8)
    groups = np.empty((n_rows, n_columns // group, group_bytes), np.uint8)
    groups[..., :2] = scales.view(np.uint8)[:, None]
    groups[..., 2:] = values.reshape(n_rows, -1, group).view(np.uint8)
    return groups.reshape(n_rows, -1)


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
