"""The paper's policy for one turn, loop by loop in plain Python: a vector is a list of floats, a matrix a list of rows."""

from __future__ import annotations

import math

from sestra.learning.policies.attention import AttentionPolicy
from sestra.worlds import get_world


def times(matrix, vector):
    return [sum(weight * value for weight, value in zip(row, vector, strict=True)) for row in matrix]


def plus(*vectors):
    return [sum(values) for values in zip(*vectors, strict=True)]


def sigmoid(value):
    return 1 / (1 + math.exp(-value))


def softmax(scores):
    exponentials = [math.exp(score) for score in scores]
    return [value / sum(exponentials) for value in exponentials]


def lstm(gates, cell, order):
    """One step from the four gates' values; ``order`` says which gate stands where: input, forget, output, candidate."""
    size = len(cell)
    part = {name: gates[place * size : (place + 1) * size] for place, name in enumerate(order)}
    new = [sigmoid(f) * c + sigmoid(i) * math.tanh(g) for i, f, g, c in zip(part["i"], part["f"], part["g"], cell, strict=True)]
    return [sigmoid(o) * math.tanh(c) for o, c in zip(part["o"], new, strict=True)], new


def run_lstm(inputs, size, gates, order):
    """Hidden states over the inputs, from zeros."""
    hidden, cell, outputs = [0.0] * size, [0.0] * size, []
    for vector in inputs:
        hidden, cell = lstm(gates(vector, hidden), cell, order)
        outputs.append(hidden)
    return outputs


class Slow:
    """The policy for one turn, computed loop by loop from the weights of a real one."""

    def __init__(self, policy: AttentionPolicy, world: str) -> None:
        self.weights = {name: value.tolist() for name, value in policy.state_dict().items()}
        self.config, self.world = policy.config, get_world(world)
        kinds = [action.kind for action in self.world.actions]
        arguments = [(*action.arguments, "null", "null")[:2] for action in self.world.actions]
        self.parts = list(zip(kinds, *zip(*arguments, strict=True), strict=True))
        self.names = [list(dict.fromkeys(part[column] for part in [*self.parts, ("begin", "null", "null")])) for column in range(3)]

    def read(self, words: list[int]) -> list[list[float]]:
        embedded = [self.weights["embedding.weight"][word] for word in words]

        def direction(name):
            def gates(vector, hidden):
                inward, recurrent = self.weights[f"{name}.weight_ih_l0"], self.weights[f"{name}.weight_hh_l0"]
                biases = self.weights[f"{name}.bias_ih_l0"], self.weights[f"{name}.bias_hh_l0"]
                return plus(times(inward, vector), times(recurrent, hidden), *biases)

            return gates

        forward = run_lstm(embedded, self.config.hidden, direction("forward_lstm"), "ifgo")
        backward = run_lstm(embedded[::-1], self.config.hidden, direction("backward_lstm"), "ifgo")[::-1]
        return [[*one, *other] for one, other in zip(forward, backward, strict=True)]

    def see(self, state: tuple[str, ...]) -> list[list[float]]:
        """Supplementary A."""
        part = {name.removeprefix("state_encoder."): value for name, value in self.weights.items() if name.startswith("state_encoder.")}
        if self.world.name == "alchemy":

            def gates(vector, hidden):
                return plus(times(part["gates.weight"], [*vector, *hidden]), part["gates.bias"])

            colours = dict(zip("bgopry", part["colours.weight"], strict=True))
            beakers = [run_lstm([colours[unit] for unit in beaker], 20, gates, "ifog") for beaker in state]
            return [
                [*(beaker[-1] if beaker else [0.0] * 20), *place] for beaker, place in zip(beakers, part["positions.weight"], strict=True)
            ]
        if self.world.name == "scene":
            colours = dict(zip("_bgopry", part["colours.weight"], strict=True))
            embedded = [
                [*colours[shirt], *colours[hat], *place] for (shirt, hat), place in zip(state, part["positions.weight"], strict=True)
            ]

            def direction(number):
                rows = slice(20 * number, 20 * (number + 1))
                recurrent = [list(column) for column in zip(*part["recurrent"][number], strict=True)]
                return lambda vector, hidden: plus(
                    times(part["gates.weight"][rows], vector), part["gates.bias"][rows], times(recurrent, hidden)
                )

            forward = run_lstm(embedded, 5, direction(0), "ifog")
            backward = run_lstm(embedded[::-1], 5, direction(1), "ifog")[::-1]
            return [[*one, *other, *own] for one, other, own in zip(forward, backward, embedded, strict=True)]
        if not state[0]:
            return part["empty"]
        return [[*place, *part["shapes.weight"][int(shape)]] for place, shape in zip(part["positions.weight"], state[0], strict=False)]

    def attend(self, keys, query, matrix):
        weights = softmax([sum(a * b for a, b in zip(key, times(matrix, query), strict=True)) for key in keys])
        return [sum(weight * key[place] for weight, key in zip(weights, keys, strict=True)) for place in range(len(keys[0]))], weights

    def embed(self, parts):
        tables = ("kind_embedding.weight", "first_argument_embedding.weight", "second_argument_embedding.weight")
        return [x for table, names, part in zip(tables, self.names, parts, strict=True) for x in self.weights[table][names.index(part)]]

    def score(self, h_a, parts):
        """s_T + s_1 + s_2."""
        tables = ("kind_weights.weight", "first_argument_weights.weight", "second_argument_weights.weight")
        rows = [self.weights[table][names.index(part)] for table, names, part in zip(tables, self.names, parts, strict=True)]
        return sum(times(rows, h_a))

    def play(self, words, current, initial, actions):
        """Probabilities of all actions and attention weights, step by step."""
        encoded = self.read(words)
        now, past, first = encoded[current:], encoded[:current], self.see(initial)
        size, word = len(first[0]), 2 * self.config.hidden
        second = self.weights["other_queries.weight"]
        heads = [second[:word], *(second[word + size * head : word + size * (head + 1)] for head in range(4))]

        def decode(vector, hidden, cell):
            return lstm(
                plus(times(self.weights["decoder_gates.weight"], [*vector, *hidden]), self.weights["decoder_gates.bias"]), cell, "ifog"
            )

        joined_size, zeros = len(self.weights["decoder_input.bias"]), [0.0] * self.config.hidden
        hidden, cell = decode([0.0] * joined_size, zeros, zeros)  # the update with zeros, before anything is attended to
        state, previous, answers = initial, ("begin", "null", "null"), []
        for action in actions:
            z_c, a_c = self.attend(now, hidden, self.weights["current_query.weight"])
            query = [*hidden, *z_c]
            z_p, a_p = self.attend(past, query, heads[0])
            here = self.see(state)
            attended = [self.attend(keys, query, head) for keys, head in zip((first, first, here, here), heads[1:], strict=True)]
            joined = [*z_c, *z_p, *(x for z, _ in attended for x in z), *self.embed(previous)]
            joined = [math.tanh(x) for x in plus(times(self.weights["decoder_input.weight"], joined), self.weights["decoder_input.bias"])]
            hidden, cell = decode(joined, hidden, cell)
            h_a = [math.tanh(x) for x in times(self.weights["action_scorer.weight"], hidden)]
            scores = [self.score(h_a, parts) for parts in self.parts]
            weights = {"current": [a_c], "previous": [a_p], "initial": [a for _, a in attended[:2]], "state": [a for _, a in attended[2:]]}
            answers.append((softmax(scores), weights))
            previous, state = self.parts[action], self.world.apply(state, self.world.actions[action])
        return answers
