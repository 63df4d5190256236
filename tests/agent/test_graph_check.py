"""What is in a graph, read before ONNX Runtime sees it: everything that could reach beyond the graph is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from agents import words_of
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper
from small_networks import IR, OPSET, random_network

from sestra import pretrained
from sestra.agent.graph_check import OPERATORS, check_graph
from sestra.errors import InputError
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world


def model(*nodes: NodeProto, **parts: list) -> ModelProto:
    """The sum of an input and 1, with some nodes more."""
    one = numpy_helper.from_array(np.ones(1, np.float32), "one")
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    add = helper.make_node("Add", ["x", "one"], ["y"])
    graph = helper.make_graph([add, *nodes], "graph", value[:1], value[1:], [one, *parts.pop("initializer", [])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR, **parts)


def refused(content: ModelProto | bytes) -> str:
    with pytest.raises(InputError) as caught:
        check_graph(content if isinstance(content, bytes) else content.SerializeToString(), "a place")
    said = str(caught.value)
    assert said.startswith("a place: ")
    assert "\n" not in said
    assert len(said) < 300
    return said


def inner() -> GraphProto:
    value = helper.make_tensor_value_info("z", TensorProto.FLOAT, [1])
    return helper.make_graph([helper.make_node("Identity", ["x"], ["z"])], "inner", [], [value])


def external(tensor: TensorProto) -> TensorProto:
    tensor.external_data.add(key="location", value="/etc/passwd")
    tensor.data_location = TensorProto.EXTERNAL
    return tensor


def test_good_ones():
    check_graph(model().SerializeToString(), "a place")
    graphs = random_network(compile_world(get_world("alchemy")), len(words_of("alchemy")))
    check_graph(graphs.encode, "a place")
    check_graph(graphs.step, "a place")


@pytest.mark.parametrize("path", sorted(pretrained.HERE.glob("*/*.onnx")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_shipped_graphs(path):
    check_graph(path.read_bytes(), str(path))


def test_every_operator_that_is_allowed_exists_and_holds_no_graph():
    for name in OPERATORS:
        schema = onnx.defs.get_schema(name, max_inclusive_version=24)
        assert not any(attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for attribute in schema.attributes.values()), name
    assert not OPERATORS & {"If", "Loop", "Scan", "SequenceMap", "RandomNormal", "Bernoulli", "StringNormalizer", "ImageDecoder"}


@pytest.mark.parametrize(
    "node",
    [
        helper.make_node("Loop", ["", "", "x"], ["z"], body=inner()),
        helper.make_node("If", ["c"], ["z"], then_branch=inner(), else_branch=inner()),
        helper.make_node("Scan", ["x"], ["z"], body=inner(), num_scan_inputs=1),
        helper.make_node("RandomNormal", [], ["z"], shape=[1]),
        helper.make_node("Add", ["x", "x"], ["z"], domain="com.microsoft"),
        helper.make_node("Add", ["x", "x"], ["z"], domain="ai.onnx.ml"),
        helper.make_node("Own", ["x"], ["z"], domain="mine"),
        helper.make_node("O" * 10_000, ["x"], ["z"], domain="d" * 10_000),
        helper.make_node("", ["x"], ["z"]),
    ],
    ids=lambda node: f"{node.domain}.{node.op_type}"[:30],
)
def test_operators_that_no_agent_needs(node: NodeProto):
    assert "which no agent needs" in refused(model(node))


def test_a_graph_inside_an_operator_that_is_allowed():
    assert "a graph or a sparse tensor inside an operator" in refused(model(helper.make_node("Add", ["x", "x"], ["z"], body=inner())))
    several = helper.make_node("Add", ["x", "x"], ["z"])
    several.attribute.append(AttributeProto(name="bodies", type=AttributeProto.GRAPHS, graphs=[inner()]))
    assert "a graph or a sparse tensor inside an operator" in refused(model(several))


def test_functions():
    function = helper.make_function(
        "mine", "Own", ["a"], ["b"], [helper.make_node("Identity", ["a"], ["b"])], [helper.make_opsetid("", OPSET)]
    )
    assert "defines operators of its own" in refused(model(functions=[function]))


def test_sparse_tensors():
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(np.ones(1, np.float32), "values"), numpy_helper.from_array(np.zeros(1, np.int64), "places"), [5]
    )
    found = model()
    found.graph.sparse_initializer.append(sparse)
    assert "has sparse tensors" in refused(found)
    assert "a graph or a sparse tensor" in refused(model(helper.make_node("Constant", [], ["z"], sparse_value=sparse)))
    several = helper.make_node("Constant", [], ["z"])
    several.attribute.append(AttributeProto(name="sparse_values", type=AttributeProto.SPARSE_TENSORS, sparse_tensors=[sparse]))
    assert "a graph or a sparse tensor" in refused(model(several))


def test_data_in_other_files():
    tensor = numpy_helper.from_array(np.ones(1, np.float32), "two")
    assert "refers to data in another file" in refused(model(initializer=[external(tensor)]))
    constant = helper.make_node("Constant", [], ["z"], value=numpy_helper.from_array(np.ones(1, np.float32)))
    external(constant.attribute[0].t)
    assert "refers to data in another file" in refused(model(constant))
    several = helper.make_node("Constant", [], ["z"])
    several.attribute.append(
        AttributeProto(name="values", type=AttributeProto.TENSORS, tensors=[external(numpy_helper.from_array(np.ones(1)))])
    )
    assert "refers to data in another file" in refused(model(several))
    without_flag = numpy_helper.from_array(np.ones(1, np.float32), "two")
    without_flag.external_data.add(key="location", value="x")
    assert "refers to data in another file" in refused(model(initializer=[without_flag]))


# The wire format.


def field(number: int, content: bytes, extra: int = 0) -> bytes:
    """A field of bytes; ``extra`` are bits of its key beyond the 32 that a reader keeps."""
    return varint((extra << 32) | number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def test_a_second_graph_is_checked_too():
    """Readers put both together."""
    second = helper.make_graph([helper.make_node("Loop", ["", "", "x"], ["z"], body=inner())], "second", [], [])
    assert "'Loop'" in refused(model().SerializeToString() + field(7, second.SerializeToString()))


def test_a_key_with_more_bits_than_a_reader_keeps():
    """To ONNX Runtime it would be the field of the lower bits."""
    loop = helper.make_graph([helper.make_node("Loop", ["", "", "x"], ["z"], body=inner())], "second", [], [])
    smuggled = model().SerializeToString() + field(7, loop.SerializeToString(), extra=1)
    assert "is not an ONNX graph" in refused(smuggled)


def test_an_operator_with_two_names():
    """Of which a reader takes the last."""
    node = helper.make_node("Add", ["x", "x"], ["z"]).SerializeToString() + field(4, b"Loop")
    assert "is not an ONNX graph" in refused(field(7, field(1, node)))


@pytest.mark.parametrize(
    "content",
    [
        b"\x80", b"\xff" * 20, b"\x3a\x05ab", b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x3b", b"\x3c", b"\x3e", b"\x00", b"\x38\x01",
        b"\x80\x04pickle", field(7, b"\x0a\x7f"), field(7, field(1, field(4, b"\xff\xfe"))), field(7, b"\x08\x01"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_graph(content: bytes):
    assert "is not an ONNX graph" in refused(content)


@pytest.mark.parametrize("parse", [None, onnx.load_model_from_string])
def test_truncated_graphs(parse: Callable[[bytes], object] | None):
    """Wherever it ends, it is refused or is a shorter graph that a reader would take as well."""
    whole = random_network(compile_world(get_world("tangrams")), 20).step
    accepted = 0
    for end in range(1, len(whole), 7):
        try:
            check_graph(whole[:end], "a place")
        except InputError as error:
            assert "is not an ONNX graph" in str(error)  # noqa: PT017
            continue
        accepted += 1
        if parse:
            parse(whole[:end])
    assert accepted < 20


def test_a_message_in_the_place_of_another_is_no_reason_to_hang():
    """Each byte is looked at a few times at most."""
    check_graph(field(8, b"\x0a" * 1_000_000), "a place")  # a field that is not looked into
    refused(field(7, field(1, b"\x00" * 1_000_000)))
