"""Networks as ONNX Runtime executes them: what they are given, what they carry on, and what is asked of them before they are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from agents import words_of
from onnx import ModelProto, TensorProto, helper
from small_networks import random_network

from sestra.agent.folder import Graphs
from sestra.agent.runtime import INPUTS, MIN_HISTORY, Encoded, Ensemble, Network, mean_log_probs
from sestra.data.batch import Turns, encode_turns
from sestra.data.synthetic import generate
from sestra.errors import InputError
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world

TABLES, WORDS = compile_world(get_world("alchemy")), words_of("alchemy")
GRAPHS = random_network(TABLES, len(WORDS))


@pytest.fixture(scope="module")
def network() -> Network:
    return Network(GRAPHS.encode, GRAPHS.step, "network 1")


@pytest.fixture(scope="module")
def turns() -> Turns:
    return encode_turns(generate("alchemy", 4, seed=5), WORDS, TABLES)


def previous(turns: Turns) -> Any:
    return np.full(len(turns), TABLES.actions)


def test_what_is_encoded_has_a_row_for_every_turn(network: Network, turns: Turns):
    encoded = network.encode(turns)
    assert [len(part) for part in (*encoded.memory, *encoded.carry)] == [len(turns)] * 4
    some = encoded.select(np.array([3, 1]))
    for part, chosen in zip((*encoded.memory, *encoded.carry), (*some.memory, *some.carry), strict=True):
        assert np.array_equal(chosen, part[[3, 1]])


def test_turns_do_not_depend_on_each_other(network: Network, turns: Turns):
    logits, _, _ = network.step(network.encode(turns), turns.initial, previous(turns), attention=False)
    for row in range(len(turns)):
        alone = turns.select(np.array([row]))
        own, _, _ = network.step(network.encode(alone), alone.initial, previous(alone), attention=False)
        assert np.allclose(own[0], logits[row], atol=1e-5)


def test_the_carry_goes_from_step_to_step_and_the_memory_stays(network: Network, turns: Turns):
    first = network.encode(turns)
    logits, second, _ = network.step(first, turns.initial, previous(turns), attention=False)
    again, third, _ = network.step(second, turns.initial, previous(turns), attention=False)
    assert second.memory is third.memory is first.memory
    assert not np.allclose(second.carry[0], first.carry[0])
    assert not np.allclose(logits, again)
    same, _, _ = network.step(Encoded(first.memory, second.carry), turns.initial, previous(turns), attention=False)
    assert np.array_equal(same, again)


def test_attention_only_if_it_is_asked_for(network: Network, turns: Turns):
    encoded = network.encode(turns)
    logits, _, nothing = network.step(encoded, turns.initial, previous(turns), attention=False)
    with_maps, _, maps = network.step(encoded, turns.initial, previous(turns), attention=True)
    assert nothing == {}
    assert np.array_equal(logits, with_maps)
    assert {name: found.over for name, found in maps.items()} == {"current": "words", "previous": "words", "state": "objects"}
    for row, (begin, length) in enumerate(zip(turns.current, turns.lengths, strict=True)):
        places = maps["current"].places[row]
        assert places[places >= 0].tolist() == list(range(begin, length))
        assert maps["current"].weights[row].sum() == pytest.approx(1, abs=1e-5)


def test_a_short_history_is_made_longer(turns: Turns):
    """Graphs are traced with at least two states; the last stands for those that are missing."""
    seen = []

    class Session:
        def run(self, outputs: list[str], given: dict[str, Any]) -> list[Any]:
            seen.append(given["history"])
            return [np.zeros((len(given["words"]), 1)) for _ in outputs]

    network = Network(GRAPHS.encode, GRAPHS.step, "network 1")
    network._encode = Session()
    first = turns.select(np.flatnonzero(turns.turn == 0))
    network.encode(first.starting_from(first.history[:, :1]))
    assert seen[0].shape[1] == MIN_HISTORY
    assert np.array_equal(seen[0], first.history[:, [0, 0]])
    network.encode(turns)
    assert seen[1] is turns.history


# Several.


def test_an_ensemble_takes_the_mean_of_probabilities(turns: Turns):
    graphs = [random_network(TABLES, len(WORDS), seed=seed) for seed in (1, 2, 3)]
    networks = [Network(each.encode, each.step, "a network") for each in graphs]
    ensemble = Ensemble(networks)
    encoded, alone = ensemble.encode(turns), [network.encode(turns) for network in networks]
    states, before = turns.initial, previous(turns)
    for _ in range(3):
        step = ensemble.step(encoded, states, before, attention=True)
        found = [network.step(own, states, before, attention=True) for network, own in zip(networks, alone, strict=True)]
        probabilities = [np.exp(logits) / np.exp(logits).sum(-1, keepdims=True) for logits, _, _ in found]
        assert np.allclose(np.exp(step.log_probs), np.mean(probabilities, 0), atol=1e-5)
        assert np.allclose(np.exp(step.log_probs).sum(-1), 1, atol=1e-5)
        for name, attended in found[0][2].items():  # of the first
            assert np.array_equal(step.attention[name].weights, attended.weights)
        encoded, alone = list(step.encoded), [own for _, own, _ in found]
        for mine, own in zip(encoded, alone, strict=True):
            assert np.array_equal(mine.carry[0], own.carry[0])
        before = step.log_probs.argmax(-1)
        states = TABLES.step(states, before)


def test_one_network_alone_is_not_rounded(turns: Turns):
    network = Network(GRAPHS.encode, GRAPHS.step, "network 1")
    step = Ensemble([network]).step(Ensemble([network]).encode(turns), turns.initial, previous(turns))
    logits, _, _ = network.step(network.encode(turns), turns.initial, previous(turns), attention=False)
    assert np.array_equal(step.log_probs, mean_log_probs([logits]))
    assert step.attention == {}


def test_probabilities_that_all_networks_hold_for_impossible_are_finite():
    class Sure:
        def step(self, own: Any, states: Any, previous: Any, *, attention: bool) -> Any:
            return np.array([[0.0, -1e4]], np.float32), own, {}

    step = Ensemble([Sure(), Sure()]).step([None, None], None, None)  # type: ignore[list-item, arg-type]
    assert np.isfinite(step.log_probs).all()


def test_log_probs_of_large_numbers():
    found = mean_log_probs([np.array([[1e30, 0.0], [-1e30, -1e30], [3.0, 3.0]], np.float32)])
    assert np.exp(found).tolist() == [[1, 0], pytest.approx([0.5, 0.5]), pytest.approx([0.5, 0.5])]


# What is refused.


def changed(content: bytes, change: Callable[[ModelProto], object]) -> bytes:
    found = onnx.load_model_from_string(content)
    change(found)
    return bytes(found.SerializeToString())


def refused(graphs: Graphs, words: int = len(WORDS)) -> str:
    with pytest.raises(InputError) as caught:
        Network(graphs.encode, graphs.step, "network 1").check(TABLES, words)
    said = str(caught.value)
    assert said.startswith("network 1: ")
    assert "\n" not in said
    assert len(said) < 500
    return said


def with_step(change: Callable[[ModelProto], object]) -> Graphs:
    return Graphs(GRAPHS.encode, changed(GRAPHS.step, change))


def with_encode(change: Callable[[ModelProto], object]) -> Graphs:
    return Graphs(changed(GRAPHS.encode, change), GRAPHS.step)


def rename_output(old: str, new: str) -> Callable[[ModelProto], object]:
    def change(model: ModelProto) -> None:
        for node in model.graph.node:
            if node.output[0] == old:
                node.output[0] = new
        for value in model.graph.output:
            if value.name == old:
                value.name = new

    return change


def drop_output(name: str) -> Callable[[ModelProto], object]:
    return lambda model: model.graph.output.remove(next(each for each in model.graph.output if each.name == name))


def replace_output(name: str, operator: str, inputs: list[str], kind: int, *constants: TensorProto, **attributes: Any) -> Any:
    """Let another operator compute an output."""

    def change(model: ModelProto) -> None:
        [node] = [each for each in model.graph.node if each.output[0] == name]
        node.CopyFrom(helper.make_node(operator, [each or node.input[0] for each in inputs], [name], **attributes))
        model.graph.initializer.extend(constants)
        [value] = [each for each in model.graph.output if each.name == name]
        value.type.tensor_type.elem_type = kind
        value.type.tensor_type.ClearField("shape")

    return change


def test_a_good_one():
    Network(GRAPHS.encode, GRAPHS.step, "network 1").check(TABLES, len(WORDS))


@pytest.mark.parametrize(
    "graphs",
    [
        with_step(rename_output("logits", "scores")),
        with_step(rename_output("next_carry.0", "next_carry.1")),
        with_step(rename_output("weights:words:current", "weights:words")),
        with_step(rename_output("weights:words:current", "weights:words:")),
        with_step(rename_output("weights:words:current", "weights:moons:current")),
        with_step(rename_output("weights:words:current", ":")),
        with_step(rename_output("places:words:current", "places:words:other")),
        with_step(drop_output("places:words:current")),
        with_step(drop_output("weights:words:current")),
        with_step(drop_output("logits")),
        with_encode(drop_output("carry.0")),
        with_encode(drop_output("memory.1")),
        with_encode(rename_output("memory.1", "recollection.1")),
        with_encode(lambda model: model.graph.input.pop()),
        with_encode(lambda model: model.graph.input.append(helper.make_tensor_value_info("more", TensorProto.FLOAT, [1]))),
        with_step(lambda model: model.graph.input.append(helper.make_tensor_value_info("more", TensorProto.FLOAT, [1]))),
        with_step(replace_output("logits", "Cast", [""], TensorProto.INT64, to=TensorProto.INT64)),
        with_step(replace_output("places:words:current", "Cast", [""], TensorProto.FLOAT, to=TensorProto.FLOAT)),
        with_step(replace_output("places:words:current", "Cast", [""], TensorProto.STRING, to=TensorProto.STRING)),
    ],
)
def test_graphs_that_do_not_fit_each_other(graphs: Graphs):
    assert "do not fit each other" in refused(graphs) or "cannot be loaded" in refused(graphs)


def test_scores_that_are_not_finite():
    nothing = helper.make_tensor("nothing", TensorProto.FLOAT, [], [float("nan")])
    said = refused(with_step(replace_output("logits", "Add", ["", "nothing"], TensorProto.FLOAT, nothing)))
    assert "gives scores that are not finite numbers" in said


def test_outputs_without_a_row_for_every_turn():
    first = helper.make_tensor("first", TensorProto.INT64, [1], [0])
    for name in ("logits", "next_carry.0", "weights:words:current"):
        said = refused(with_step(replace_output(name, "Gather", ["", "first"], TensorProto.FLOAT, first, axis=0)))
        assert f"its {name} has shape (1," in said
    said = refused(with_encode(replace_output("carry.0", "Gather", ["", "first"], TensorProto.FLOAT, first, axis=0)))
    assert "its carry.0 has shape (1," in said


def test_attention_to_what_is_not_there():
    far = helper.make_tensor("far", TensorProto.INT64, [], [10**6])
    for name in ("words:current", "objects:state"):
        said = refused(with_step(replace_output(f"places:{name}", "Add", ["", "far"], TensorProto.INT64, far)))
        assert f"its attention {name.partition(':')[2]!r} is over what is not there" in said
    axes = helper.make_tensor("axes", TensorProto.INT64, [1], [1])
    said = refused(with_step(replace_output("weights:words:current", "Squeeze", ["", "axes"], TensorProto.FLOAT, axes)))
    assert "its attention 'current' is over what is not there" in said


def test_more_words_than_there_are_embeddings():
    assert "fails (" in refused(GRAPHS, len(WORDS) + 1)


def test_the_graphs_of_another_world():
    other = compile_world(get_world("scene"))
    with pytest.raises(InputError, match="network 1: "):
        Network(GRAPHS.encode, GRAPHS.step, "network 1").check(other, len(WORDS))


def test_a_graph_that_onnx_runtime_refuses():
    assert "encode: cannot be loaded (" in refused(with_encode(lambda model: model.graph.node.pop(0)))
    assert "step: cannot be loaded (" in refused(with_step(lambda model: setattr(model, "ir_version", 99)))
    assert "step: cannot be loaded (" in refused(Graphs(GRAPHS.encode, b""))


def test_names_that_are_not_text(capfd: pytest.CaptureFixture[str]):
    """ONNX Runtime's own messages about them cannot be read either."""
    for name in (b"carry.0", b"value.0", b"words", b"constant.0", b"Gather"):
        said = refused(Graphs(GRAPHS.encode.replace(name, b"\xff" + name[1:], 1), GRAPHS.step))
        assert "encode" in said or "do not fit each other" in said
    assert capfd.readouterr() == ("", "")


def test_the_inputs_are_those_of_a_batch(turns: Turns):
    assert all(hasattr(turns, name) for name in INPUTS)
