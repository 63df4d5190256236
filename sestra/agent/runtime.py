"""Networks as ONNX Runtime executes them, on NumPy arrays. An agent has one network, or several that decide together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, cast, get_args

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as errors

from sestra.agent.execution import AttentionMap
from sestra.agent.graph_check import check_graph
from sestra.agent.trace import Over
from sestra.data.batch import Example, Turns, make_turns
from sestra.errors import InputError, shortened
from sestra.worlds.tables import Integers, Tables

INPUTS = ("words", "lengths", "current", "history", "turn")
"""What a network is given of a batch of turns (``sestra.data.batch.Turns``)."""
MIN_HISTORY = 2
"""The fewest states that a history has for a network; the last is repeated."""
FAILURES = (
    errors.EPFail, errors.Fail, errors.InvalidArgument, errors.InvalidGraph, errors.InvalidProtobuf, errors.NoModel, errors.NotImplemented,
    errors.NotFound, errors.RuntimeException, MemoryError, UnicodeDecodeError,
)  # fmt: skip
"""What ONNX Runtime raises; a UnicodeDecodeError where a message of its own quotes a name that is not text."""

Arrays = tuple[NDArray[Any], ...]


class Encoded(NamedTuple):
    """What a network knows of a batch of turns, one row per turn in each array."""

    memory: Arrays
    """What stays the same through an execution."""
    carry: Arrays
    """What is handed from each step to the next."""

    def select(self, rows: Integers) -> Encoded:
        return Encoded(tuple(part[rows] for part in self.memory), tuple(part[rows] for part in self.carry))


class Step(NamedTuple):
    log_probs: NDArray[np.float32]  # [batch, actions]
    encoded: Sequence[Encoded]
    """With the carry after the step."""
    attention: dict[str, AttentionMap]
    """By name, if it was asked for."""


class Runtime(Protocol):
    """What encodes turns and scores actions: an agent's networks."""

    def encode(self, turns: Turns) -> Sequence[Encoded]: ...

    def step(self, encoded: Sequence[Encoded], states: Integers, previous: Integers, *, attention: bool = False) -> Step:
        """Score every action in the states, ``[batch, slots]``, after the previous actions, ``[batch]``."""


class Network:
    """The graphs that ``sestra.learning.graphs`` made of a policy."""

    def __init__(self, encode: bytes, step: bytes, place: str) -> None:
        self._place = place
        self._encode, self._step = _session(encode, f"{place}: encode"), _session(step, f"{place}: step")
        self._memory, self._carry = (
            [each.name for each in self._encode.get_outputs() if each.name.startswith(f"{what}.")] for what in PARTS
        )
        outputs = [each.name for each in self._step.get_outputs()]
        self._scores = ["logits", *(f"next_{name}" for name in self._carry)]
        self._maps = [name for name in outputs if ":" in name]
        self._all = self._scores + self._maps
        self._inputs = ["states", "previous", *self._memory, *self._carry]
        wanted = [*self._memory, *self._carry], self._inputs, self._all
        found = [each.name for each in self._encode.get_outputs()], [each.name for each in self._step.get_inputs()], outputs
        given = tuple(each.name for each in self._encode.get_inputs())
        kinds = {each.name: each.type for each in (*self._encode.get_outputs(), *self._step.get_outputs())}
        fit = given == INPUTS and all(sorted(one) == sorted(other) for one, other in zip(wanted, found, strict=True))
        if not fit or not _are_maps(self._maps) or any(not kind.startswith(_kind(name)) for name, kind in kinds.items()):
            raise InputError(f"{place}: its two graphs do not fit each other; the files are damaged, use another agent")
        self._attention = [_Attention.of(name, self._all) for name in self._maps if name.startswith("weights:")]

    def check(self, tables: Tables, words: int) -> None:
        """Raise InputError unless the network takes the world's states and that many words, and scores its actions."""
        state, word = (tables.world.contents[-1],) * tables.slots, words - 1
        turns = make_turns([Example([[word], [word, word]], [state, state], state), Example([[word]], [state], state)], tables)
        logits, _, maps = self.step(self.encode(turns), turns.initial, np.full(2, tables.actions), attention=True)
        if logits.shape != (2, tables.actions):
            raise InputError(
                f"{self._place}: gives scores of shape {logits.shape} for two states; expected {tables.actions} for each, "
                f"one per action of {tables.world.name}; use another agent"
            )
        most = {"words": turns.words.shape[1], "objects": MAX_OBJECTS}
        for name, (over, weights, places) in maps.items():
            if weights.ndim != 3 or places.shape != (2, weights.shape[2]) or places.max(initial=-1) >= most[over]:
                raise InputError(f"{self._place}: its attention {shortened(name)!r} is over what is not there; use another agent")

    def encode(self, turns: Turns) -> Encoded:
        given = {name: getattr(turns, name) for name in INPUTS}
        short = MIN_HISTORY - turns.history.shape[1]
        if short > 0:
            given["history"] = np.concatenate([turns.history, *[turns.history[:, -1:]] * short], 1)
        found = self._run(self._encode, [*self._memory, *self._carry], given, len(turns))
        return Encoded(tuple(found[: len(self._memory)]), tuple(found[len(self._memory) :]))

    def step(
        self, encoded: Encoded, states: Integers, previous: Integers, *, attention: bool
    ) -> tuple[NDArray[np.float32], Encoded, dict[str, AttentionMap]]:
        """The logits, ``[batch, actions]``, what to give to the next step, and the attention if it is asked for."""
        given = dict(zip(self._inputs, (states, previous, *encoded.memory, *encoded.carry), strict=True))
        found = self._run(self._step, self._all if attention else self._scores, given, len(states))
        logits = found[0]
        if not np.isfinite(logits).all():
            raise InputError(f"{self._place}: gives scores that are not finite numbers; the files are damaged, use another agent")
        if self._carry:
            encoded = Encoded(encoded.memory, tuple(found[1 : len(self._scores)]))
        maps = (
            {each.name: AttentionMap(each.over, found[each.weights], found[each.places]) for each in self._attention} if attention else {}
        )
        return logits, encoded, maps

    def _run(self, session: ort.InferenceSession, outputs: list[str], given: Mapping[str, NDArray[Any]], batch: int) -> list[NDArray[Any]]:
        """The outputs, each with a row for every turn."""
        try:
            found = cast("list[NDArray[Any]]", session.run(outputs, given))
        except FAILURES as error:
            raise InputError(f"{self._place}: fails ({_said(error)}); the agent does not fit its world or its words") from error
        for name, array in zip(outputs, found, strict=True):
            if array.ndim == 0 or len(array) != batch:
                raise InputError(f"{self._place}: its {name} has shape {array.shape} for {batch} turns; use another agent")
        return found


