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

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from sestra.config import AttentionConfig
from sestra.data.batching import Turns
from sestra.data.text import PAD
from sestra.policies.base import Step
from sestra.policies.states import state_encoder
from sestra.policies.stepwise import StepwiseEncoder, StepwiseLinear, lstm_cell
from sestra.worlds.tables import Tables

HEADS = 2
"""Attention heads over a state."""
NULL = "null"
BEGIN = "begin"


class Keys(NamedTuple):
    """A set of vectors to attend to, and what to add to their scores: 0, or minus infinity where there is none."""

    vectors: Tensor  # [batch, keys, size]
    mask: Tensor | None  # [batch, 1, keys]


class Memory(NamedTuple):
    """What stays the same through an execution."""

    current: Keys
    previous: Keys | None
    initial: Keys | None
    encode: StepwiseEncoder | None  # of states
    embedded_actions: Tensor  # [actions + 1, 3 * embedding]
    action_weights: Tensor  # [actions, hidden]
    query: StepwiseLinear
    second_query: StepwiseLinear
    joined: StepwiseLinear
    decoder: StepwiseLinear
    scorer: StepwiseLinear


class AttentionPolicy(nn.Module):
    """The paper's model; its four ablations are the three flags of the configuration."""

    def __init__(self, config: AttentionConfig, tables: Tables, words: int) -> None:
        super().__init__()
        self.action_parts: Tensor
        self.config = config
        self.embedding = nn.Embedding(words, config.embedding, padding_idx=PAD)
        self.reader = nn.LSTM(config.embedding, config.hidden, batch_first=True)
        self.back_reader = nn.LSTM(config.embedding, config.hidden, batch_first=True)
        self.state_encoder = state_encoder(tables) if config.initial_state or config.current_state else None
        self.state_size = self.state_encoder.size if self.state_encoder else 0
        self._name_actions(tables)

        word = 2 * config.hidden
        contexts = sum(size * heads for size, heads in self._heads())
        joined = word + contexts + 3 * config.embedding
        self.query = nn.Linear(config.hidden, word, bias=False)  # W_c
        self.second_query = nn.Linear(config.hidden + word, contexts, bias=False)  # W_p, both W_sb, both W_sc
        self.joined = nn.Linear(joined, joined)  # W_d, b_d
        self.decoder = nn.Linear(joined + config.hidden, 4 * config.hidden)
        self.scorer = nn.Linear(config.hidden, config.hidden, bias=False)  # W_a
        self.dropout = nn.Dropout(config.dropout)
        self._initialise()

    def _name_actions(self, tables: Tables) -> None:
        """Number the kinds and arguments of all actions, and of BEG, which stands before the first one and is never scored."""
        parts = [[action.kind, *action.arguments, NULL, NULL][:3] for action in tables.world.actions]
        columns = list(zip(*parts, (BEGIN, NULL, NULL), strict=True))
        kinds, first, second = names = [list(dict.fromkeys(column)) for column in columns]
        numbers = [[known.index(name) for name in column] for known, column in zip(names, columns, strict=True)]
        self.register_buffer("action_parts", torch.tensor(numbers), persistent=False)  # [3, actions + 1]
        self.kinds = nn.Embedding(len(kinds), self.config.embedding)
        self.first_arguments = nn.Embedding(len(first), self.config.embedding)
        self.second_arguments = nn.Embedding(len(second), self.config.embedding)
        self.kind_weights = nn.Embedding(len(kinds) - 1, self.config.hidden)  # b_aT
        self.first_argument_weights = nn.Embedding(len(first), self.config.hidden)  # b_a1
        self.second_argument_weights = nn.Embedding(len(second), self.config.hidden)  # b_a2

    @torch.no_grad()
    def _initialise(self) -> None:
        """Glorot's uniform distribution; an embedding is a matrix of one row. Biases are zero, but one for forget gates."""
        for module in self.modules():
            if isinstance(module, nn.Embedding):
                nn.init.uniform_(module.weight, -((6 / (1 + module.embedding_dim)) ** 0.5), (6 / (1 + module.embedding_dim)) ** 0.5)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 1:
                parameter.zero_()
            elif parameter.dim() == 3:
                for direction in parameter:
                    nn.init.xavier_uniform_(direction)
            elif not isinstance(self.get_submodule(name.rpartition(".")[0]), nn.Embedding):
                nn.init.xavier_uniform_(parameter)
        for block in self.second_query.weight.split([size for size, heads in self._heads() for _ in range(heads)]):
            nn.init.xavier_uniform_(block)
        self.embedding.weight[PAD] = 0
        for bias in (self.decoder.bias, self.reader.get_parameter("bias_ih_l0"), self.back_reader.get_parameter("bias_ih_l0")):
            bias[self.config.hidden : 2 * self.config.hidden] = 1

    def read(self, turns: Turns) -> Memory:
        words, lengths, current = turns.words, turns.lengths, turns.current
        if not self.config.previous_instructions:
            words, lengths, current = _without_previous(words, lengths, current)
        vectors = self._read_words(words, lengths)  # [batch, words, 2 * hidden]
        places = torch.arange(words.shape[1])  # [words]
        before, after = current.unsqueeze(1), lengths.unsqueeze(1)  # [batch, 1]
        first, last = int(current.min()), int(current.max())
        present = Keys(vectors[:, first:], _mask((places >= before) & (places < after))[..., first:])
        past = Keys(self.dropout(vectors[:, :last]), _mask(places < before)[..., :last]) if self.config.previous_instructions else None
        encode = StepwiseEncoder(self.state_encoder, self.state_encoder.prepare()) if self.state_encoder else None
        kinds, first_arguments, second_arguments = self.action_parts  # [actions + 1] each
        return Memory(
            current=present,
            previous=past,
            initial=self._look(encode, turns.initial) if self.config.initial_state else None,
            encode=encode,
            embedded_actions=torch.cat(
                [self.kinds(kinds), self.first_arguments(first_arguments), self.second_arguments(second_arguments)], -1
            ),  # [actions + 1, 3 * embedding]
            action_weights=self.kind_weights(kinds[:-1])
            + self.first_argument_weights(first_arguments[:-1])
            + self.second_argument_weights(second_arguments[:-1]),  # [actions, hidden]
            query=StepwiseLinear(self.query.weight),
            second_query=StepwiseLinear(self.second_query.weight),
            joined=StepwiseLinear(self.joined.weight, self.joined.bias),
            decoder=StepwiseLinear(self.decoder.weight, self.decoder.bias),
            scorer=StepwiseLinear(self.scorer.weight),
        )

    def begin(self, memory: Memory) -> tuple[Tensor, Tensor]:
        """The decoder after one update with zeros as its input, hidden state and cell."""
        zeros = memory.current.vectors.new_zeros(len(memory.current.vectors), self.config.hidden)  # [batch, hidden]
        gates = self.decoder.bias.expand(len(zeros), -1)  # [batch, 4 * hidden]: zeros in, so the bias alone
        return lstm_cell(gates, zeros)

    def step(self, memory: Memory, carry: tuple[Tensor, Tensor], states: Tensor, previous: Tensor) -> Step:
        hidden, cell = carry  # [batch, hidden]
        query = self.dropout(memory.query(hidden)).unsqueeze(1)  # [batch, 1, 2 * hidden]
        now, attention = attend(memory.current, query)
        contexts, weights = [now], {"current": attention}
        queries = self.dropout(memory.second_query(torch.cat([hidden, now], -1)))  # [batch, all sizes]
        sets = {
            "previous": memory.previous,
            "initial": memory.initial,
            "state": self._look(memory.encode, states) if self.config.current_state else None,
        }
        parts = iter(queries.split([size * heads for size, heads in self._heads()], -1))
        for name, keys in sets.items():
            if keys is not None:
                context, weights[name] = attend(keys, next(parts).unflatten(-1, (-1, keys.vectors.shape[-1])))
                contexts.append(context)
        joined = torch.cat([*contexts, functional.embedding(previous, memory.embedded_actions)], -1)  # [batch, joined]
        joined = self.dropout(torch.tanh(memory.joined(joined)))  # [batch, joined]
        hidden, cell = lstm_cell(memory.decoder(torch.cat([joined, hidden], -1)), cell)
        logits = torch.tanh(memory.scorer(hidden)) @ memory.action_weights.T  # [batch, actions]
        return Step(logits, (hidden, cell), weights)

    def _heads(self) -> list[tuple[int, int]]:
        """Size and number of the attention heads after the first, in order."""
        states = self.config.initial_state + self.config.current_state
        return [(2 * self.config.hidden, 1)] * self.config.previous_instructions + [(self.state_size, HEADS)] * states

    def _look(self, encode: StepwiseEncoder | None, states: Tensor) -> Keys:
        assert encode is not None
        return Keys(self.dropout(encode(states)), encode.encoder.mask(states))

    def _read_words(self, words: Tensor, lengths: Tensor) -> Tensor:
        """The bidirectional LSTM, as two LSTMs over rows padded at the end; the second reads each row from its last word."""
        embedded = self.embedding(words)  # [batch, words, embedding]
        backwards = (lengths.unsqueeze(1) - 1 - torch.arange(words.shape[1])).clamp(min=0)  # [batch, words]
        forward, _ = self.reader(embedded)  # [batch, words, hidden]
        backward, _ = self.back_reader(_pick(embedded, backwards))  # [batch, words, hidden]
        return torch.cat([forward, _pick(backward, backwards)], -1)  # [batch, words, 2 * hidden]


