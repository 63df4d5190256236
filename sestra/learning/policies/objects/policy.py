"""The object policy: a transformer decoder whose tokens are the objects of the world.

An object's vector begins as the sum of its features now, at the start of this turn and of the turn before, where it stands, and its
features in those earlier turns that the instruction's words point at. In every layer the objects attend to the memory (the words of
all instructions so far, and what earlier turns changed), then to each other. An object's vector then scores the edits of that object; one
more token scores STOP. There is no recurrence: the state reached so far says what has been done, so every step of every execution is a row
of its own in one large batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from sestra.data.vocabulary import BETWEEN, CURRENT, PAD, Vocabulary
from sestra.learning.policies.base import (
    AttentionMap,
    Encoded,
    IndependentSteps,
    Inputs,
    Policy,
    SelectsMemory,
    Step,
    data_size,
    exporting,
)
from sestra.learning.policies.objects import layer as object_layer
from sestra.learning.policies.objects.features import MAX_RANK, StateFeatures
from sestra.learning.policies.objects.layer import AttentionBias, AttentionWeights, Layer, Projection, Rows
from sestra.learning.policies.objects.turn_pointer import AGES, HistoryFeatures
from sestra.learning.policies.word_encoder import NumberEmbedding, bidirectional_lstm
from sestra.worlds.tables import Tables

if TYPE_CHECKING:
    from sestra.learning.policies.objects.config import ObjectConfig

NEVER = -1e4
"""The score of an action that no object in the state could take."""


@dataclass(frozen=True)
class Memory:
    """What stays the same through an execution."""

    table: Tensor | None  # [feature ids, size]: the projected features of each id, where there are more objects than ids
    context: Tensor  # [batch, slots * objects, size]: the objects when this turn began and before, and where they stand
    layers: tuple[object_layer.Memory, ...]
    words: Tensor  # [batch, words]: the places of the words, which are the first entries of the layers' memories; -1 for padding
    changes: Tensor  # [batch, changes]: the objects that changed, which are the others


class Entries(NamedTuple):
    """Entries of the memory: words, or what earlier turns changed."""

    vectors: Tensor  # [batch, entries, size]
    present: Tensor  # [batch, entries]
    turns: Tensor  # [batch, entries]: the number of the turn that each is from


class ObjectPolicy(Policy, SelectsMemory, IndependentSteps):
    """Cross-attention to words and earlier changes, self-attention among objects; every object scores its own edits."""

    evaluation_batch_size = 192  # with more it outgrows the processor's cache
    cpu_only = True

    def __init__(self, config: ObjectConfig, tables: Tables, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config = config
        self.features = StateFeatures(tables)
        self.slots, self.objects, self.edits = self.features.slots, self.features.objects, self.features.edits
        size, features = config.size, self.features.features.shape[-1]

        self.embedding = nn.Embedding(len(vocabulary), config.embedding, padding_idx=PAD)
        self.numbers = NumberEmbedding(vocabulary, config.embedding) if config.numbers else None
        self.forward_lstm = nn.LSTM(config.embedding, size // 2, batch_first=True)
        self.backward_lstm = nn.LSTM(config.embedding, size // 2, batch_first=True)
        self.word_ages = nn.Embedding(AGES, size)
        self.word_turns = nn.Embedding(AGES, size) if config.past == "pointed" else None
        self.word_norm = nn.LayerNorm(size)

        self.current_features, self.initial_features = Projection(features, size), Projection(features, size)
        self.previous_features = Projection(features, size) if config.past != "none" else None
        self.history = HistoryFeatures(self.features, size) if config.past == "pointed" else None
        self.slot_embedding = nn.Embedding(self.slots, size) if self.slots > 1 else None
        ranks = self.features.rank_count if config.ranks and self.slots > 1 else 0
        self.rank_features = Projection(ranks * (MAX_RANK + 1), size) if ranks else None
        self.object_projection = nn.Linear(size, size)
        self.stop_token = nn.Parameter(torch.randn(size))

        self.change_before, self.change_after = Projection(features, size), Projection(features, size)
        self.change_slots = nn.Embedding(self.slots, size) if self.slots > 1 else None
        self.change_ages, self.change_turns = nn.Embedding(AGES, size), nn.Embedding(AGES, size)
        self.change_projection, self.change_norm = nn.Linear(size, size), nn.LayerNorm(size)

        tokens = self.slots * self.objects + 1
        self.layers = nn.ModuleList(Layer(config, tokens if self.slots > 1 else None) for _ in range(config.layers))
        if self.word_turns is not None:
            nn.init.zeros_(self.word_turns.weight)
        self.norm = nn.LayerNorm(size)
        self.score = nn.Linear(size, self.edits)
        self.score_stop = nn.Linear(size, 1)

    @property
    def _layers(self) -> list[Layer]:
        return cast("list[Layer]", list(self.layers))

    def encode(self, inputs: Inputs) -> Encoded:
        encoded, words = self._words(inputs)
        changes, changed = self._changes(inputs)
        vectors, present, when = (torch.cat(pair, 1) for pair in zip(words, changes, strict=True))
        features, initial = self.features, inputs.initial
        context = self._project(self.initial_features, features.ids(initial))  # [batch, objects, size]
        pointers = relations = None
        if self.previous_features is not None:
            before = inputs.starts((inputs.turn - 1).clamp(min=0))  # [batch, slots]
            context = context + self._project(self.previous_features, features.ids(before))
        if self.history is not None:
            current = words.present & (words.turns == inputs.turn.unsqueeze(1))  # [batch, words]
            part, pointed = self.history(features, inputs, encoded, current)  # [batch, objects, size], [batch, pointers, turns - 1]
            context = context + part
            when = when.unsqueeze(1).expand(-1, pointed.shape[1], -1)  # [batch, pointers, memory]
            pointers = functional.pad(pointed, (0, 1)).gather(2, when)  # [batch, pointers, memory]
            relations = features.relations(inputs.history, initial, changes.turns, changed)  # [batch, relations, objects, changes]
            relations = functional.pad(relations, (0, 0, 0, 1))  # STOP is related to none
        if self.slot_embedding is not None:
            context = context + self.slot_embedding.weight.repeat_interleave(self.objects, 0)
        if self.rank_features is not None:
            context = context + self.rank_features(features.ranks(initial)).repeat_interleave(self.objects, 1)
        mask = torch.where(present, 0.0, -torch.inf).unsqueeze(1)  # [batch, 1, memory]
        if exporting() and relations is None:
            mask = mask.expand(-1, context.shape[1] + 1, -1)  # [batch, tokens, memory]
        bias = AttentionBias(mask, relations, pointers)
        table = None if exporting() or context.shape[:2].numel() < len(features.features) else self.current_features(features.features)
        layers = tuple(layer.project_memory(vectors, bias) for layer in self._layers)
        places = torch.arange(words.present.shape[1]).masked_fill(~words.present, -1)  # [batch, words]
        return Encoded(Memory(table, context, layers, places, changed))

    def _words(self, inputs: Inputs) -> tuple[Tensor, Entries]:
        """The words of all turns so far: as they were encoded, ``[batch, words, size]``, and as entries of the memory."""
        words = inputs.words
        number = ((words == BETWEEN) | (words == CURRENT)).cumsum(1)  # [batch, words]: of the turn in which each word was said
        number = number - (inputs.turn == 0).unsqueeze(1).long()  # no BETWEEN stands before the first
        age = (inputs.turn.unsqueeze(1) - number).clamp(0, AGES - 1)
        encoded = self.word_norm(self._encode_words(words, inputs.lengths))  # [batch, words, size]
        present = torch.arange(words.shape[1]) < inputs.lengths.unsqueeze(1)  # [batch, words]
        vectors = encoded + self.word_ages(age)  # [batch, words, size]
        if self.word_turns is not None:
            vectors = vectors + self.word_turns(number.clamp(0, AGES - 1))
        return encoded, Entries(vectors, present, number)

    def _encode_words(self, words: Tensor, lengths: Tensor) -> Tensor:
        if self.numbers is not None and exporting():  # one table, which is computed when the graph is loaded
            table = self.embedding.weight + self.numbers(torch.arange(self.embedding.num_embeddings))  # [vocabulary, embedding]
            embedded = functional.embedding(words, table)  # [batch, words, embedding]
        else:
            embedded = self.embedding(words)  # [batch, words, embedding]
            if self.numbers is not None:
                embedded = embedded + self.numbers(words)
        embedded = functional.dropout(embedded, self.config.dropout, self.training)
        return bidirectional_lstm(self.forward_lstm, self.backward_lstm, embedded, lengths)  # [batch, words, size]

    def _changes(self, inputs: Inputs) -> tuple[Entries, Tensor]:
        """One entry for every object that an earlier turn changed, and the numbers of the objects.

        It has the object's features before and after, how long ago that was and in which turn.
        """
        ids, identities = self.features.ids(inputs.history), self.features.identities(inputs.history)  # [batch, turns, objects]
        before, after = ids[:, :-1], ids[:, 1:]  # [batch, turns - 1, objects]
        earlier = torch.arange(before.shape[1]) < inputs.turn.unsqueeze(1)  # [batch, turns - 1]
        changed = ((identities[:, :-1] != identities[:, 1:]) & earlier.unsqueeze(2)).flatten(1)  # [batch, (turns - 1) * objects]
        count = changed.shape[1]
        most = data_size(changed.sum(1).max().clamp(min=1), count) if self.config.changes and count else 0
        rank = torch.where(changed, 2 * count, count) - torch.arange(count)  # [batch, (turns - 1) * objects]: changed ones first, in order
        present, which = rank.topk(most)  # [batch, changes]
        present = present > count
        number, object_ = which // before.shape[2], which % before.shape[2]
        age = (inputs.turn.unsqueeze(1) - 1 - number).clamp(0, AGES - 1)
        vectors = self._project(self.change_before, before.flatten(1).gather(1, which))  # [batch, changes, size]
        vectors = vectors + self._project(self.change_after, after.flatten(1).gather(1, which))
        vectors = vectors + self.change_ages(age) + self.change_turns(number.clamp(max=AGES - 1))
        if self.change_slots is not None:
            vectors = vectors + self.change_slots(object_ // self.objects)
        return Entries(self.change_norm(self.change_projection(functional.gelu(vectors))), present, number), object_

    def _project(self, projection: Projection, ids: Tensor) -> Tensor:
        """The projected features of objects; computed once per feature id, unless there are fewer objects than ids."""
        features = self.features.features
        if not exporting() and ids.numel() < len(features):
            return cast("Tensor", projection(features[ids]))
        found: Tensor = functional.embedding(ids, projection(features))
        return found  # [..., size]

    def step(self, memory: Memory, carry: Any, states: Tensor, previous: Tensor, *, return_attention: bool = False) -> Step:
        del carry, previous
        if exporting():
            logits, weights = self._score_flat(memory, states)
            return Step(logits, attention=self._attention(memory, states, logits, weights))
        attention: list[AttentionWeights] | None = [] if return_attention else None
        logits = self._score(memory, states, attention=attention)
        return Step(logits, attention=self._attention(memory, states, logits, attention) if attention else {})

    def score_steps(self, memory: Memory, states: Tensor, logits: Tensor, alive: Tensor) -> Tensor:
        rows = alive.T.flatten().nonzero().squeeze(1)  # [rows]: turn by turn, step by step
        visited = states.transpose(0, 1).flatten(0, 1)[rows]  # [rows, slots]
        scored = self._score(memory, visited, rows=Rows(rows, len(alive), gaps=len(rows) < alive.numel()))  # [rows, actions]
        full = logits.transpose(0, 1).flatten(0, 1).index_copy(0, rows, scored)  # [batch * steps, actions]
        result: Tensor = full.unflatten(0, (-1, len(alive))).transpose(0, 1)  # [steps, batch, actions]
        return result

    def _score(
        self, memory: Memory, states: Tensor, *, rows: Rows | None = None, attention: list[AttentionWeights] | None = None
    ) -> Tensor:
        """The score of every action in each state; the states are the memory's turns one by one, or some rows of theirs."""
        context = memory.context if rows is None else memory.context.index_select(0, rows.turns)
        ids = self.features.ids(states)  # [rows, tokens]
        now = self._project(self.current_features, ids) if memory.table is None else functional.embedding(ids, memory.table)
        vectors = self.object_projection(functional.gelu(now + context))  # [rows, tokens, size]
        vectors = torch.cat([vectors, self.stop_token.expand(states.shape[0], 1, -1)], 1)  # [rows, tokens + 1, size]
        for layer, known in zip(self._layers, memory.layers, strict=True):
            vectors = layer(vectors, known, rows, attention)
        vectors = self.norm(vectors)
        edits = self.score(vectors[:, :-1]).unflatten(1, (self.slots, -1)).flatten(2)  # [rows, slots, objects * edits]
        edits = functional.pad(edits, (0, 1), value=NEVER)
        chosen = edits.gather(2, self.features.score_ids[states])  # [rows, slots, edits of the world]
        return torch.cat([chosen.flatten(1), self.score_stop(vectors[:, -1])], 1)  # [rows, actions]

    def _score_flat(self, memory: Memory, states: Tensor) -> tuple[Tensor, list[AttentionWeights]]:
        """``_score`` in an exported graph, with as few operators as possible, and the attention of all layers."""
        count, attention = self.slots * self.objects, list[AttentionWeights]()
        now = functional.embedding(self.features.ids(states), self.current_features(self.features.features))  # [batch, objects, size]
        vectors = self.object_projection(functional.gelu(now + memory.context).flatten(0, 1)).unflatten(0, (-1, count))
        stop = functional.pad(self.stop_token.unsqueeze(0), (0, 0, count, 0))  # [tokens, size]: 0 for all others
        vectors = (functional.pad(vectors, (0, 0, 0, 1)) + stop).flatten(0, 1)  # [batch * tokens, size]
        for layer, known in zip(self._layers, memory.layers, strict=True):
            vectors = layer.forward_flat(vectors, count + 1, known, attention)
        weight, bias = (torch.cat([getattr(each, part) for each in (self.score, self.score_stop)]) for part in ("weight", "bias"))
        scores = functional.linear(self.norm(vectors), weight, bias).view(states.shape[0], -1)  # [batch, tokens * (edits + 1)]
        return self.features.choose_scores(functional.pad(scores, (0, 1), value=NEVER), states), attention

    def _attention(self, memory: Memory, states: Tensor, logits: Tensor, layers: list[AttentionWeights]) -> dict[str, AttentionMap]:
        """The attention of all tokens, its mean over layers, each token weighted by the probability that it acts."""
        cross, own = (sum(weights[1:], weights[0]) for weights in zip(*layers, strict=True))  # [batch, heads, tokens, ..]
        acts = self.features.by_token(logits.softmax(-1) / len(layers), states)[:, None, None]  # [batch, 1, 1, tokens]
        attended, among = (acts @ cross).squeeze(2), (acts @ own).squeeze(2)[..., :-1]  # [batch, heads, memory], [batch, heads, objects]
        words, changes = attended, torch.zeros_like(among)  # [batch, heads, memory], [batch, heads, objects]
        if self.config.changes:
            words, others = attended.tensor_split([memory.words.shape[1]], 2)
            changes = changes.scatter_add(2, memory.changes.unsqueeze(1).expand_as(others), others)  # [batch, heads, objects]
        drawn = torch.arange(self.slots * self.objects).expand(states.shape[0], -1)  # [batch, objects]
        return {
            "words": AttentionMap("words", words, memory.words),
            "changes": AttentionMap("objects", self.features.by_position(changes, states), drawn),
            "objects": AttentionMap("objects", self.features.by_position(among, states), drawn),
        }

    def select(self, memory: Memory, rows: Tensor) -> Memory:
        layers = tuple(layer.select(rows) for layer in memory.layers)
        return Memory(memory.table, memory.context.index_select(0, rows), layers, memory.words[rows], memory.changes[rows])
