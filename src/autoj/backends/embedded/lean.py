"""A converted graph rewritten so that the engine holds no more of it than it multiplies with.

OpenVINO writes a packed matrix as 8-bit weights, 8-bit offsets and 16-bit scales, one of each per
group of 32. The engine multiplies with 32-bit scales: from 16 bits it widens them into memory of
its own, besides the copy in the processor's layout. And Q8_0 has the same offset in every group.
Scales in 32 bits are read from the mapped file instead, one offset stands for all, and where all
groups of a row have one scale (`dense`), one scale stands for them, and the engine multiplies the
row as a whole. No value changes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

_DRAFT = "lean.xml"
_MIDDLE = np.uint8(128)
"""The offset of weights that have none: of 0 to 255 it stands for 0."""


def rewrite(graph: Path) -> None:
    """Rewrites a graph and its weights in place; what is not packed stays as it is.

    Args:
        graph: the .xml file, with its .bin beside it; nothing else may have them open.

    Raises:
        OSError: the files cannot be replaced.
        RuntimeError: OpenVINO cannot read the graph or write it whole; the files are as before.
    """
    import openvino

    model = openvino.Core().read_model(graph)
    found = list(_packed(model))
    if not found:
        return
    for product, reshape in found:
        _replace(product, reshape)
    model.validate_nodes_and_infer_types()
    draft = graph.with_name(_DRAFT)
    openvino.serialize(model, draft)
    openvino.Core().read_model(draft)  # fails where a full disk has cut it short
    # The model maps the file that is replaced, which not every system allows.
    del model, found, product, reshape
    for suffix in (".bin", ".xml"):
        draft.with_suffix(suffix).replace(graph.with_suffix(suffix))


def _packed(model: Any) -> Iterator[tuple[Any, Any]]:
    """The products (weights - offsets) * scales in 16 bits, each with the reshape behind it."""
    for product in model.get_ordered_ops():
        if product.get_type_name() != "Multiply":
            continue
        difference, scales = _inputs(product)
        if difference.get_type_name() != "Subtract" or not _is_constant(scales, np.float16):
            continue
        if not all(map(_is_unpacked, _inputs(difference))):
            continue
        reshapes = _targets(product)
        if [node.get_type_name() for node in reshapes] != ["Reshape"]:
            continue
        if all(node.get_type_name() == "Convert" for node in _targets(reshapes[0])):
            yield product, reshapes[0]


def _inputs(node: Any) -> tuple[Any, Any]:
    return node.input_value(0).get_node(), node.input_value(1).get_node()


def _targets(node: Any) -> list[Any]:
    return [target.get_node() for target in node.output(0).get_target_inputs()]


def _is_constant(node: Any, kind: type) -> bool:
    return bool(node.get_type_name() == "Constant" and node.data.dtype == kind)


def _is_unpacked(node: Any) -> bool:
    """True for a constant in 8 bits that is converted."""
    return node.get_type_name() == "Convert" and _is_constant(
        node.input_value(0).get_node(), np.uint8
    )


def _replace(product: Any, reshape: Any) -> None:
    """Puts the same product in 32 bits in the place of all conversions of it to them."""
    from openvino import opset13

    difference, scales = _inputs(product)
    weights, offsets = (node.input_value(0).get_node().data for node in _inputs(difference))
    whole = _by_row(weights, offsets, scales.data)
    if whole is None:
        wide = opset13.multiply(
            opset13.subtract(_unpacked(weights), _unpacked(_one_offset(offsets))),
            opset13.constant(scales.data.astype(np.float32)),
        )
        whole = opset13.reshape(wide, reshape.input_value(1), False)
    for convert in _targets(reshape):
        for used in convert.output(0).get_target_inputs():
            used.replace_source_output(whole.output(0))


def _unpacked(values: Any) -> Any:
    from openvino import opset13

    return opset13.convert(opset13.constant(values), np.float32)


def _by_row(weights: Any, offsets: Any, scales: Any) -> Any | None:
    """The product without groups, where all groups of a row have one scale; None elsewhere."""
    from openvino import opset13

    if (scales != scales[:, :1]).any() or (offsets != _MIDDLE).any():
        return None
    signed = (weights ^ _MIDDLE).view(np.int8).reshape(len(weights), -1)
    by_row = opset13.constant(scales[:, 0].astype(np.float32))
    return opset13.multiply(_unpacked(signed), by_row)


def _one_offset(offsets: Any) -> Any:
    """One offset where all groups have the same, else the offsets themselves."""
    first = offsets.flat[0]
    if (offsets != first).any():
        return offsets
    return np.full((1,) * offsets.ndim, first, offsets.dtype)