def attend(keys: Keys, queries: Tensor) -> tuple[Tensor, Tensor]:
    """The contexts of all heads, one after the other, and the attention weights; queries are already multiplied by W."""
    vectors = keys.vectors.transpose(1, 2)  # [batch, size, keys]
    scores = torch.bmm(queries, vectors) if keys.mask is None else torch.baddbmm(keys.mask, queries, vectors)  # [batch, heads, keys]
    weights = scores.softmax(-1)  # [batch, heads, keys]
    return torch.bmm(weights, keys.vectors).flatten(1), weights  # [batch, heads * size]


def _mask(present: Tensor) -> Tensor:
    return torch.zeros(present.shape).masked_fill(~present, -torch.inf).unsqueeze(1)  # [batch, 1, keys]


def _pick(vectors: Tensor, places: Tensor) -> Tensor:
    return vectors.gather(1, places.unsqueeze(-1).expand(-1, -1, vectors.shape[-1]))  # [batch, words, size]


def _without_previous(words: Tensor, lengths: Tensor, current: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The current instructions alone, each moved to the start of its row."""
    lengths = lengths - current
    places = current.unsqueeze(1) + torch.arange(int(lengths.max()))  # [batch, words]
    inside = places < (current + lengths).unsqueeze(1)
    return words.gather(1, places.clamp(max=words.shape[1] - 1)).masked_fill(~inside, PAD), lengths, torch.zeros_like(current)
