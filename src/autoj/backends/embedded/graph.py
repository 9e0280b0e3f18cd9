"""The graph of a converted model, changed to score choices.

The layers read the tokens of a batch in one row, so that a token which several sequences begin with
is computed once. Attention alone is computed in rows, one a sequence, as without sharing.
"""

from math import gcd
from typing import Any

import numpy as np

from autoj.errors import BackendError

# Tokens of the 1.5B read in a second: 105 with 32 (the engine's own), 126 with 64, 154 with 256.
_MOST_STATES_A_SCALE = 256
_RANKS = {"rows": 2, "mask": 4, "places": 1, "positions": 1}


def split(model: Any) -> tuple[Any, Any]:
    """The model up to the states that are asked for, and its vocabulary projection.

    The first takes `inputs.Inputs` and gives the states of `positions`, [1, n_positions, width];
    the second takes such states, [n, width], and gives log-probabilities, [n, n_vocabulary].

    Raises:
        BackendError: the graph is none of a causal model with a cache.
    """
    import openvino
    from openvino import opset13

    inputs = {
        name: _parameter(name, rank, np.float32 if name == "mask" else np.int64)
        for name, rank in _RANKS.items()
    }
    layers = [node for node in model.get_ordered_ops() if _is(node, "ScaledDotProductAttention")]
    result = model.get_results()[0]
    projection = result.input_value(0).get_node()
    if not layers or not _is(projection, "MatMul"):
        raise BackendError("this model's graph has no attention or no projection at its end")
    for attention in layers:
        _attend_in_rows(attention, inputs)
    _ask_early(layers[-1], inputs["positions"])

    states = opset13.parameter([-1, -1], np.float32, name="states")
    logits = opset13.matmul(
        states, projection.input_value(1), False, projection.get_attributes()["transpose_b"]
    )
    head = openvino.Model([opset13.log_softmax(logits, axis=-1)], [states], "head")

    result.input(0).replace_source_output(projection.input_value(0))
    _forget_cache(model)
    model.add_parameters(list(inputs.values()))
    for parameter in list(model.get_parameters()):
        if not parameter.output(0).get_target_inputs():
            model.remove_parameter(parameter)
    model.validate_nodes_and_infer_types()
    return model, head


def states_a_scale(model: Any) -> int | None:
    """The number of a token's states that share a scale where they are multiplied in 8 bits.

    It is the largest that divides the width of each matrix, up to 256: the more, the faster. None
    for a model whose matrices are not packed with one scale a row, as `lean` writes them: behind
    smaller groups of weights, states in larger ones would be multiplied in 32 bits.
    """
    widths = [
        node.input_value(1).get_shape()[-1]
        for node in model.get_ordered_ops()
        if _is(node, "MatMul") and _has_scale_a_row(node.input_value(1).get_node())
    ]
    return gcd(_MOST_STATES_A_SCALE, *widths) if widths else None


def _has_scale_a_row(matrix: Any) -> bool:
    return _is(matrix, "Multiply") and _is(matrix.input_value(0).get_node(), "Convert")


def _parameter(name: str, rank: int, kind: type) -> Any:
    from openvino import opset13

    parameter = opset13.parameter([-1] * rank, kind, name=name)
    parameter.output(0).set_names({name})
    return parameter


def _attend_in_rows(attention: Any, inputs: dict[str, Any]) -> None:
    """Lets a layer's tokens attend in rows, and puts them into one row again.

    Keys and values come straight from the rows, without the cache in which a generation keeps them:
    nothing would ever be in it, and with it the engine takes a kernel for attention that is half as
    fast with 32-bit products.
    """
    from openvino import opset13

    n_heads, width = _heads(attention.output(0))
    _replace(attention.input(0), _in_rows(attention.input_value(0), inputs["rows"]))
    for port in (1, 2):
        cache = _cache(attention.input_value(port).get_node())
        in_rows = _in_rows(cache.input_value(1), inputs["rows"])
        _replace(attention.input(port), _for_each_head(in_rows, n_heads))
    attention.input(3).replace_source_output(inputs["mask"].output(0))

    targets = attention.output(0).get_target_inputs()
    by_row = opset13.transpose(attention.output(0), _constant([0, 2, 1, 3]))
    by_place = opset13.reshape(by_row, _constant([-1, n_heads, width]), False)
    read = opset13.gather(by_place, inputs["places"], _constant(0))
    one_row = opset13.unsqueeze(opset13.transpose(read, _constant([1, 0, 2])), _constant(0))
    for target in targets:
        _replace(target, one_row)


