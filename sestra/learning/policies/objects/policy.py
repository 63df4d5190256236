"""The object policy: the objects of the world are the tokens that read, look at each other, and act.

An object's vector begins as what it looks like now, at the start of this turn and of the turn before, where it stands, and what it
was like in those earlier turns that the instruction's words point at. In every layer the objects attend to the memory (the words of
all instructions so far, and what earlier turns changed), then to each other. An object's vector then scores the edits of that object; one
more token scores STOP. There is no recurrence: the state reached so far says what has been done, so every step of every execution is a row
of its own in one large batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from sestra.data.batch import Turns
from sestra.data.vocabulary import BETWEEN, CURRENT, PAD, Vocabulary
from sestra.learning.execution import Execution
from sestra.learning.policies.base import Attended, Step
from sestra.learning.policies.objects import layer as object_layer
from sestra.learning.policies.objects.config import ObjectConfig
from sestra.learning.policies.objects.features import MOST, Sight
from sestra.learning.policies.objects.layer import Layer, Links, Looked, Part, Rows
from sestra.learning.policies.objects.turn_pointer import AGES, Recollection
from sestra.learning.policies.word_encoder import Numbers, read_both_ways, read_distinct
from sestra.worlds.tables import Tables

NEVER = -1e4
"""The score of an action that no object in the state could take."""


@dataclass(frozen=True)
class Memory:
    """What stays the same through an execution."""

    looks: Tensor | None  # [looks, size]: how each look counts now, where there are more objects than looks
    context: Tensor  # [batch, slots * objects, size]: what the objects were like when this turn began and before, and where they stand
    layers: list[object_layer.Memory]
    changes: Tensor  # [batch, changes]: the objects that changed, which are the last things in the layers' memories


class Things(NamedTuple):
    """What the objects can ask about: words, or what earlier turns changed."""

    vectors: Tensor  # [batch, things, size]
    present: Tensor  # [batch, things]
    turns: Tensor  # [batch, things]: the number of the turn in which each was said or done


class ObjectPolicy(nn.Module):
    """A small transformer decoder whose tokens are objects."""

    at_once = 192  # with more it outgrows the processor's cache

    def __init__(self, config: ObjectConfig, tables: Tables, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config = config
        self.sight = Sight(tables)
        self.slots, self.objects, self.edits = self.sight.slots, self.sight.objects, self.sight.edits
        size, features = config.size, self.sight.features.shape[-1]

        self.embedding = nn.Embedding(len(vocabulary), config.embedding, padding_idx=PAD)
        self.numbers = Numbers(vocabulary, config.embedding) if config.numbers else None
        self.reader = nn.LSTM(config.embedding, size // 2, batch_first=True)
        self.back_reader = nn.LSTM(config.embedding, size // 2, batch_first=True)
        self.word_ages = nn.Embedding(AGES, size)
        self.word_turns = nn.Embedding(AGES, size) if config.past == "pointed" else None
        self.word_norm = nn.LayerNorm(size)

        self.now, self.start = Part(features, size), Part(features, size)
        self.before = Part(features, size) if config.past != "none" else None
        self.recollection = Recollection(self.sight, size) if config.past == "pointed" else None
        self.places = nn.Embedding(self.slots, size) if self.slots > 1 else None
        counted = self.sight.counted if config.ranks and self.slots > 1 else 0
        self.ranks = Part(counted * (MOST + 1), size) if counted else None
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
        spoken, words = self._words(turns)
        changes, changed = self._changes(turns)
        vectors, present, when = (torch.cat(pair, 1) for pair in zip(words, changes, strict=True))
        sight, initial = self.sight, turns.initial
        looked = self._part(self.start, sight.see(initial))  # [batch, objects, size]
        pointed = related = None
        if self.before is not None:
            before = turns.history[torch.arange(len(turns)), (turns.turn - 1).clamp(min=0)]  # [batch, slots]
            looked = looked + self._part(self.before, sight.see(before))
        if self.recollection is not None:
            current = words.present & (words.turns == turns.turn.unsqueeze(1))  # [batch, words]
            recalled, meant = self.recollection(sight, turns, spoken, current)
            looked = looked + recalled
            pointed = functional.pad(meant, (0, 1)).gather(2, when.unsqueeze(1).expand(-1, meant.shape[1], -1))  # [batch, pointers, memory]
            related = functional.pad(sight.relate(turns.history, initial, changes.turns, changed), (0, 0, 0, 1))  # STOP is to none
        if self.places is not None:
            looked = looked + self.places.weight.repeat_interleave(self.objects, 0)
        if self.ranks is not None:
            looked = looked + self.ranks(sight.count(initial)).repeat_interleave(self.objects, 1)
        links = Links(torch.zeros(present.shape).masked_fill(~present, -torch.inf), related, pointed)
        looks = self.now(sight.features) if looked.shape[:2].numel() >= len(sight.features) else None
        return Memory(looks, looked, [layer.remember(vectors, links) for layer in self._layers], changed)

    def _words(self, turns: Turns) -> tuple[Tensor, Things]:
        """What was said in all turns so far: first as it was read, ``[batch, words, size]``, then with when it was said."""
        words = turns.words
        number = ((words == BETWEEN) | (words == CURRENT)).cumsum(1)  # [batch, words]: of the turn in which each word was said
        number = number - (turns.turn == 0).unsqueeze(1).long()  # no BETWEEN stands before the first
        age = (turns.turn.unsqueeze(1) - number).clamp(0, AGES - 1)
        spoken = self.word_norm(read_distinct(self._read_words, words, turns.lengths))  # [batch, words, size]
        present = torch.arange(words.shape[1]) < turns.lengths.unsqueeze(1)  # [batch, words]
        vectors = spoken + self.word_ages(age)  # [batch, words, size]
        if self.word_turns is not None:
            vectors = vectors + self.word_turns(number.clamp(0, AGES - 1))
        return spoken, Things(vectors, present, number)

    def _read_words(self, words: Tensor, lengths: Tensor) -> Tensor:
        embedded = self.embedding(words)  # [batch, words, embedding]
        if self.numbers is not None:
            embedded = embedded + self.numbers(words)
        embedded = functional.dropout(embedded, self.config.dropout, self.training)
        return read_both_ways(self.reader, self.back_reader, embedded, lengths)  # [batch, words, size]

    def _changes(self, turns: Turns) -> tuple[Things, Tensor]:
        """One thing for every object that an earlier turn changed, and the numbers of the objects.

        It tells what the object looked like before and after, how long ago that was and in which turn.
        """
        seen, marks = self.sight.see(turns.history), self.sight.mark(turns.history)  # [batch, turns, objects]
        before, after = seen[:, :-1], seen[:, 1:]  # [batch, turns - 1, objects]
        earlier = torch.arange(before.shape[1]) < turns.turn.unsqueeze(1)  # [batch, turns - 1]
        changed = ((marks[:, :-1] != marks[:, 1:]) & earlier.unsqueeze(2)).flatten(1)  # [batch, (turns - 1) * objects]
        most = int(changed.sum(1).max()) if self.config.changes and changed.shape[1] else 0
        present, which = changed.to(torch.int8).sort(stable=True, dim=1, descending=True)
        present, which = present[:, :most].bool(), which[:, :most]  # [batch, changes]
        number, object_ = which // before.shape[2], which % before.shape[2]
        age = (turns.turn.unsqueeze(1) - 1 - number).clamp(0, AGES - 1)
        vectors = self._part(self.changed_from, before.flatten(1).gather(1, which))  # [batch, changes, size]
        vectors = vectors + self._part(self.changed_to, after.flatten(1).gather(1, which))
        vectors = vectors + self.change_ages(age) + self.change_turns(number.clamp(max=AGES - 1))
        if self.change_places is not None:
            vectors = vectors + self.change_places(object_ // self.objects)
        return Things(self.change_norm(self.change_join(functional.gelu(vectors))), present, number), object_

    def _part(self, part: Part, looks: Tensor) -> Tensor:
        """That part of the vectors of objects with these looks; computed once a look, unless there are fewer objects than looks."""
        features = self.sight.features
        found: Tensor = part(features[looks]) if looks.numel() < len(features) else functional.embedding(looks, part(features))
        return found  # [..., size]

    def begin(self, memory: Memory) -> tuple[()]:
        del memory
        return ()

    @torch.no_grad()
    def step(self, memory: Memory, carry: Any, states: Tensor, previous: Tensor, *, tell: bool = False) -> Step:
        del carry, previous
        looked: list[Looked] | None = [] if tell else None
        logits = self._act(memory, states, looked=looked)
        return Step(logits, (), _mean_over_layers(looked) if looked else {})

    def finish(self, memory: Memory, states: Tensor, logits: Tensor, alive: Tensor) -> Tensor:
        """All steps of all executions at once, with their gradient."""
        return self.score_all(memory, states, logits, alive) if torch.is_grad_enabled() else logits

    def score_all(self, memory: Memory, states: Tensor, logits: Tensor, alive: Tensor) -> Tensor:
        """The logits, ``[steps, batch, actions]``, with those of all living steps computed anew, at once: no step depends on another."""
        rows = alive.T.flatten().nonzero().squeeze(1)  # [rows]: turn by turn, step by step
        visited = states.transpose(0, 1).flatten(0, 1)[rows]  # [rows, slots]
        scored = self._act(memory, visited, rows=Rows(rows, len(alive), gaps=len(rows) < alive.numel()))  # [rows, actions]
        full = logits.transpose(0, 1).flatten(0, 1).index_copy(0, rows, scored)  # [batch * steps, actions]
        result: Tensor = full.unflatten(0, (-1, len(alive))).transpose(0, 1)  # [steps, batch, actions]
        return result

    def _act(self, memory: Memory, states: Tensor, *, rows: Rows | None = None, looked: list[Looked] | None = None) -> Tensor:
        """The score of every action in each state; the states are the memory's turns one by one, or some rows of theirs."""
        context = memory.context if rows is None else memory.context.index_select(0, rows.turns)
        looks = self.sight.see(states)  # [rows, tokens]
        now = self._part(self.now, looks) if memory.looks is None else functional.embedding(looks, memory.looks)
        vectors = self.join(functional.gelu(now + context))  # [rows, tokens, size]
        vectors = torch.cat([vectors, self.stop.expand(len(states), 1, -1)], 1)  # [rows, tokens + 1, size]
        for layer, known in zip(self._layers, memory.layers, strict=True):
            vectors = layer(vectors, known, rows, looked)
        vectors = self.norm(vectors)
        edits = self.score(vectors[:, :-1]).unflatten(1, (self.slots, -1)).flatten(2)  # [rows, slots, objects * edits]
        edits = functional.pad(edits, (0, 1), value=NEVER)
        chosen = edits.gather(2, self.sight.scores[states])  # [rows, slots, edits of the world]
        return torch.cat([chosen.flatten(1), self.score_stop(vectors[:, -1])], 1)  # [rows, actions]

    def attended(self, turns: Turns, execution: Execution) -> dict[str, Attended]:
        """What the tokens looked at, each weighted by the probability that it acts."""
        states, memory = execution.states, execution.memory
        edits, stop = execution.log_probs.exp().split([execution.log_probs.shape[-1] - 1, 1], -1)  # [steps, batch, actions - 1], [.., 1]
        owners = (
            self.sight.scores[states].clamp(max=self.objects * self.edits - 1) // self.edits
        )  # [steps, batch, slots, edits]: which object of the slot
        acts = edits.new_zeros(*states.shape, self.objects).scatter_add(3, owners, edits.unflatten(2, (self.slots, -1)))
        acts = torch.cat([acts.flatten(2), stop], 2)[:, :, None, None]  # [steps, batch, 1, 1, tokens]
        asked, saw = (acts @ torch.stack([step[name] for step in execution.attention]) for name in ("asked", "saw"))
        asked, saw = asked.squeeze(3), saw.squeeze(3)[..., :-1]  # [steps, batch, heads, memory], [steps, batch, heads, objects]
        changed = memory.changes.shape[1]
        words, changes = asked.split([asked.shape[3] - changed, changed], 3)
        which = memory.changes.unsqueeze(1).expand_as(changes)  # [steps, batch, heads, changes]
        changes = torch.zeros_like(saw).scatter_add(3, which, changes)  # [steps, batch, heads, objects]
        places = torch.arange(words.shape[3]).expand(len(turns), -1)  # [batch, words]
        drawn = torch.arange(self.slots * self.objects).expand(len(turns), -1)  # [batch, objects]
        return {
            "words": Attended("words", words, places.masked_fill(places >= turns.lengths.unsqueeze(1), -1)),
            "changes": Attended("objects", self.sight.drawn(changes, states), drawn),
            "objects": Attended("objects", self.sight.drawn(saw, states), drawn),
        }

    def narrow(self, memory: Memory, rows: Tensor) -> Memory:
        layers = [layer.narrow(rows) for layer in memory.layers]
        return replace(memory, context=memory.context.index_select(0, rows), layers=layers, changes=memory.changes[rows])


def _mean_over_layers(looked: list[Looked]) -> dict[str, Tensor]:
    """How the tokens looked at the memory, ``[batch, heads, tokens, memory]``, and at each other, ``[batch, heads, tokens, tokens]``."""
    asked, saw = (sum(weights[1:], weights[0]) / len(looked) for weights in zip(*looked, strict=True))
    return {"asked": asked, "saw": saw}
