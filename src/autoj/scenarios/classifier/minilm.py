"""all-MiniLM-L6-v2 as an OpenVINO graph, built from its weights.

The weights are plain matrices, to which a tuned classifier adds its LoRA updates. So the graph is
built on loading, without a converter, which would need torch.
"""

import sys
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

ACTIVATION = "gelu_pytorch_tanh"
"""The activation's name in transformers: GELU by the hyperbolic tangent, as training computes it
(Hendrycks and Gimpel 2016, section 2)."""
N_DIMENSIONS = 384
"""The size of an embedding."""

Array = NDArray[np.float32]

_N_LAYERS = 6
_N_HEADS = 12
_EPSILON = 1e-12
_MASKED = -1e9
"""Added to attention scores of padding: far below any score, and finite."""


class MiniLM:
    """BERT with 6 layers of 384; an embedding is the mean of the last layer over a window's tokens.

    Products are computed in bfloat16 where the processor has instructions for them: an embedding
    then differs by about 0.6 % of its length, by a little less between batches. Elsewhere all is
    computed in float32.

    Args:
        weights: the weights by their names in the model's file.
        exact: whether to compute in float32 on every processor.
    """

    def __init__(self, weights: Mapping[str, Array], *, exact: bool = False) -> None:
        # Importing OpenVINO sends telemetry to its makers, unless this import fails.
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
        import openvino

        core = openvino.Core()
        # What OpenVINO takes by itself: bfloat16 only where it is not emulated. Another processor's
        # float16 cannot hold the numbers of this graph.
        usual = core.get_property("CPU", "INFERENCE_PRECISION_HINT").to_string()
        precision = "bf16" if usual == "bf16" and not exact else "f32"
        settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": precision}
        compiled = core.compile_model(_graph(weights), "CPU", settings)
        self._request: Any = compiled.create_infer_request()
        self._turn = Lock()

    def embed(self, windows: Sequence[Sequence[int]]) -> Array:
        """Computes the embeddings of a batch of windows, `[n_windows, 384]`.

        Args:
            windows: token ids; shorter windows are padded, so give windows of similar length.
        """
        ids = np.zeros((len(windows), max(map(len, windows))), np.int32)
        mask = np.zeros(ids.shape, np.float32)
        for row, seen, window in zip(ids, mask, windows, strict=True):
            row[: len(window)] = window
            seen[: len(window)] = 1
        # An inference request computes one batch at a time, on all cores; threads take turns.
        with self._turn:
            embedded: Array = self._request.infer({"ids": ids, "mask": mask})[0].copy()
        return embedded


def _graph(weights: Mapping[str, Array]) -> Any:
    """Builds the graph from tokens and mask (1 for a token, 0 for padding), both `[n, length]`.

    Its output are the means, `[n, 384]`.
    """
    import openvino
    from openvino import opset13 as ops

    ids = ops.parameter([-1, -1], np.int32, name="ids")
    mask = ops.parameter([-1, -1], np.float32, name="mask")
    for parameter in (ids, mask):
        parameter.output(0).set_names({parameter.get_friendly_name()})
    one = ops.constant(np.float32(1))
    padding = ops.multiply(ops.subtract(one, mask), ops.constant(np.float32(_MASKED)))
    hidden = _embedded(weights, ids)
    for layer in range(_N_LAYERS):
        name = f"encoder.layer.{layer}"
        attended = _attended(weights, hidden, f"{name}.attention.self", padding)
        attended = _linear(weights, attended, f"{name}.attention.output.dense")
        hidden = _normalised(
            weights, ops.add(attended, hidden), f"{name}.attention.output.LayerNorm"
        )
        inner = ops.gelu(_linear(weights, hidden, f"{name}.intermediate.dense"), "tanh")
        outer = _linear(weights, inner, f"{name}.output.dense")
        hidden = _normalised(weights, ops.add(outer, hidden), f"{name}.output.LayerNorm")
    seen = ops.unsqueeze(mask, _integers(2))
    sums = ops.reduce_sum(ops.multiply(hidden, seen), _integers(1))
    means = ops.divide(sums, ops.reduce_sum(seen, _integers(1)))
    return openvino.Model([means], [ids, mask], "all-MiniLM-L6-v2")


def _embedded(weights: Mapping[str, Array], ids: Any) -> Any:
    """Builds the input of the first layer: the embeddings of words and positions, added."""
    from openvino import opset13 as ops

    words = ops.constant(weights["embeddings.word_embeddings.weight"])
    # All tokens have the first type: there is no second text.
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    places = ops.constant(weights["embeddings.position_embeddings.weight"] + kind)
    length = ops.gather(ops.shape_of(ids), _integers(1), ops.constant(np.int64(0)))
    taken = ops.slice(places, _integers(0), length, _integers(1), _integers(0))
    summed = ops.add(ops.gather(words, ids, ops.constant(np.int64(0))), taken)
    return _normalised(weights, summed, "embeddings.LayerNorm")


def _attended(weights: Mapping[str, Array], hidden: Any, name: str, padding: Any) -> Any:
    from openvino import opset13 as ops

    heads, order = _integers(0, 0, _N_HEADS, N_DIMENSIONS // _N_HEADS), _integers(0, 2, 1, 3)
    query, key, value = (
        ops.transpose(ops.reshape(_linear(weights, hidden, f"{name}.{part}"), heads, True), order)
        for part in ("query", "key", "value")
    )
    # One row of padding for all heads and all attending tokens.
    shared = ops.unsqueeze(padding, _integers(1, 2))
    mixed = ops.scaled_dot_product_attention(query, key, value, shared)
    return ops.reshape(ops.transpose(mixed, order), _integers(0, 0, N_DIMENSIONS), True)


def _linear(weights: Mapping[str, Array], hidden: Any, name: str) -> Any:
    from openvino import opset13 as ops

    product = ops.matmul(hidden, ops.constant(weights[f"{name}.weight"]), False, True)
    return ops.add(product, ops.constant(weights[f"{name}.bias"]))


def _normalised(weights: Mapping[str, Array], hidden: Any, name: str) -> Any:
    from openvino import opset13 as ops

    centred = ops.mvn(hidden, _integers(-1), True, _EPSILON, "inside_sqrt")
    scaled = ops.multiply(centred, ops.constant(weights[f"{name}.weight"]))
    return ops.add(scaled, ops.constant(weights[f"{name}.bias"]))


def _integers(*values: int) -> Any:
    from openvino import opset13 as ops

    return ops.constant(np.array(values, np.int64))
