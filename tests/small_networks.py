"""Small networks with random weights as ONNX graphs, written down node by node: no training, no torch, a few kilobytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from sestra.agent.folder import Graphs
from sestra.worlds.tables import Tables

OPSET, IR = 20, 10
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
WIDTH = 6


class Graph:
    """A graph in the making."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value, kind), f"constant.{len(self.constants)}"))
        return str(self.constants[-1].name)

    def given(self, name: str, shape: list[Any], kind: int = INT64) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def apply(self, operator: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [f"value.{len(self.nodes)}"], **attributes))
        return str(self.nodes[-1].output[0])

    def result(self, name: str, value: str, shape: list[Any], kind: int = FLOAT) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def model(self) -> ModelProto:
        graph = helper.make_graph(self.nodes, "network", self.inputs, self.outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)

    def serialised(self) -> bytes:
        return bytes(self.model().SerializeToString())


def random_network(tables: Tables, words: int, *, seed: int = 7, scale: float = 1.0) -> Graphs:
    """A recurrent network that attends to the words and to the objects; STOP is somewhat likelier than others, so that executions end."""
    generator = np.random.default_rng(seed)

    def weights(*shape: int) -> NDArray[np.float64]:
        return generator.normal(size=shape) * scale

    return Graphs(_encode(tables, weights(words, WIDTH)), _step(tables, weights))


def _encode(tables: Tables, embedding: NDArray[np.float64]) -> bytes:
    graph = Graph()
    words, lengths, current = graph.given("words", ["n", "l"]), graph.given("lengths", ["n"]), graph.given("current", ["n"])
    graph.given("history", ["n", "t", tables.slots])
    graph.given("turn", ["n"])
    zero, one = graph.constant(0, np.int64), graph.constant(1, np.int64)
    minus, second = graph.constant(-1, np.int64), graph.constant([1], np.int64)
    embedded = graph.apply("Gather", graph.constant(embedding), words)
    places = graph.apply("Range", zero, graph.apply("Gather", graph.apply("Shape", words), one), one)
    begin = graph.apply("Unsqueeze", current, second)
    inside = graph.apply("Less", places, graph.apply("Unsqueeze", lengths, second))
    now = graph.apply("And", inside, graph.apply("GreaterOrEqual", places, begin))
    before = graph.apply("Less", places, graph.apply("Sub", begin, one))
    mask = graph.apply("Unsqueeze", graph.apply("Cast", inside, to=FLOAT), graph.constant([2], np.int64))
    total = graph.apply("ReduceSum", graph.apply("Mul", embedded, mask), second, keepdims=0)
    graph.result("memory.0", embedded, ["n", "l", WIDTH])
    graph.result("memory.1", graph.apply("Where", now, places, minus), ["n", "l"], INT64)
    graph.result("memory.2", graph.apply("Where", before, places, minus), ["n", "l"], INT64)
    graph.result("carry.0", graph.apply("Tanh", total), ["n", WIDTH])
    return graph.serialised()


def _step(tables: Tables, weights: Any) -> bytes:
    graph = Graph()
    states, previous = graph.given("states", ["n", tables.slots]), graph.given("previous", ["n"])
    embedded = graph.given("memory.0", ["n", "l", WIDTH], FLOAT)
    word_places = {name: graph.given(f"memory.{number}", ["n", "l"]) for number, name in ((1, "current"), (2, "previous"))}
    hidden = graph.given("carry.0", ["n", WIDTH], FLOAT)
    query = graph.apply("Add", hidden, graph.apply("Gather", graph.constant(weights(tables.actions + 1, WIDTH)), previous))
    column = graph.apply("Unsqueeze", query, graph.constant([2], np.int64))
    row = graph.constant([1], np.int64)

    def attend(name: str, keys: str, places: str) -> str:
        present = graph.apply("GreaterOrEqual", places, graph.constant(0, np.int64))
        scores = graph.apply("Squeeze", graph.apply("MatMul", keys, column), graph.constant([2], np.int64))
        shares = graph.apply("Softmax", graph.apply("Where", present, scores, graph.constant(-1e4)), axis=1)
        looked = graph.apply("Unsqueeze", graph.apply("Mul", shares, graph.apply("Cast", present, to=FLOAT)), row)
        graph.result(f"weights:{name}", looked, ["n", 1, None])
        graph.result(f"places:{name}", places, ["n", None], INT64)
        return graph.apply("Squeeze", graph.apply("MatMul", looked, keys), row)

    contents = graph.apply("Gather", graph.constant(weights(len(tables.world.contents), WIDTH)), states)
    objects = graph.apply("Add", contents, graph.constant(weights(tables.slots, WIDTH)))
    numbered = graph.apply(
        "Add", graph.apply("Mul", states, graph.constant(0, np.int64)), graph.constant(np.arange(tables.slots), np.int64)
    )
    seen = [attend(f"words:{name}", embedded, places) for name, places in word_places.items()]
    seen.append(attend("objects:state", objects, numbered))
    joined = graph.apply("Concat", query, *seen, axis=1)
    after = graph.apply("Tanh", graph.apply("MatMul", joined, graph.constant(weights(4 * WIDTH, WIDTH))))
    scores = weights(WIDTH, tables.actions)
    scores[:, tables.stop] *= 3
    graph.result("logits", graph.apply("MatMul", after, graph.constant(scores)), ["n", tables.actions])
    graph.result("next_carry.0", after, ["n", WIDTH])
    return graph.serialised()