PARTS = ("memory", "carry")
MAX_OBJECTS = 1_000


def _kind(output: str) -> str:
    """How the type of an output begins."""
    if output == "logits" or output.startswith("weights:"):
        return "tensor(float)"
    return "tensor(int" if output.startswith("places:") else "tensor("


def _are_maps(names: Sequence[str]) -> bool:
    """Whether the names are those of attention maps: for each, the weights and the places."""
    weights = {name.removeprefix("weights:") for name in names if name.startswith("weights:")}
    known = all(name.partition(":")[0] in get_args(Over) and name.partition(":")[2] for name in weights)
    return known and {*names} == {f"{what}:{name}" for name in weights for what in ("weights", "places")}


def _said(error: Exception) -> str:
    """What ONNX Runtime said, in one line."""
    return shortened(" ".join(str(error).split()), 200)


class _Attention(NamedTuple):
    """An attention map among the outputs of a step."""

    name: str
    over: Over
    weights: int
    """Which output."""
    places: int

    @classmethod
    def of(cls, output: str, outputs: list[str]) -> _Attention:
        _, over, name = output.split(":", 2)
        return cls(name, cast("Over", over), outputs.index(output), outputs.index(f"places:{over}:{name}"))


class Ensemble:
    """One or more networks; an action's probability is the mean of theirs, and attention is that of the first."""

    def __init__(self, networks: Sequence[Network]) -> None:
        self._networks = networks

    def encode(self, turns: Turns) -> list[Encoded]:
        return [network.encode(turns) for network in self._networks]

    def step(self, encoded: Sequence[Encoded], states: Integers, previous: Integers, *, attention: bool = False) -> Step:
        steps = [
            network.step(own, states, previous, attention=attention and not number)
            for number, (network, own) in enumerate(zip(self._networks, encoded, strict=True))
        ]
        return Step(mean_log_probs([logits for logits, _, _ in steps]), [own for _, own, _ in steps], steps[0][2])


def mean_log_probs(logits: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The logarithm of the mean of the probabilities that several logits, ``[batch, actions]`` each, give."""
    if len(logits) == 1:
        result: NDArray[np.float32] = logits[0] - logits[0].max(-1, keepdims=True)
        result -= np.log(np.exp(result).sum(-1, keepdims=True))
        return result
    together = np.stack(logits)  # [networks, batch, actions]
    together -= together.max(-1, keepdims=True)
    probabilities = np.exp(together, out=together)
    probabilities /= probabilities.sum(-1, keepdims=True) * len(logits)
    mean: NDArray[np.float32] = probabilities.sum(0)
    return np.log(np.maximum(mean, np.finfo(np.float32).tiny))


def _session(model: bytes, place: str) -> ort.InferenceSession:
    check_graph(model, place)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False  # memory of the largest batch would stay with the process
    options.log_severity_level = 4  # errors are raised
    try:
        session = ort.InferenceSession(
            model, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )  # nothing else to fall back to
        _ = [each.name for each in (*session.get_inputs(), *session.get_outputs())]  # which may not be text
        return session
    except FAILURES as error:
        raise InputError(f"{place}: cannot be loaded ({_said(error)}); the file is damaged, use another one") from error
