"""The object policy: the objects of the world are the tokens that read, look at each other, and act.

An object's vector begins as what it looks like now, at the start of this turn and of the turns before, and where it stands.
In every layer the objects attend to the memory (the words of all instructions so far, and what earlier turns changed), then to each
other. An object's vector then scores the edits of that object; one more token scores STOP. There is no recurrence: the state reached so far
says what has been done, so every step of every execution is a row of its own in one large batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from sestra.config import ObjectConfig
from sestra.data.batching import Turns
from sestra.data.text import BETWEEN, CURRENT, PAD
from sestra.policies import object_layer
from sestra.policies.base import Attended, Step
from sestra.policies.object_layer import RELATIONS, Layer, Looked, Part, Rows
from sestra.policies.reading import read_both_ways, read_distinct
from sestra.policies.views import view
from sestra.worlds.tables import Tables

AGES = 6
"""Turns that are told apart by how long ago they were, and by their number; earlier or later ones count as the last of these."""
FATES = ("came", "went", "changed")
"""What may become of an object in a turn."""
MOST = 5
"""Slots of a kind that are told apart by counting."""
NEVER = -1e4
"""The score of an action that no object in the state could take."""


@dataclass(frozen=True)
class Memory:
    """What stays the same through an execution."""

    looks: Tensor  # [looks, size]: how each look counts now
    context: Tensor  # [batch, slots * objects, size]: what they looked like when this turn began and the one before, and where they stand
    layers: list[object_layer.Memory]
    changes: Tensor  # [batch, changes]: the objects that changed, which are the last things in the layers' memories


class ObjectPolicy(nn.Module):
    """A small transformer decoder whose tokens are objects."""

    def __init__(self, config: ObjectConfig, tables: Tables, words: int) -> None:
        super().__init__()
        self.features: Tensor
        self.looks: Tensor
        self.scores: Tensor
        self.kinds: Tensor
        self.standing: Tensor
        self.marks: Tensor
        self.config = config
        seen = view(tables)
        self.slots, self.objects, self.edits = tables.slots, seen.objects, seen.edits
        self.register_buffer("features", seen.features, persistent=False)  # [looks, features]
        self.register_buffer("looks", seen.looks, persistent=False)  # [contents, objects]
        self.register_buffer("scores", seen.scores, persistent=False)  # [contents, edits]
        self.register_buffer("kinds", seen.kinds, persistent=False)  # [contents, sorts]
        self.register_buffer("standing", seen.standing, persistent=False)  # [contents, objects]
        self.register_buffer("marks", seen.marks, persistent=False)  # [contents, objects]
        size, features = config.size, seen.features.shape[-1]

        self.embedding = nn.Embedding(words, config.embedding, padding_idx=PAD)
        self.reader = nn.LSTM(config.embedding, size // 2, batch_first=True)
        self.back_reader = nn.LSTM(config.embedding, size // 2, batch_first=True)
        self.word_ages = nn.Embedding(AGES, size)
        self.word_norm = nn.LayerNorm(size)

        self.now, self.start = Part(features, size), Part(features, size)
        self.before = Part(features, size) if config.past == "turn-before" else None
        whole = config.past == "whole"
        self.past = Part(2 * AGES * features, size) if whole else None
        self.fates = Part(RELATIONS * 2 * AGES * len(FATES), size) if whole else None
        self.word_turns = nn.Embedding(AGES, size) if whole else None
        self.places = nn.Embedding(self.slots, size) if self.slots > 1 else None
        counted = seen.kinds.shape[1] if config.ranks and self.slots > 1 else 0
        self.ranks = Part(2 * counted * (MOST + 1), size) if counted else None
        self.join = nn.Linear(size, size)
        self.stop = nn.Parameter(torch.randn(size))

        self.changed_from, self.changed_to = Part(features, size), Part(features, size)
        self.change_places = nn.Embedding(self.slots, size) if self.slots > 1 else None
        self.change_ages, self.change_turns = nn.Embedding(AGES, size), nn.Embedding(AGES, size)
        self.change_join, self.change_norm = nn.Linear(size, size), nn.LayerNorm(size)

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

    def read(self, turns: Turns) -> Memory:
        memory, present, changes, relations = self._memory(turns)
        mask = torch.zeros(present.shape).masked_fill(~present, -torch.inf)  # [batch, memory]
        layers = [layer.remember(memory, mask, relations) for layer in self._layers]
        looked = functional.embedding(self._see(turns.initial), self.start(self.features))  # [batch, objects, size]
        if self.before is not None:
            before = turns.history[torch.arange(len(turns)), (turns.turn - 1).clamp(min=0)]  # [batch, slots]
            looked = looked + functional.embedding(self._see(before), self.before(self.features))
        if self.past is not None and self.fates is not None:
            looked = looked + self.past(self._recall(turns)) + self.fates(self._fates(turns))
        if self.places is not None:
            looked = looked + self.places.weight.repeat_interleave(self.objects, 0)
        if self.ranks is not None:
            looked = looked + self.ranks(self._count(turns.initial)).repeat_interleave(self.objects, 1)
        return Memory(self.now(self.features), looked, layers, changes)

    def _recall(self, turns: Turns) -> Tensor:
        """What the objects looked like when earlier turns began."""
        looks = self.features[self._see(turns.history)]  # [batch, turns, objects, features]
        return _by_turn(looks, turns).transpose(1, 2).flatten(2)  # [batch, objects, 2 * ages * features]

    def _fates(self, turns: Turns) -> Tensor:
        """What became, in each earlier turn, of the objects, and of the objects that stood where they stand."""
        marks = self.marks[turns.history].flatten(-2)  # [batch, turns, objects]
        before, after = marks[:, :-1], marks[:, 1:]  # [batch, turns - 1, objects]
        came, went = (before == 0) & (after > 0), (before > 0) & (after == 0)
        own = torch.stack([came, went, (before > 0) & (after > 0) & (before != after)], -1).float()  # [batch, turns - 1, objects, fates]
        stands, stood = self._stand(turns.initial), self._stand(turns.history[:, :-1])  # [batch, objects], [batch, turns - 1, objects]
        same = (stands[:, None, :, None] == stood.unsqueeze(2)) & (stands > 0)[:, None, :, None]  # [batch, turns - 1, objects, objects]
        fates = torch.cat([own, same.float() @ own], -1)  # [batch, turns - 1, objects, relations * fates]
        return _by_turn(fates, turns).transpose(1, 2).flatten(2)  # [batch, objects, 2 * ages * relations * fates]

    def _count(self, states: Tensor) -> Tensor:
        """For each sort of kind, how many slots to the left, and to the right, are of the same kind as the slot is, as ones and zeros."""
        kinds = self.kinds[states]  # [batch, slots, sorts]
        same = (kinds.unsqueeze(2) == kinds.unsqueeze(1)) & (kinds > 0).unsqueeze(2)  # [batch, slots, slots, sorts]
        left = torch.ones(self.slots, self.slots).tril(-1).unsqueeze(-1)  # [slots, slots, 1]
        counts = torch.stack([(same * left).sum(2), (same * left.transpose(0, 1)).sum(2)], -1)  # [batch, slots, sorts, 2]
        counts = (counts.long() + (kinds > 0).unsqueeze(-1)).clamp(max=MOST)  # 0 where there is no kind
        return functional.one_hot(counts, MOST + 1).flatten(2).float()  # [batch, slots, features]

    def _memory(self, turns: Turns) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """What was said and what earlier turns changed, which of it is there; the changes' objects, and their relations to the tokens."""
        words = turns.words
        number = ((words == BETWEEN) | (words == CURRENT)).cumsum(1)  # [batch, words]: of the turn in which each word was said
        number = number - (turns.turn == 0).unsqueeze(1).long()  # no BETWEEN stands before the first
        age = (turns.turn.unsqueeze(1) - number).clamp(0, AGES - 1)
        spoken = read_distinct(self._read_words, words, turns.lengths)  # [batch, words, size]
        vectors = self.word_norm(spoken) + self.word_ages(age)  # [batch, words, size]
        if self.word_turns is not None:
            vectors = vectors + self.word_turns(number.clamp(0, AGES - 1))
        present = torch.arange(words.shape[1]) < turns.lengths.unsqueeze(1)  # [batch, words]
        if not self.config.changes:
            return vectors, present, torch.empty(len(turns), 0, dtype=torch.long), None
        changes, changed, objects, relations = self._changes(turns)
        return torch.cat([vectors, changes], 1), torch.cat([present, changed], 1), objects, relations

    def _read_words(self, words: Tensor, lengths: Tensor) -> Tensor:
        embedded = functional.dropout(self.embedding(words), self.config.dropout, self.training)  # [batch, words, embedding]
        return read_both_ways(self.reader, self.back_reader, embedded, lengths)  # [batch, words, size]

    def _changes(self, turns: Turns) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """One token for every object that an earlier turn changed: what it looked like before and after, how long ago and in which turn."""
        seen = self._see(turns.history)  # [batch, turns, objects]
        before, after = seen[:, :-1], seen[:, 1:]  # [batch, turns - 1, objects]
        marks = self.marks[turns.history].flatten(-2)  # [batch, turns, objects]
        earlier = torch.arange(before.shape[1]) < turns.turn.unsqueeze(1)  # [batch, turns - 1]
        changed = ((marks[:, :-1] != marks[:, 1:]) & earlier.unsqueeze(2)).flatten(1)  # [batch, (turns - 1) * objects]
        most = int(changed.sum(1).max()) if changed.shape[1] else 0
        present, which = changed.to(torch.int8).sort(stable=True, dim=1, descending=True)
        present, which = present[:, :most].bool(), which[:, :most]  # [batch, changes]
        number, object_ = which // before.shape[2], which % before.shape[2]
        age = (turns.turn.unsqueeze(1) - 1 - number).clamp(0, AGES - 1)
        vectors = functional.embedding(before.flatten(1).gather(1, which), self.changed_from(self.features))  # [batch, changes, size]
        vectors = vectors + functional.embedding(after.flatten(1).gather(1, which), self.changed_to(self.features))
        vectors = vectors + self.change_ages(age) + self.change_turns(number.clamp(max=AGES - 1))
        if self.change_places is not None:
            vectors = vectors + self.change_places(object_ // self.objects)
        relations = self._relate(turns, number, object_) if self.config.past == "whole" else None
        return self.change_norm(self.change_join(functional.gelu(vectors))), present, object_, relations

    def _relate(self, turns: Turns, number: Tensor, changed: Tensor) -> Tensor:
        """How each token is related to each change, by the number of its turn and its object, ``[batch, changes]``; STOP is to none."""
        own = torch.arange(self.slots * self.objects).unsqueeze(1) == changed.unsqueeze(1)  # [batch, objects, changes]
        stood = self._stand(turns.history[torch.arange(len(turns)).unsqueeze(1), number])  # [batch, changes, objects]
        stood = stood.gather(2, changed.unsqueeze(2)).transpose(1, 2)  # [batch, 1, changes]
        stands = self._stand(turns.initial).unsqueeze(2)  # [batch, objects, 1]
        relations = torch.stack([own, (stands == stood) & (stands > 0)], 1).float()  # [batch, relations, objects, changes]
        return functional.pad(relations, (0, 0, 0, 1))  # [batch, relations, tokens, changes]

    def _stand(self, states: Tensor) -> Tensor:
        """Where the objects are drawn, counted through all slots from 1; 0 for those that are not there."""
        standing = self.standing[states]  # [..., slots, objects]
        before = torch.arange(self.slots).unsqueeze(1) * self.objects  # [slots, 1]
        return torch.where(standing > 0, standing + before, 0).flatten(-2)  # [..., slots * objects]

    def _see(self, states: Tensor) -> Tensor:
        """The looks of the objects, slot by slot."""
        return self.looks[states].flatten(-2)  # [..., slots * objects]

    def begin(self, memory: Memory) -> tuple[()]:
        del memory
        return ()

    @torch.no_grad()
    def step(self, memory: Memory, carry: Any, states: Tensor, previous: Tensor) -> Step:
        """Score the actions; what was looked at is told only to those who may ask, which training never does."""
        del carry, previous
        if self.training:
            return Step(self._act(memory, states), (), {})
        looked: list[Looked] = []
        logits = self._act(memory, states, looked=looked)
        return Step(logits, (), self._attention(memory, states, logits, looked))

    def finish(self, memory: Memory, states: Tensor, logits: Tensor, alive: Tensor) -> Tensor:
        """All steps of all executions at once, with their gradient."""
        if not self.training or not torch.is_grad_enabled():
            return logits
        rows = alive.T.flatten().nonzero().squeeze(1)  # [rows]: turn by turn, step by step
        visited = states.transpose(0, 1).flatten(0, 1)[rows]  # [rows, slots]
        scored = self._act(memory, visited, rows=Rows(rows, len(alive)))  # [rows, actions]
        full = logits.transpose(0, 1).flatten(0, 1).index_copy(0, rows, scored)  # [batch * steps, actions]
        result: Tensor = full.unflatten(0, (-1, len(alive))).transpose(0, 1)  # [steps, batch, actions]
        return result

    def _act(self, memory: Memory, states: Tensor, *, rows: Rows | None = None, looked: list[Looked] | None = None) -> Tensor:
        """The score of every action in each state; the states are the memory's turns one by one, or some rows of theirs."""
        context = memory.context if rows is None else memory.context[rows.turns]
        vectors = self.join(functional.gelu(functional.embedding(self._see(states), memory.looks) + context))  # [rows, tokens, size]
        vectors = torch.cat([vectors, self.stop.expand(len(states), 1, -1)], 1)  # [rows, tokens + 1, size]
        for layer, known in zip(self._layers, memory.layers, strict=True):
            vectors = layer(vectors, known, rows, looked)
        vectors = self.norm(vectors)
        edits = self.score(vectors[:, :-1]).unflatten(1, (self.slots, -1)).flatten(2)  # [rows, slots, objects * edits]
        edits = functional.pad(edits, (0, 1), value=NEVER)
        chosen = edits.gather(2, self.scores[states])  # [rows, slots, edits of the world]
        return torch.cat([chosen.flatten(1), self.score_stop(vectors[:, -1])], 1)  # [rows, actions]

    def _attention(self, memory: Memory, states: Tensor, logits: Tensor, looked: list[Looked]) -> dict[str, Tensor]:
        """What the tokens looked at, each weighted by the probability that it acts; the mean over the layers."""
        edits, stop = logits.softmax(-1).split([logits.shape[1] - 1, 1], 1)  # [batch, actions - 1], [batch, 1]
        owners = (
            self.scores[states].clamp(max=self.objects * self.edits - 1) // self.edits
        )  # [batch, slots, edits]: which object of the slot
        acts = edits.new_zeros(*states.shape, self.objects).scatter_add(2, owners, edits.unflatten(1, (self.slots, -1)))
        acts = torch.cat([acts.flatten(1), stop], 1)[:, None, None]  # [batch, 1, 1, tokens]
        asked, saw = (torch.stack(weights).mean(0) for weights in zip(*looked, strict=True))  # [batch, heads, tokens, memory | tokens]
        asked, saw = (acts @ asked).squeeze(2), (acts @ saw).squeeze(2)[..., :-1]  # [batch, heads, memory], [batch, heads, objects]
        changed = memory.changes.shape[1]
        words, changes = asked.split([asked.shape[2] - changed, changed], 2)
        which = memory.changes.unsqueeze(1).expand_as(changes)  # [batch, heads, changes]
        changes = torch.zeros_like(saw).scatter_add(2, which, changes)  # [batch, heads, objects]
        return {"words": words, "changes": self._drawn(changes, states), "objects": self._drawn(saw, states)}

    def _drawn(self, weights: Tensor, states: Tensor) -> Tensor:
        """The weights of objects in the order in which the state is drawn; those that are not in it are left out."""
        if self.objects == 1:
            return weights
        places = self.standing[states].flatten(1).unsqueeze(1).expand_as(weights)  # [batch, heads, objects]
        return weights.new_zeros(*weights.shape[:2], self.objects + 1).scatter_add(2, places, weights)[..., 1:]

    def attended(self, turns: Turns, attention: dict[str, Tensor]) -> dict[str, Attended]:
        found = {}
        for name, weights in attention.items():
            places = torch.arange(weights.shape[-1]).expand(len(turns), -1)  # [batch, keys]
            if name == "words":
                places = places.masked_fill(places >= turns.lengths.unsqueeze(1), -1)
            found[name] = Attended("words" if name == "words" else "objects", weights, places)
        return found

    def narrow(self, memory: Memory, rows: Tensor) -> Memory:
        layers = [layer.narrow(rows) for layer in memory.layers]
        return replace(memory, context=memory.context[rows], layers=layers, changes=memory.changes[rows])


def _by_turn(values: Tensor, turns: Turns) -> Tensor:
    """Of values ``[batch, turns, ...]`` those of earlier turns, by their number, then by how long ago they were; 0 where there are none."""
    now, numbers = turns.turn.unsqueeze(1), torch.arange(AGES)  # [batch, 1], [ages]
    which = torch.cat([numbers.expand(len(turns), -1), now - 1 - numbers], 1)  # [batch, 2 * ages]: turns
    there = (which >= 0) & (which < now) & (which < values.shape[1])
    found = functional.pad(values, (0, 0) * (values.dim() - 2) + (0, 1))  # one more, for none: [batch, turns + 1, ...]
    place = which.masked_fill(~there, values.shape[1])
    picked: Tensor = found[torch.arange(len(turns)).unsqueeze(1), place]  # [batch, 2 * ages, ...]
    return picked
