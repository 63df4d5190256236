"""The paper's policy (Section 4): attention over instructions and states, and a recurrent decoder of actions.

attend(H, q, W):  alpha_i ~ exp(h_i W q),  z = sum_i alpha_i h_i
z_c = attend(X_c, h_d, W_c)                                  the current instruction
z_p = attend(X_p, [h_d, z_c], W_p)                           the previous instructions
z_1 = two heads of attend(enc(s_1), [h_d, z_c], W_sb)        the state at the start of the instruction
z_k = two heads of attend(enc(s_k), [h_d, z_c], W_sc)        the state now
h   = tanh([z_c; z_p; z_1; z_k; embedded previous action] W_d + b_d)
h_d = LSTM(h; h_d)
p(a_T(a_1, a_2)) ~ exp(s_aT + s_a1 + s_a2),  s = tanh(h_d W_a) b
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from sestra.data.vocabulary import PAD, Vocabulary
from sestra.learning.kernels.decoder import Keys, StepTrace, Update, Weights, decoder_hidden_states, lstm, step
from sestra.learning.policies.base import (
    AttentionMap,
    DeferredGradients,
    Encoded,
    Inputs,
    Policy,
    SelectsMemory,
    Step,
    Visits,
    data_size,
    exporting,
    select_rows,
)
from sestra.learning.policies.state_encoder import state_encoder
from sestra.learning.policies.word_encoder import encode_words, gather_vectors
from sestra.worlds.tables import Tables

if TYPE_CHECKING:
    from sestra.learning.policies.attention_config import AttentionConfig

HEADS = 2
"""Attention heads over a state."""
NULL = "null"
BEGIN = "begin"


class Record(NamedTuple):
    """What a step computed: all that its gradient needs."""

    trace: StepTrace
    mask: Tensor | None  # what dropout multiplied the states' encodings by


class Prepared(NamedTuple):
    """What depends on the weights alone."""

    weights: Weights
    actions: Tensor  # [actions + 1, joined]: what the last one adds to the decoder's input before its tanh, and b_d
    scores: Tensor  # [actions, hidden]: b_aT + b_a1 + b_a2
    states: Tensor | None  # what the state encoder prepared


@dataclass(frozen=True)
class Memory:
    """What stays the same through an execution."""

    current: Keys
    others: tuple[tuple[Keys, int], ...]
    """The previous instructions and the initial state, if they are attended to, each with its number of heads."""
    places: tuple[Tensor, ...]  # [batch, keys] each: where the words of the current and of the previous instructions are; -1 where none is
    prepared: Prepared | None  # None while the policy is exported: graphs compute it from the weights when they are loaded
    begin: Update


class AttentionPolicy(Policy, SelectsMemory, DeferredGradients):
    """The paper's model; its four ablations are the three flags of the configuration."""

    evaluation_batch_size = 320
    cpu_only = True

    def __init__(self, config: AttentionConfig, tables: Tables, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.action_parts: Tensor
        self.config = config
        self.embedding = nn.Embedding(len(vocabulary), config.embedding, padding_idx=PAD)
        self.forward_lstm = nn.LSTM(config.embedding, config.hidden, batch_first=True)
        self.backward_lstm = nn.LSTM(config.embedding, config.hidden, batch_first=True)
        self.state_encoder = state_encoder(tables) if config.initial_state or config.current_state else None
        self.state_size = self.state_encoder.size if self.state_encoder else 0
        self._name_actions(tables)

        word = 2 * config.hidden
        contexts = sum(size * heads for size, heads in self._heads())
        joined = word + contexts + 3 * config.embedding
        self.current_query = nn.Linear(config.hidden, word, bias=False)  # W_c
        self.other_queries = nn.Linear(config.hidden + word, contexts, bias=False)  # W_p, both W_sb, both W_sc
        self.decoder_input = nn.Linear(joined, joined)  # W_d, b_d
        self.decoder_gates = nn.Linear(joined + config.hidden, 4 * config.hidden)
        self.action_scorer = nn.Linear(config.hidden, config.hidden, bias=False)  # W_a
        self._initialise()

    def _name_actions(self, tables: Tables) -> None:
        """Number the kinds and arguments of all actions, and of BEG, which stands before the first one and is never scored."""
        parts = [[action.kind, *action.arguments, NULL, NULL][:3] for action in tables.world.actions]
        columns = list(zip(*parts, (BEGIN, NULL, NULL), strict=True))
        kinds, first, second = names = [list(dict.fromkeys(column)) for column in columns]
        numbers = [[known.index(name) for name in column] for known, column in zip(names, columns, strict=True)]
        self.register_buffer("action_parts", torch.tensor(numbers), persistent=False)  # [3, actions + 1]
        self.kind_embedding = nn.Embedding(len(kinds), self.config.embedding)
        self.first_argument_embedding = nn.Embedding(len(first), self.config.embedding)
        self.second_argument_embedding = nn.Embedding(len(second), self.config.embedding)
        self.kind_weights = nn.Embedding(len(kinds) - 1, self.config.hidden)  # b_aT
        self.first_argument_weights = nn.Embedding(len(first), self.config.hidden)  # b_a1
        self.second_argument_weights = nn.Embedding(len(second), self.config.hidden)  # b_a2

    @torch.no_grad()
    def _initialise(self) -> None:
        """Glorot's uniform distribution (an embedding is a matrix of one row), zeros for biases but ones for forget gates."""
        for name, parameter in self.named_parameters():
            if parameter.dim() == 1:
                parameter.zero_()
            elif isinstance(self.get_submodule(name.rpartition(".")[0]), nn.Embedding):
                nn.init.uniform_(parameter, -((6 / (1 + parameter.shape[1])) ** 0.5), (6 / (1 + parameter.shape[1])) ** 0.5)
            else:
                for matrix in self._matrices(name, parameter):
                    nn.init.xavier_uniform_(matrix)
        self.embedding.weight[PAD] = 0
        for bias in (
            self.decoder_gates.bias,
            self.forward_lstm.get_parameter("bias_ih_l0"),
            self.backward_lstm.get_parameter("bias_ih_l0"),
        ):
            bias[self.config.hidden : 2 * self.config.hidden] = 1

    def _matrices(self, name: str, parameter: Tensor) -> list[Tensor]:
        """The matrices that a parameter holds side by side: one per attention head, or as the state encoder says."""
        if name == "other_queries.weight":
            return list(parameter.split([size for size, heads in self._heads() for _ in range(heads)]))
        stacked = {f"state_encoder.{each}": count for each, count in getattr(self.state_encoder, "stacked_matrices", {}).items()}
        if name in stacked:
            return list(parameter.chunk(stacked[name]))
        return list(parameter) if parameter.dim() == 3 else [parameter]

    def encode(self, inputs: Inputs) -> Encoded:
        """The decoder's first state is that after one update with zeros as its input, hidden state and cell."""
        words, lengths, current = inputs.words, inputs.lengths, inputs.current
        if not self.config.previous_instructions:
            words, lengths, current = _without_previous(words, lengths, current)
        vectors = encode_words(self.forward_lstm, self.backward_lstm, self.embedding, words, lengths)  # [batch, words, 2 * hidden]
        begins, ends = current.unsqueeze(1), lengths.unsqueeze(1)  # [batch, 1]
        places = begins + torch.arange(data_size((lengths - current).max(), words.shape[1]))  # [batch, words of the current instruction]
        instruction = gather_vectors(vectors, places.clamp(max=words.shape[1] - 1))  # [batch, words of the current instruction, 2 * hidden]
        present, attended = Keys(instruction, _mask(places < ends)), [places.masked_fill(places >= ends, -1)]
        others: list[tuple[Keys, int]] = []
        if self.config.previous_instructions:
            earlier = torch.arange(data_size(current.max(), words.shape[1])).expand(words.shape[0], -1)  # [batch, words before the current]
            others.append((Keys(self._drop(vectors[:, : earlier.shape[1]])[0], _mask(earlier < begins)), 1))
            attended.append(earlier.masked_fill(earlier >= begins, -1))
        prepared = self._prepare()
        if self.state_encoder is not None and self.config.initial_state:
            initial = inputs.initial  # [batch, slots]
            keys = self.state_encoder(prepared.states, initial)  # [batch, objects, size]
            others.append((Keys(self._drop(keys)[0], self.state_encoder.mask(initial)), HEADS))
        nothing = vectors.new_zeros(words.shape[0], self.config.hidden)  # [batch, hidden]
        begin = lstm(self.decoder_gates.bias.expand(words.shape[0], -1), nothing)  # zeros as input and hidden state leave the bias alone
        memory = Memory(present, tuple(others), tuple(attended), None if exporting() else prepared, begin)
        return Encoded(memory, (begin.hidden, begin.cell))

    def _prepare(self) -> Prepared:
        kinds, first, second = self.action_parts  # [actions + 1] each
        embedded = torch.cat([self.kind_embedding(kinds), self.first_argument_embedding(first), self.second_argument_embedding(second)], -1)
        joined, by_action = self.decoder_input.weight.tensor_split([-embedded.shape[1]], 1)  # [joined, contexts], [joined, 3 * embedding]
        weights = Weights(self.current_query.weight, self.other_queries.weight, joined, self.decoder_gates.weight, self.decoder_gates.bias)
        actions = functional.linear(embedded, by_action, self.decoder_input.bias)  # [actions + 1, joined]
        scores = self.kind_weights(kinds[:-1]) + self.first_argument_weights(first[:-1]) + self.second_argument_weights(second[:-1])
        return Prepared(weights, actions, scores, self.state_encoder.prepare() if self.state_encoder is not None else None)

    def step(self, memory: Memory, carry: Any, states: Tensor, previous: Tensor, *, return_attention: bool = False) -> Step:
        hidden, cell = carry  # [batch, hidden]
        prepared, others, mask = memory.prepared or self._prepare(), memory.others, None
        if self.config.current_state and self.state_encoder is not None:
            keys, mask = self._drop(self.state_encoder(prepared.states, states))  # [batch, objects, size]
            others = (*others, (Keys(keys, self.state_encoder.mask(states)), HEADS))
        trace = step(prepared.weights, memory.current, others, functional.embedding(previous, prepared.actions), hidden, cell, self._drop)
        attention = self._attention(memory, trace) if return_attention else {}
        return Step(self._score(prepared, trace.update.hidden), (trace.update.hidden, trace.update.cell), attention, Record(trace, mask))

    def select(self, memory: Memory, rows: Tensor) -> Memory:
        others = tuple((select_rows(keys, rows), heads) for keys, heads in memory.others)
        return replace(memory, current=select_rows(memory.current, rows), others=others, places=select_rows(memory.places, rows))

    def replay(self, memory: Memory, visits: Visits) -> Tensor:
        prepared, rows, logits = memory.prepared or self._prepare(), visits.rows, visits.logits
        traces, masks = (list(column) for column in zip(*visits.records, strict=True))
        visited = [states[which] for states, which in zip(visits.states, rows, strict=True)]
        previous = [actions[which] for actions, which in zip(visits.previous, rows, strict=True)]
        own = []
        if self.config.current_state and self.state_encoder is not None:
            encoded = self.state_encoder(prepared.states, torch.cat(visited))  # [all steps' rows, objects, size]
            own = [encoded if masks[0] is None else encoded * torch.cat(masks)]
        actions = functional.embedding(torch.cat(previous), prepared.actions)  # [all steps' rows, joined]
        shared = [keys.vectors for keys, _ in memory.others]
        hidden = decoder_hidden_states(traces, rows, prepared.weights, memory.current.vectors, shared, own, actions, memory.begin)
        places = torch.cat([number * logits.shape[1] + each for number, each in enumerate(rows)])  # [all steps' rows]
        scored: Tensor = (
            logits.flatten(0, 1).index_copy(0, places, self._score(prepared, hidden)).view_as(logits)
        )  # [steps, batch, actions]
        return scored

    def _attention(self, memory: Memory, trace: StepTrace) -> dict[str, AttentionMap]:
        found = {}
        places = dict(zip(("current", "previous"), memory.places, strict=False))
        for name, (_, weights, _) in zip(self._names(), (trace.current, *trace.others), strict=True):  # [batch, heads, keys]
            objects = torch.arange(weights.shape[2]).expand(weights.shape[0], -1)  # [batch, keys]
            found[name] = AttentionMap("words", weights, places[name]) if name in places else AttentionMap("objects", weights, objects)
        return found

    def _score(self, prepared: Prepared, hidden: Tensor) -> Tensor:
        """Of every well-formed action, the sum of the scores of its kind and its two arguments."""
        scores: Tensor = torch.tanh(self.action_scorer(hidden)) @ prepared.scores.T  # [..., actions]
        return scores

    def _drop(self, values: Tensor) -> tuple[Tensor, Tensor | None]:
        """The values with some of them dropped, and what they were multiplied by."""
        if not self.training or not self.config.dropout:
            return values, None
        keep = 1 - self.config.dropout
        mask = torch.empty_like(values).bernoulli_(keep).div_(keep)
        return values * mask, mask

    def _names(self) -> list[str]:
        """What is attended to, in order."""
        config = self.config
        flags = {"previous": config.previous_instructions, "initial": config.initial_state, "state": config.current_state}
        return ["current", *(name for name, attended in flags.items() if attended)]

    def _heads(self) -> list[tuple[int, int]]:
        """Size and number of the attention heads after the first, in order."""
        states = self.config.initial_state + self.config.current_state
        return [(2 * self.config.hidden, 1)] * self.config.previous_instructions + [(self.state_size, HEADS)] * states


def _mask(present: Tensor) -> Tensor:
    return torch.zeros(present.shape).masked_fill(~present, -torch.inf).unsqueeze(1)  # [batch, 1, keys]


def _without_previous(words: Tensor, lengths: Tensor, current: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The current instructions alone, each moved to the start of its row."""
    lengths = lengths - current
    places = current.unsqueeze(1) + torch.arange(data_size(lengths.max(), words.shape[1]))  # [batch, words]
    inside = places < (current + lengths).unsqueeze(1)
    return words.gather(1, places.clamp(max=words.shape[1] - 1)).masked_fill(~inside, PAD), lengths, torch.zeros_like(current)
