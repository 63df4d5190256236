"""A policy as two ONNX graphs: what is computed once per turn (``encode``), and what is computed once per step (``step``).

The graphs take any number of turns, words and earlier states. What is in a policy's memory and does not depend on the turns, such as its
weights, becomes part of the second graph. The rest has one row per turn: it is an output of the first graph and an input of the second.
"""

from __future__ import annotations

import dataclasses
import logging
import re
import warnings
from collections.abc import Container, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import numpy as np
import onnx
import onnx_ir
import torch
from onnx import TensorProto, helper, numpy_helper
from onnxscript import optimizer
from torch import Tensor, nn
from torch.export import Dim

from sestra.agent.folder import Graphs
from sestra.data.batch import Turns
from sestra.errors import InputError, shortened
from sestra.learning.onnx_operators import IN_ONNX
from sestra.learning.operators import RECURRENT, whole_recurrent_layers
from sestra.learning.policies.base import Encoded, Inputs, Policy, export_mode

OPSET = 23
HALF_FROM = 256
"""Tensors with at least this many numbers are stored in half precision, if none of them is changed by that."""


MAX_TRACED = 8
_TRACED: dict[Hashable, tuple[onnx.ModelProto, onnx.ModelProto]] = {}
"""Graphs that were traced before, by structure: tracing takes seconds, and other weights are only other numbers."""


