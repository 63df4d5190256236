"""The object policy: every step a row of its own, objects that act, and what they looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
import torch
from lamps import Lamps

from sestra.data.augment import SymbolRenamings
from sestra.data.batch import Turns, encode_turns
from sestra.data.scone import Interaction
from sestra.data.synthetic import generate
from sestra.data.vocabulary import SPECIAL, Vocabulary
from sestra.learning.decoding import forced, greedy, sampled
from sestra.learning.policies.base import AttentionMap, Inputs
from sestra.learning.policies.objects.config import ObjectConfig, Past
from sestra.learning.policies.objects.features import StateFeatures
from sestra.learning.policies.objects.policy import NEVER, ObjectPolicy
from sestra.learning.policies.objects.turn_pointer import AGES, TurnPointer
from sestra.learning.policies.word_encoder import NumberEmbedding
from sestra.learning.rollout import roll_out
from sestra.worlds import WORLDS, get_world
from sestra.worlds.features import object_features
from sestra.worlds.tables import Tables, compile_world

SMALL = ObjectConfig(embedding=6, size=16, layers=2, heads=2, dropout=0.0, past="pointed", numbers=True)


def make(name: str, config: ObjectConfig = SMALL, interactions: int = 4) -> tuple[ObjectPolicy, Tables, Turns]:
    torch.manual_seed(0)
    tables = compile_world(get_world(name))
    examples = generate(name, interactions, seed=1)
    vocabulary = Vocabulary.of((text for example in examples for text in example.instructions), 1)
    return ObjectPolicy(config, tables, vocabulary).eval(), tables, encode_turns(examples, vocabulary, tables)


def first_scores(policy: ObjectPolicy, tables: Tables, turns: Turns, states: torch.Tensor | None = None) -> torch.Tensor:
    """The logits of the first step."""
    inputs = Inputs.of(turns)
    memory, carry = policy.encode(inputs)
    return policy.step(memory, carry, inputs.initial if states is None else states, torch.full((len(turns),), tables.actions)).logits


@pytest.mark.parametrize("past", get_args(Past))
@pytest.mark.parametrize("name", WORLDS.names())
def test_all_steps_at_once_score_as_step_by_step(name: str, past: Past):
    """In training the logits are computed anew for all living steps together; without dropout they are the same ones."""
    policy, tables, turns = make(name, replace(SMALL, past=past))
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        stepwise = roll_out(policy, tables, turns, 5, sampled(generator))
    together = roll_out(policy.train(), tables, turns, 5, forced(stepwise.actions.T))
    assert torch.equal(together.alive, stepwise.alive)
    assert together.log_probs.requires_grad
    assert torch.allclose(together.log_probs[together.alive], stepwise.log_probs[together.alive], atol=1e-5)


@pytest.mark.parametrize("past", get_args(Past))
@pytest.mark.parametrize("name", WORLDS.names())
def test_every_parameter_learns(name: str, past: Past):
    policy, tables, turns = make(name, replace(SMALL, past=past))
    execution = roll_out(policy.train(), tables, turns, 4, sampled(torch.Generator().manual_seed(3)))
    (execution.log_probs * torch.rand_like(execution.log_probs))[execution.alive].sum().backward()
    assert [name for name, parameter in policy.named_parameters() if parameter.grad is None or not parameter.grad.any()] == []


@pytest.mark.parametrize("name", WORLDS.names())
def test_a_turn_is_scored_alike_alone_and_among_others(name: str):
    policy, tables, turns = make(name)
    with torch.no_grad():
        together = roll_out(policy, tables, turns, 4, greedy)
        for row in range(0, len(turns), 7):
            alone = roll_out(policy, tables, turns.select(np.array([row])), 4, greedy)
            steps = len(alone.actions)
            assert torch.allclose(alone.log_probs[:, 0], together.log_probs[:steps, row], atol=1e-5)


def test_selecting_leaves_the_others_as_they_are():
    policy, tables, turns = make("scene")
    rows = torch.tensor([4, 1, 7])
    previous = torch.full((len(turns),), tables.actions)
    inputs = Inputs.of(turns)
    memory, _ = policy.encode(inputs)
    every = policy.step(memory, (), inputs.initial, previous)
    some = policy.step(policy.select(memory, rows), (), inputs.initial[rows], previous[rows])
    assert torch.allclose(some.logits, every.logits[rows], atol=1e-5)


def test_figures_have_no_names():
    """Renaming the figures of Tangrams renames the actions, and changes nothing else."""
    policy, tables, turns = make("tangrams")
    renamings = SymbolRenamings(tables, Vocabulary(()))
    world = tables.world
    number = 17
    renamed = replace(turns, history=renamings.contents[number][turns.history])
    names = {world.contents[1 + shape]: world.contents[renamings.contents[number][1 + shape]] for shape in range(5)}
    actions = [
        world.action_indices[type(action)(action.kind, (*action.arguments[:1], *(names[shape] for shape in action.arguments[1:])))]
        for action in world.actions
    ]
    one, two = (first_scores(policy, tables, each) for each in (turns, renamed))
    assert torch.allclose(one, two[:, actions], atol=1e-5)


def test_beakers_are_counted_from_either_side_and_by_how_much_they_hold():
    tables = compile_world(get_world("alchemy"))
    states = torch.from_numpy(tables.encode([("gg", "", "g", "ggg", "rg", "", "g")]))
    counts = StateFeatures(tables).ranks(states).unflatten(2, (2, 4, -1)).argmax(-1)  # [1, beakers, sorts, counts]
    assert counts[0, :, 1].tolist() == [  # of its colour: left, right, with less, with more; all plus one, 0 for none
        [1, 4, 3, 2],
        [0, 0, 0, 0],
        [2, 3, 1, 3],
        [3, 2, 4, 1],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
        [4, 1, 1, 3],
    ]
    assert counts[0, 4, 0].tolist() == [4, 2, 3, 2]  # of those that hold anything


def test_people_are_counted_from_either_side_alone():
    tables = compile_world(get_world("scene"))
    assert StateFeatures(tables).rank_count == 2 * len(("shirt", "hat", "anyone"))


def test_words_for_the_same_number_share_a_part_of_their_embeddings():
    vocabulary = Vocabulary(("five", "5th", "fifth", "beaker", "two"))
    numbers = NumberEmbedding(vocabulary, 6)
    five, short, long, beaker, two = numbers(torch.arange(len(SPECIAL), len(vocabulary)).unsqueeze(0))[0]
    assert torch.equal(short, long)
    assert torch.allclose(short - five, numbers.ordinal_vector)
    assert not torch.equal(five, two)
    assert not beaker.any()
    assert not numbers(torch.arange(len(SPECIAL)).unsqueeze(0)).any()


def test_a_position_without_a_figure_is_never_emptied():
    policy, tables, turns = make("tangrams")
    logits = first_scores(policy, tables, turns, torch.from_numpy(tables.encode([("302",)] * len(turns))))
    never = [str(tables.world.actions[number]) for number in range(tables.actions) if (logits[:, number] == NEVER).all()]
    assert never == ["remove 4", "remove 5"]


@pytest.mark.parametrize("name", WORLDS.names())
def test_what_was_looked_at_is_on_words_and_drawn_objects(name: str):
    policy, tables, turns = make(name)
    with torch.no_grad():
        execution = roll_out(policy, tables, turns, 4, sampled(torch.Generator().manual_seed(3)))
        steps = attention_of(policy, tables, turns, execution.states)
    first = torch.from_numpy(turns.turn == 0)
    for found in steps:
        assert list(found) == ["words", "changes", "objects"]
        assert [each.over for each in found.values()] == ["words", "objects", "objects"]
        words, changes = found["words"].weights, found["changes"].weights  # [batch, heads, words], [batch, heads, objects]
        assert words.shape == (len(turns), SMALL.heads, turns.words.shape[1])
        assert (words[(found["words"].places < 0).unsqueeze(1).expand_as(words)] == 0).all()
        if name != "tangrams":  # there, figures that are not in the row are not drawn
            assert torch.allclose(words.sum(-1) + changes.sum(-1), torch.ones(words.shape[:2]), atol=1e-5)
        assert (changes[first] == 0).all()
        assert changes[~first].sum() > 0


def attention_of(policy: ObjectPolicy, tables: Tables, turns: Turns, states: torch.Tensor) -> list[Mapping[str, AttentionMap]]:
    """Of every step, in the states ``[steps, batch, slots]``."""
    memory, carry = policy.encode(Inputs.of(turns))
    previous = torch.full((len(turns),), tables.actions)
    return [policy.step(memory, carry, each, previous, return_attention=True).attention for each in states]


@pytest.mark.parametrize("name", WORLDS.names())
def test_what_was_looked_at_is_told_alike_alone_and_among_others(name: str):
    policy, tables, turns = make(name)
    with torch.no_grad():
        states = roll_out(policy, tables, turns, 4, greedy).states
        together = attention_of(policy, tables, turns, states)
        for row in range(0, len(turns), 7):
            alone = attention_of(policy, tables, turns.select(np.array([row])), states[:, row : row + 1])
            for step, every in zip(alone, together, strict=True):
                for what, (_, weights, places) in step.items():
                    keys = weights.shape[-1]
                    assert torch.allclose(weights[0], every[what].weights[row, :, :keys], atol=1e-5)
                    assert torch.equal(places[0], every[what].places[row, :keys])


def test_what_earlier_turns_changed_is_remembered_only_if_asked_for():
    _, _, turns = make("alchemy")
    later = torch.from_numpy(turns.turn == 2)
    for config, matters in ((SMALL, True), (replace(SMALL, changes=False, past="none"), False)):
        policy, tables, _ = make("alchemy", config)
        other = turns.history.copy()
        other[:, 0] = np.roll(other[:, 0], 1, axis=-1)  # another first state, of which only the history knows
        one, two = (first_scores(policy, tables, turns.starting_from(history))[later] for history in (turns.history, other))
        assert torch.allclose(one, two, atol=1e-6) != matters


def second_of_two(tables: Tables) -> Turns:
    figures = Interaction("x", (("302",), ("02",), ("0",)), ("remove the first", "remove the last"))
    return encode_turns([figures], Vocabulary(()), tables).select(np.array([1]))


def test_an_object_knows_its_own_changes_and_whose_place_it_has_taken():
    policy, tables, _ = make("tangrams")
    inputs = Inputs.of(second_of_two(tables))
    changes, changed = policy._changes(inputs)
    assert changes.present.tolist() == [[True] * 3]
    assert changed.tolist() == [[0, 2, 3]]  # 3 went, and the other two moved up
    own, stands = policy.features.relations(inputs.history, inputs.initial, changes.turns, changed)[0].bool()  # [figures, changes]
    assert own.nonzero().tolist() == [[0, 0], [2, 1], [3, 2]]
    assert stands.nonzero().tolist() == [[0, 2], [2, 0]]  # 0 stands where 3 stood, 2 where 0 did


@pytest.mark.parametrize("name", ["alchemy", "scene"])
def test_what_has_one_object_a_slot_stands_where_it_stood(name: str):
    policy, _, turns = make(name)
    inputs = Inputs.of(turns)
    changes, changed = policy._changes(inputs)
    own, stands = policy.features.relations(inputs.history, inputs.initial, changes.turns, changed).unbind(1)
    assert torch.equal(own, stands)
    assert own.any()


def test_an_object_recalls_what_it_was_like_and_what_became_of_it():
    policy, tables, _ = make("tangrams")
    inputs, features = Inputs.of(second_of_two(tables)), policy.features
    size = features.features.shape[1]
    history = features.history(inputs.history, inputs.initial)[0, 0]  # [figures, history features]: of the first turn
    before, after, own, place = history.split([size, size, 3, 3], -1)
    looks = features.features[features.ids(torch.from_numpy(tables.encode([("302",), ("02",)])))]  # [states, figures, features]
    assert torch.equal(before, looks[0])
    assert torch.equal(after, looks[1])
    assert own.tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]]  # came, went, changed: 3 went, 0 and 2 moved
    assert place.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]  # 0 has the place of 3, and 2 that of 0


@pytest.mark.parametrize(("named", "meant"), [(0, 0), (2, 2), (AGES, 2), (AGES + 2, 0), (2 * AGES, 3)])
def test_words_point_at_a_turn_by_its_number_or_its_age_or_at_none(named: int, meant: int):
    """In the fourth turn: one of the names, in order the numbers, the ages and none, has all the weight."""
    _, _, turns = make("tangrams")
    turns = turns.select(np.flatnonzero(turns.turn == 3))
    pointer = TurnPointer(4, 1)
    torch.nn.init.zeros_(pointer.turn_scores.weight)
    torch.nn.init.zeros_(pointer.turn_scores.bias)
    pointer.turn_scores.bias.data[named] = 50.0
    current = torch.ones(turns.words.shape, dtype=torch.bool)
    turn, none = pointer(torch.randn(*turns.words.shape, 4), current, Inputs.of(turns))  # [batch, 1, turns - 1], [batch, 1]
    found = torch.cat([turn[:, 0, :3], none], 1)  # [batch, 4]: the three earlier turns, and none
    assert torch.allclose(found[:, meant], torch.ones(len(turns)), atol=1e-6)
    assert not turn[:, 0, 3:].any()  # this turn and later ones


def test_an_unseen_world_has_one_object_a_slot():
    tables = compile_world(Lamps())
    known = object_features(tables.world)
    assert known.feature_ids.tolist() == [[number] for number in range(len(tables.next))]
    assert (known.features == np.eye(len(tables.next))).all()
    assert known.edits == tables.edits


def test_scores_belong_to_the_figure_that_an_action_is_about():
    tables = compile_world(get_world("tangrams"))
    known = object_features(tables.world)
    row = tables.encode([("402",)])[0, 0]
    world = tables.world
    scores = {str(action): int(known.score_ids[row, number]) for number, action in enumerate(world.actions[:-1])}
    assert divmod(scores["remove 1"], known.edits) == (4, 5)
    assert divmod(scores["remove 3"], known.edits) == (2, 5)
    assert divmod(scores["insert 2 3"], known.edits) == (3, 1)
    assert scores["remove 4"] == known.objects * known.edits
    assert known.positions[row].tolist() == [2, 0, 3, 0, 1]
