"""Policies as ONNX graphs: they give the numbers that torch gives, for any sizes; and what cannot be exported is refused with a reason."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from exported import graphs_of, network_of
from lamps import Lamps
from plain_policy import PlainPolicy
from torch import nn

from sestra.agent.folder import Graphs
from sestra.agent.graph_check import check_graph
from sestra.agent.runtime import Network
from sestra.data.batch import Example, Turns, make_turns
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.learning import graphs as exporter
from sestra.learning.export import random_turns
from sestra.learning.graphs import HALF_FROM, MAX_TRACED, read_weights
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.policies.base import Encoded, Inputs, Policy, Step
from sestra.learning.policies.objects.config import ObjectConfig
from sestra.learning.policies.registry import POLICIES
from sestra.worlds import get_world
from sestra.worlds.tables import Tables, compile_world

ROOT = Path(__file__).parents[2]
VOCABULARY = Vocabulary(("light", "put", "out", "it", "one", "first", "two", "2nd", "red", "green"))
LAMPS = Tables(Lamps())
STEPS = 4
CLOSE = {"rtol": 1e-3, "atol": 1e-4}


class WithGru(PlainPolicy):
    """Reads the words with nn.GRU, in both directions, and carries nothing."""

    def __init__(self, tables: Tables, vocabulary: Vocabulary) -> None:
        super().__init__(tables, vocabulary, 8)
        self.word_gru = nn.GRU(8, 4, batch_first=True, bidirectional=True)

    def encode(self, inputs: Inputs) -> Encoded:
        vectors, last = self.word_gru(self.embedding(inputs.words))  # [batch, words, size], [directions, batch, size / 2]
        return Encoded([vectors.amax(1), last.transpose(0, 1).flatten(1), self._encode_states(inputs.initial)])

    def step(self, memory, carry, states, previous, *, return_attention=False):
        words, last, initial = memory
        encoded = self._encode_states(states)
        return Step(self.score(torch.cat([torch.tanh(words + last + initial + self.previous(previous)), encoded], 1)))


@dataclass(frozen=True)
class Structure:
    make: Callable[[Tables, Vocabulary], Policy]
    world: str = "lamps"

    @property
    def tables(self) -> Tables:
        return LAMPS if self.world == "lamps" else compile_world(get_world(self.world))

    def policy(self, seed: int = 0) -> Policy:
        """With random weights, biases and all."""
        policy = self.make(self.tables, VOCABULARY).eval().requires_grad_(False)
        generator = torch.Generator().manual_seed(seed)
        for parameter in policy.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4)
        return policy


ATTENTION = {"embedding": 4, "hidden": 6}
OBJECTS = {"embedding": 6, "size": 8, "heads": 2, "layers": 1}
STRUCTURES = {
    "plain": Structure(lambda tables, vocabulary: PlainPolicy(tables, vocabulary, 8)),
    "gru": Structure(WithGru),
    "example": Structure(lambda *made: POLICIES.get(f"{ROOT / 'examples' / 'own_policy.py'}:Recurrent")(size=8).build(*made)),
    "attention": Structure(AttentionConfig(**ATTENTION).build, "alchemy"),
    "attention without a past": Structure(AttentionConfig(**ATTENTION, previous_instructions=False, initial_state=False).build, "scene"),
    "attention without states": Structure(AttentionConfig(**ATTENTION, initial_state=False, current_state=False).build),
    "objects without a past": Structure(ObjectConfig(**OBJECTS, past="none", changes=False, ranks=False).build),
    "objects with pointers": Structure(ObjectConfig(**OBJECTS, past="pointed", numbers=True).build, "tangrams"),
}
MAPS = {
    "example": ["words"],
    "attention": ["current", "previous", "initial", "state"],
    "attention without a past": ["current", "state"],
    "attention without states": ["current", "previous"],
    **{name: ["words", "changes", "objects"] for name in STRUCTURES if name.startswith("objects")},
}


@pytest.fixture(scope="session", params=STRUCTURES)
def name(request) -> str:
    return request.param


EXPORTED: dict[str, Graphs] = {}


def exported(name: str) -> Graphs:
    """Of the policy with the first seed."""
    if name not in EXPORTED:
        EXPORTED[name] = graphs_of(STRUCTURES[name].policy(), STRUCTURES[name].tables, VOCABULARY, f"test {name}")
    return EXPORTED[name]


def batches(tables: Tables) -> Iterator[Turns]:
    """Of other sizes than those that were traced, down to one turn of one word with no history but its start."""
    generator = np.random.default_rng(1)
    for count, turns, words in ((1, 1, 2), (2, 2, 1), (7, 5, 9)):
        yield random_turns(tables, VOCABULARY, count, turns, words, generator)
    state = (tables.world.contents[0],) * tables.slots
    yield make_turns([Example([[5]], [state], state)], tables)


@torch.no_grad()
def check(network: Network, policy: Policy, tables: Tables, turns: Turns, maps: list[str]) -> None:
    """Step by step, each with the carry of the one before, and in other states."""
    found, (memory, carry) = network.encode(turns), policy.encode(Inputs.of(turns))
    states, previous = turns.initial, np.full(len(turns), tables.actions)
    for number in range(STEPS):
        logits, found, attention = network.step(found, states, previous, attention=True)
        step = policy.step(memory, carry, torch.from_numpy(states), torch.from_numpy(previous), return_attention=True)
        carry = step.carry
        np.testing.assert_allclose(logits, step.logits.numpy(), **CLOSE)
        assert list(attention) == list(step.attention) == maps
        for key, expected in step.attention.items():
            assert attention[key].over == expected.over
            np.testing.assert_allclose(attention[key].weights, expected.weights.numpy(), **CLOSE)
            assert np.array_equal(attention[key].places, expected.places.numpy())
        previous = (np.arange(len(turns)) + number) % tables.actions
        states = tables.step(states, previous)


def test_gives_what_torch_gives_for_any_sizes(name):
    structure, graphs = STRUCTURES[name], exported(name)
    network, policy = Network(graphs.encode, graphs.step, name), structure.policy()
    for turns in batches(structure.tables):
        check(network, policy, structure.tables, turns, MAPS.get(name, []))


def test_another_policy_of_the_structure_is_not_traced_again(name, monkeypatch):
    structure = STRUCTURES[name]
    graphs, other = exported(name), structure.policy(seed=1)
    key = f"test {name}"
    if key not in exporter._TRACED:
        pytest.skip("more structures than are kept")
    monkeypatch.setattr(exporter, "_trace", lambda *_: pytest.fail("traced again"))
    network = network_of(other, structure.tables, VOCABULARY, key)
    for turns in itertools.islice(batches(structure.tables), 2):
        check(network, other, structure.tables, turns, MAPS.get(name, []))
        first = Network(graphs.encode, graphs.step, name)
        check(first, structure.policy(), structure.tables, turns, MAPS.get(name, []))


def test_nothing_but_the_network_is_in_the_graphs(name):
    """No path of the machine, no notes on the source code, and no operator that agents may not have."""
    places = {str(ROOT), str(Path(sys.prefix)), str(Path.home()), torch.__file__, "site-packages", "pkg.torch", "stack_trace"}
    for serialised in vars(exported(name)).values():
        check_graph(serialised, name)
        assert not [place for place in places if len(place) > 1 and place.encode() in serialised]
        assert not re.findall(rb"\w+\.py\b", serialised)
        model = onnx.load_model_from_string(serialised)
        onnx.checker.check_model(model)
        for part in (model, model.graph, *model.graph.node, *model.graph.initializer, *model.graph.input, *model.graph.output):
            assert not part.doc_string
            assert not part.metadata_props


def test_at_most_some_structures_are_kept(monkeypatch):
    """The one that was traced first goes."""
    traced = iter([onnx.load_model_from_string(serialised) for serialised in vars(exported("plain")).values()])
    kept = dict.fromkeys(range(MAX_TRACED))
    monkeypatch.setattr(exporter, "_TRACED", kept)
    monkeypatch.setattr(exporter, "_trace", lambda *_: next(traced))
    graphs_of(STRUCTURES["plain"].policy(), LAMPS, VOCABULARY, "new")
    assert list(kept) == [*range(1, MAX_TRACED), "new"]


# Weights.


def stored(graphs: Graphs) -> dict[str, onnx.TensorProto]:
    return {each.name: each for serialised in vars(graphs).values() for each in onnx.load_model_from_string(serialised).graph.initializer}


def test_half_precision_where_it_is_exact():
    policy = STRUCTURES["plain"].policy().half().float()
    policy.word_lstm.weight_hh_l0.mul_(1 + 1e-5)
    found = stored(graphs_of(policy, LAMPS, VOCABULARY, "test plain"))
    expected = {f"policy.{name}": value for name, value in policy.state_dict().items()}
    small = {name for name, value in expected.items() if value.numel() < HALF_FROM}
    assert small
    for name, value in expected.items():
        if name == "policy.word_lstm.weight_hh_l0" or name in small:
            assert found[name].data_type == onnx.TensorProto.FLOAT
            read = onnx.numpy_helper.to_array(found[name])
        else:
            assert found[f"{name}.half"].data_type == onnx.TensorProto.FLOAT16
            read = onnx.numpy_helper.to_array(found[f"{name}.half"]).astype(np.float32)
        assert np.array_equal(read, value.numpy()), name


def test_weights_are_read_back():
    for name in ("plain", "gru", "example"):
        policy = STRUCTURES[name].policy()
        read, known = read_weights(exported(name)), policy.state_dict()
        used = {each for each in known if not (name == "gru" and each.startswith(("word_lstm", "begin", "cell")))}
        assert set(read) == used
        assert all(torch.equal(read[each], known[each]) for each in used)


# What cannot be exported.


class Lacking(PlainPolicy):
    def step(self, memory, carry, states, previous, *, return_attention=False):
        step = super().step(memory, carry, states, previous)
        return step._replace(logits=step.logits - step.logits.median(1, keepdim=True).values)


class FixedSize(PlainPolicy):
    def encode(self, inputs):
        memory, carry = super().encode(inputs)
        return Encoded((memory, torch.ones(len(inputs.words), 1) * inputs.turn.unsqueeze(1)), carry)

    def step(self, memory, carry, states, previous, *, return_attention=False):
        return super().step(memory[0], carry, states, previous)


class DependsOnValues(PlainPolicy):
    def step(self, memory, carry, states, previous, *, return_attention=False):
        return super().step(memory, carry, states if int(states.sum()) > 3 else states + 0, previous)


class NoRows(PlainPolicy):
    def encode(self, inputs):
        memory, carry = super().encode(inputs)
        return Encoded((memory, memory.words.T), carry)


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (Lacking, r"policy: cannot be exported: ONNX has no operator for aten\.median; write it with others"),
        (FixedSize, r"a size of the batch became a fixed number; write x\.shape\[0\] instead of len\(x\)"),
        (DependsOnValues, r"policy: cannot be exported"),
        (NoRows, r"holds a tensor of shape \[8, 3\] for 3 turns and \[8, 5\] for 5; expected one row per turn, or the same tensor"),
    ],
)
def test_what_cannot_be_exported(kind, complaint):
    with pytest.raises(InputError, match=complaint) as error:
        graphs_of(kind(LAMPS, VOCABULARY, 8), LAMPS, VOCABULARY, kind)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 700
    assert kind not in exporter._TRACED
