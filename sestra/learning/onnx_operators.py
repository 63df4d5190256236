"""What the operators of ``sestra.learning.operators`` are in ONNX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onnxscript import opset23
from onnxscript.function_libs.torch_lib.ops.core import aten_gru, aten_lstm

from sestra.learning import operators

op: Any = opset23  # whose annotations are those of eager tensors
Value = Any
"""A value of the graph."""
GATES = (0, 3, 1, 2)
"""ONNX's order of an LSTM's gates (input, output, forget, cell) in torch's (input, forget, cell, output)."""


def _attend(query: Value, keys: Value, values: Value, bias: Value | None, heads: int) -> Value:
    contexts, _, _, weights = op.Attention(query, keys, values, bias, q_num_heads=heads, kv_num_heads=heads, qk_matmul_output_mode=3)
    return contexts, weights


def _gather_rows(values: Value, places: Value) -> Value:
    return op.GatherND(values, op.Unsqueeze(places, op.Constant(value_ints=[-1])), batch_dims=1)


def _encode_both_ways(inputs: Value, lengths: Value, forward: Sequence[Value], backward: Sequence[Value]) -> Value:
    hidden = forward[1].shape[1]
    order = op.Constant(value_ints=[gate * hidden + place for gate in GATES for place in range(hidden)])
    first = op.Constant(value_ints=[0])
    by_input, by_hidden, *biases = (
        op.Concat(*(op.Unsqueeze(op.Gather(way[number], order), first) for way in (forward, backward)), axis=0) for number in range(4)
    )
    steps, _, _ = op.LSTM(
        op.Transpose(inputs, perm=(1, 0, 2)),
        by_input,
        by_hidden,
        op.Concat(*biases, axis=1),
        op.Cast(lengths, to=6),  # int32
        direction="bidirectional",
        hidden_size=hidden,
    )  # [words, 2, batch, hidden]
    return op.Reshape(op.Transpose(steps, perm=(2, 0, 1, 3)), op.Constant(value_ints=[0, 0, 2 * hidden]))


IN_ONNX: dict[Callable[..., Any], Callable[..., Any]] = {
    operators.attend._opoverload: _attend,
    operators.gather_rows._opoverload: _gather_rows,
    operators.encode_both_ways._opoverload: _encode_both_ways,
    operators.lstm._opoverload: aten_lstm,
    operators.gru._opoverload: aten_gru,
}
