"""What is in an ONNX file, read before ONNX Runtime is given it: which operators, and whether it refers to other files.

Only the few fields that matter are read, from the wire format (``onnx.proto``), so that using an agent does not need the package onnx.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sestra.errors import InputError, shortened

OPERATORS = frozenset({
    "Abs", "Add", "And", "ArgMax", "ArgMin", "Attention", "AveragePool", "BatchNormalization", "Cast", "CastLike", "Ceil", "Celu", "Clip",
    "Concat", "Constant", "ConstantOfShape", "Conv", "Cos", "CumSum", "DepthToSpace", "Div", "Dropout", "Einsum", "Elu", "Equal",
    "Erf", "Exp", "Expand", "EyeLike", "Flatten", "Floor", "GRU", "Gather", "GatherElements", "GatherND", "Gelu", "Gemm",
    "GlobalAveragePool", "Greater", "GreaterOrEqual", "GroupNormalization", "HardSigmoid", "HardSwish", "Hardmax", "Identity",
    "InstanceNormalization", "IsInf", "IsNaN", "LSTM", "LayerNormalization", "LeakyRelu", "Less", "LessOrEqual", "Log", "LogSoftmax",
    "MatMul", "Max", "MaxPool", "Mean", "Min", "Mish", "Mod", "Mul", "Neg", "NonZero", "Not", "OneHot", "Or", "PRelu", "Pad", "Pow",
    "RNN", "Range", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
    "ReduceProd", "ReduceSum", "ReduceSumSquare", "Relu", "Reshape", "Round", "ScatterElements", "ScatterND", "Selu", "Shape",
    "Sigmoid", "Sign", "Sin", "Size", "Slice", "Softmax", "Softplus", "Softsign", "Split", "Sqrt", "Squeeze", "Sub", "Sum", "Swish",
    "Tan", "Tanh", "ThresholdedRelu", "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze", "Where", "Xor",
})  # fmt: skip
"""Operators of neural networks: no loops, no randomness, nothing that reads anything but its inputs."""

Field = tuple[int, bytes | int]
"""A field's number and its value: bytes of a text, a message or a packed list, or an integer."""
GRAPH, FUNCTIONS = 7, 25  # ModelProto
NODE, INITIALIZER, SPARSE_INITIALIZER = 1, 5, 15  # GraphProto
OP_TYPE, ATTRIBUTE, DOMAIN = 4, 5, 7  # NodeProto
TENSOR, SUBGRAPH, TENSORS, SUBGRAPHS, SPARSE_TENSOR, SPARSE_TENSORS = 5, 6, 10, 11, 22, 23  # AttributeProto
EXTERNAL_DATA, DATA_LOCATION = 13, 14  # TensorProto
FIELDS = 1 << 29
"""The numbers that a field may have are below this."""


def check_graph(model: bytes, place: str) -> None:
    """Raise InputError unless the model has only operators that are allowed, and all of its data in itself."""
    try:
        for number, value in _fields(model):
            if number == FUNCTIONS:
                raise InputError(f"{place}: defines operators of its own; expected only those of neural networks; use another agent")
            if number == GRAPH:
                _check(value, place)
    except (IndexError, TypeError, UnicodeDecodeError) as error:
        raise InputError(f"{place}: is not an ONNX graph; the file is damaged, use another one") from error


def _check(graph: bytes | int, place: str) -> None:
    for number, value in _fields(graph):
        if number == SPARSE_INITIALIZER:
            raise InputError(f"{place}: has sparse tensors; expected dense ones; use another agent")
        if number == INITIALIZER:
            _check_tensor(value, place)
        if number != NODE:
            continue
        node = list(_fields(value))
        operator, domain = _text(node, OP_TYPE), _text(node, DOMAIN)
        if operator not in OPERATORS or domain not in ("", "ai.onnx"):
            name = f"{domain}.{operator}" if domain else operator
            raise InputError(f"{place}: has the operator {shortened(name)!r}, which no agent needs; use another agent")
        for field, attribute in node:
            if field == ATTRIBUTE:
                _check_attribute(attribute, place)


def _text(message: Sequence[Field], wanted: int) -> str:
    """A field of text, empty if it is left out."""
    found = [value for number, value in message if number == wanted]
    if len(found) > 1 or not all(isinstance(value, bytes) for value in found):
        raise TypeError("expected one text")
    return str(bytes(found[0]), "utf-8") if found else ""


def _check_attribute(attribute: bytes | int, place: str) -> None:
    for number, value in _fields(attribute):
        if number in (SUBGRAPH, SUBGRAPHS, SPARSE_TENSOR, SPARSE_TENSORS):
            raise InputError(f"{place}: has a graph or a sparse tensor inside an operator, which no agent needs; use another agent")
        if number in (TENSOR, TENSORS):
            _check_tensor(value, place)


def _check_tensor(tensor: bytes | int, place: str) -> None:
    if any(number == EXTERNAL_DATA or (number == DATA_LOCATION and value != 0) for number, value in _fields(tensor)):
        raise InputError(f"{place}: refers to data in another file; expected all of it in the graph itself; use another agent")


def _fields(message: bytes | int) -> Iterator[Field]:
    """The fields of a message; IndexError or TypeError where it is not one."""
    if not isinstance(message, bytes):
        raise TypeError("expected a message")
    place, end = 0, len(message)
    while place < end:
        key, place = _varint(message, place)
        number, kind = key >> 3, key & 7
        if not 0 < number < FIELDS:  # other readers would drop the bits that are too many, and see another field
            raise IndexError(f"field {number}")
        if kind == 0:
            integer, place = _varint(message, place)
            yield number, integer
            continue
        if kind == 2:
            length, place = _varint(message, place)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise TypeError(f"wire type {kind}")
        if place + length > end:
            raise IndexError("the message ends too early")
        yield number, message[place : place + length]
        place += length


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return value, place
    raise IndexError("a number is too long")