def export_policy(policy: Policy, first: Turns, second: Turns, begin: int, structure: Hashable) -> Graphs:
    """The policy's graphs; every size in which the two batches of turns differ becomes a variable. ``begin`` is the first previous action.

    Both need at least two turns, words and earlier states, since a size of one is taken to be fixed. ``structure`` is the same for
    policies that differ in nothing but their weights.
    """
    inputs = Inputs.of(first)
    states, previous = torch.from_numpy(first.initial), torch.full((len(first),), begin)
    with torch.no_grad(), export_mode():
        encoded, other = policy.encode(inputs), policy.encode(Inputs.of(second))
        leaves = [_leaf(one, two, len(first), len(second)) for one, two in zip(_tensors(encoded), _tensors(other), strict=True)]
        carried = len(_tensors(encoded.carry))
        names = [f"memory.{number}" for number in range(len(leaves) - carried)] + [f"carry.{number}" for number in range(carried)]
        names = [name for name, leaf in zip(names, leaves, strict=True) if leaf.sizes]
        attention = policy.step(encoded.memory, encoded.carry, states, previous, return_attention=True).attention
        maps = [f"{what}:{each.over}:{name}" for name, each in attention.items() for what in ("weights", "places")]
        rows = [leaf for leaf in leaves if leaf.sizes]
        encode, step = _Encode(policy, leaves), _Step(policy, encoded, leaves)
        if structure not in _TRACED:
            any_batch, any_columns = {0: Dim.DYNAMIC}, {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
            encode_sizes = tuple(any_columns if name in {"words", "history"} else any_batch for name in Inputs._fields)
            step_sizes = (any_batch, any_batch, *(leaf.sizes for leaf in rows))
            step_outputs = ["logits", *(f"next_{name}" for name in names if name.startswith("carry")), *maps]
            traced = (
                _trace(encode, tuple(inputs), encode_sizes, list(Inputs._fields), names),
                _trace(
                    step, (states, previous, *(leaf.example for leaf in rows)), step_sizes, ["states", "previous", *names], step_outputs
                ),
            )
            if len(_TRACED) == MAX_TRACED:
                del _TRACED[next(iter(_TRACED))]
            _TRACED[structure] = traced
        return Graphs(*(_serialise(model, module) for model, module in zip(_TRACED[structure], (encode, step), strict=True)))


class _Leaf(NamedTuple):
    """A tensor in what a policy encoded, and its variable sizes: none if it does not depend on the turns."""

    example: Tensor
    sizes: dict[int, Any]


def _leaf(one: Tensor, two: Tensor, first: int, second: int) -> _Leaf:
    if one.shape == two.shape and torch.equal(one, two):
        return _Leaf(one, {})
    if (one.shape[:1], two.shape[:1]) != ((first,), (second,)) or one.dim() != two.dim():
        raise InputError(
            f"policy: its memory or carry holds a tensor of shape {list(one.shape)} for {first} turns and {list(two.shape)} for {second}; "
            "expected one row per turn, or the same tensor for all turns"
        )
    return _Leaf(one, {place: Dim.DYNAMIC for place in range(one.dim()) if one.shape[place] != two.shape[place]})


class _Encode(nn.Module):
    def __init__(self, policy: Policy, leaves: Sequence[_Leaf]) -> None:
        super().__init__()
        self.policy, self.kept = policy, [bool(leaf.sizes) for leaf in leaves]

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        encoded = self.policy.encode(Inputs(*inputs))
        return tuple(tensor.clone() for tensor, kept in zip(_tensors(encoded), self.kept, strict=True) if kept)


class _Step(nn.Module):
    def __init__(self, policy: Policy, encoded: Encoded, leaves: Sequence[_Leaf]) -> None:
        super().__init__()
        self.policy, self.encoded, self.kept = policy, encoded, [bool(leaf.sizes) for leaf in leaves]
        for number, leaf in enumerate(leaves):
            if not leaf.sizes:
                self.register_buffer(f"constant{number}", leaf.example.detach().clone())

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        states, previous, *rows = inputs
        given = iter(rows)
        tensors = [next(given) if kept else self.get_buffer(f"constant{number}") for number, kept in enumerate(self.kept)]
        memory, carry = _rebuild(self.encoded, iter(tensors))
        step = self.policy.step(memory, carry, states, previous, return_attention=True)
        attention = [part.clone() for each in step.attention.values() for part in (each.weights, each.places)]
        return (step.logits, *_tensors(step.carry), *attention)


def _tensors(values: Any) -> list[Tensor]:
    """The tensors in nested tuples, lists, dicts and dataclasses, in order."""
    return [values] if isinstance(values, Tensor) else [tensor for part in _parts(values).values() for tensor in _tensors(part)]


def _rebuild(values: Any, tensors: Iterator[Tensor]) -> Any:
    """The same nesting with other tensors."""
    if isinstance(values, Tensor):
        return next(tensors)
    parts = {name: _rebuild(part, tensors) for name, part in _parts(values).items()}
    if isinstance(values, tuple | list):
        return type(values)(*parts.values()) if hasattr(values, "_fields") else type(values)(parts.values())
    if isinstance(values, dict):
        return parts
    return dataclasses.replace(values, **parts) if parts else values


def _parts(values: Any) -> dict[Any, Any]:
    if isinstance(values, tuple | list):
        return dict(enumerate(values))
    if isinstance(values, dict):
        return values
    if dataclasses.is_dataclass(values):
        return {field.name: getattr(values, field.name) for field in dataclasses.fields(values)}
    return {}


def _trace(
    module: nn.Module, examples: tuple[Tensor, ...], sizes: tuple[Any, ...], inputs: list[str], outputs: list[str]
) -> onnx.ModelProto:
    """The module's graph, with its parameters and buffers by their names, and without notes on the source code."""
    try:
        with (
            _quiet(),
            whole_recurrent_layers(),
            torch._dynamo.config.patch(fake_tensor_cache_enabled=False),
        ):  # which costs more than it saves
            program = torch.export.export(module.eval(), examples, dynamic_shapes=(sizes,), strict=False)
            for node in program.graph.nodes:
                node.target = RECURRENT.get(node.target, node.target)
            program.example_inputs = None  # with them, torch adds checks of shapes that fail where an input is not used
            converted = cast(
                "torch.onnx.ONNXProgram",
                torch.onnx.export(
                    program, dynamo=True, opset_version=OPSET, input_names=inputs, output_names=outputs, optimize=False, verbose=False,
                    custom_translation_table=IN_ONNX,
                ),
            )  # fmt: skip
    except (RuntimeError, torch.onnx.OnnxExporterError) as error:
        raise InputError(f"policy: cannot be exported: {_reason(error)}") from error
    _simplify(converted.model, dict(module.named_parameters()) | dict(module.named_buffers()))
    model = converted.model_proto
    for part in (model, model.graph, *model.graph.node, *model.graph.initializer, *model.graph.input, *model.graph.output):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    model.graph.ClearField("value_info")
    return model


def _simplify(model: onnx_ir.Model, weights: Container[str]) -> None:
    """Let onnxscript simplify the graph, but keep the weights as they are: for that time they are inputs."""
    graph = model.graph
    kept = {name: value for name, value in graph.initializers.items() if name in weights}
    values = {name: value.const_value for name, value in kept.items()}
    for name, value in kept.items():
        graph.initializers.pop(name)
        value.const_value = None
        graph.inputs.append(value)
    optimizer.optimize_ir(model)
    for name, value in kept.items():
        graph.inputs.remove(value)
        value.const_value = values[name]
        if value.uses():
            graph.initializers[name] = value


def _reason(error: Exception) -> str:
    """What torch says is wrong, without its advice; the operator if there is one that ONNX lacks."""
    text = str(error.__cause__ or error)
    operators = re.findall(r"No ONNX function found for <OpOverload\(op='([\w.:]+)'", str(error))
    if operators:
        return f"ONNX has no operator for {', '.join(dict.fromkeys(operators))}; write it with others"
    if "specialized" in text or "data-dependent" in text:
        return (
            "a size of the batch became a fixed number; write x.shape[0] instead of len(x), and sizes that depend on values with "
            f"sestra.learning.policies.base.data_size ({shortened(' '.join(text.split()), 300)})"
        )
    return shortened(" ".join(text.split()), 300)


def _serialise(traced: onnx.ModelProto, module: nn.Module) -> bytes:
    """The graph with the module's weights, in half precision where that does not change them."""
    model = onnx.ModelProto()
    model.CopyFrom(traced)
    tensors = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))
    casts = []
    for stored in model.graph.initializer:
        values = tensors[stored.name].numpy() if stored.name in tensors else numpy_helper.to_array(stored)
        half = values.astype(np.float16) if values.dtype == np.float32 and values.size >= HALF_FROM else values
        if half is not values and np.array_equal(half.astype(np.float32), values):
            casts.append(helper.make_node("Cast", [f"{stored.name}.half"], [stored.name], to=TensorProto.FLOAT))
            stored.CopyFrom(numpy_helper.from_array(half, f"{stored.name}.half"))
        elif stored.name in tensors:
            stored.CopyFrom(numpy_helper.from_array(values, stored.name))
    nodes = [*casts, *model.graph.node]
    model.graph.ClearField("node")
    model.graph.node.extend(nodes)
    serialised: bytes = model.SerializeToString(deterministic=True)
    return serialised


def read_weights(graphs: Graphs) -> dict[str, Tensor]:
    """The weights of the exported policy by their names, as ``load_state_dict`` takes them."""
    found = {}
    for serialised in (graphs.encode, graphs.step):
        for stored in onnx.load_model_from_string(serialised).graph.initializer:
            name = stored.name.removesuffix(".half")
            if name.startswith("policy."):
                found[name.removeprefix("policy.")] = torch.from_numpy(numpy_helper.to_array(stored).astype(np.float32))
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's remarks."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)