def _in_rows(tokens: Any, rows: Any) -> Any:
    """The heads of tokens in one row, [1, h, t, d], in rows, [n, h, k, d]."""
    from openvino import opset13

    heads = opset13.gather(opset13.squeeze(tokens, _constant([0])), rows, _constant(1))
    return opset13.transpose(heads, _constant([1, 0, 2, 3]))


def _for_each_head(shared: Any, n_heads: int) -> Any:
    """Keys or values in rows, [n, g, k, d], of which each group of heads has one, for each head."""
    from openvino import opset13

    n_groups, _ = _heads(shared.output(0))
    if n_groups == n_heads:
        return shared
    groups = np.arange(n_heads) // (n_heads // n_groups)
    return opset13.gather(shared, _constant(groups), _constant(1))


def _cache(node: Any) -> Any:
    """The node that puts keys or values behind those of before."""
    while not _is(node, "Concat"):
        node = _first_input(node)
    chosen = _first_input(node)
    if not _is(chosen, "Gather") or not _is(_first_input(chosen), "ReadValue"):
        raise _no_cache()
    return node


def _forget_cache(model: Any) -> None:
    """Takes out what keeps keys and values for a next call."""
    for sink in model.get_sinks():
        model.remove_sink(sink)
    for variable in model.get_variables():
        model.remove_variable(variable)


# A bias is added before the states that go past an attention are.
_NO_STATES = ("Constant", "Convert")


def _ask_early(attention: Any, positions: Any) -> None:
    """Goes on with the states of `positions` alone behind the last layer's attention.

    Behind it no token sees another, so its products, and the vocabulary's, are for these alone.
    """
    from openvino import opset13

    node = attention
    while not _is(node, "MatMul"):
        node = _only_target(node)
    _replace(node.input(0), opset13.gather(node.input_value(0), positions, _constant(1)))
    sum_node = _only_target(node)
    others = [
        port
        for port in (0, 1)
        if sum_node.input_value(port).get_node().get_type_name() not in ("MatMul", *_NO_STATES)
    ]
    if not _is(sum_node, "Add") or len(others) != 1:
        raise BackendError("this model's graph adds nothing to its last attention")
    residual = sum_node.input(others[0])
    _replace(residual, opset13.gather(residual.get_source_output(), positions, _constant(1)))


def _only_target(node: Any) -> Any:
    targets = list(node.output(0).get_target_inputs())
    if len(targets) != 1:
        raise BackendError("this model's graph reads an attention more than once")
    return targets[0].get_node()


def _first_input(node: Any) -> Any:
    if not node.get_input_size():
        raise _no_cache()
    return node.input_value(0).get_node()


def _no_cache() -> BackendError:
    return BackendError("this model's graph has no cache of keys and values")


def _heads(output: Any) -> tuple[int, int]:
    """The number of heads of keys, values or queries, [n, h, t, d], and the width of each."""
    shape = output.get_partial_shape()
    return shape[1].get_length(), shape[3].get_length()


def _replace(target: Any, node: Any) -> None:
    target.replace_source_output(node.output(0))


def _is(node: Any, kind: str) -> bool:
    return bool(node.get_type_name() == kind)


def _constant(values: Any) -> Any:
    from openvino import opset13

    return opset13.constant(np.array(values, np.int64))
