"""A quantised GGUF file as a dense one, with exactly the weights that the format defines.

OpenVINO reads quantised GGUF files itself, but stores the offsets of Q4_1 as 4-bit integers, where
the format has 16-bit floats. On the embedded judge that moved the log-probability of a verdict by
half a nat. Weights that are unpacked by the format's own library come through as they are, and a
dense model also prefills faster, at 270 MB in the cache folder in place of 92.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from autoj.errors import BackendError

__all__ = ["write_dense"]


def write_dense(quantised: Path, dense: Path) -> None:
    """Copy a GGUF file with its quantised tensors unpacked to float16.

    Args:
        quantised: the file to read.
        dense: the file to write.

    Raises:
        BackendError: the file is no GGUF, or holds a type that cannot be unpacked.
    """
    import gguf

    try:
        reader = gguf.GGUFReader(quantised)
        writer = gguf.GGUFWriter(dense, _field(reader, "general.architecture"))
        _copy_fields(reader, writer)
        for tensor in reader.tensors:
            writer.add_tensor(tensor.name, _unpacked(tensor))
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


def _unpacked(tensor: Any) -> Any:
    import gguf

    if tensor.tensor_type == gguf.GGMLQuantizationType.F32:
        return tensor.data  # norms, which are small and stay exact
    return gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float16)
