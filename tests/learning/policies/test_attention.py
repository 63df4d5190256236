"""The paper's policy against its equations, followed loop by loop in plain Python."""

from __future__ import annotations

import dataclasses
import math
from functools import partial

import numpy as np
import pytest
import torch
from slow_policy import Slow

from sestra.data.batch import Turns, encode_turns
from sestra.data.synthetic import generate
from sestra.data.vocabulary import PAD, SPECIAL, Vocabulary
from sestra.learning.decoding import forced
from sestra.learning.learners.base import average
from sestra.learning.learners.sestra import Sestra
from sestra.learning.policies.attention import AttentionPolicy
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.policies.base import Inputs
from sestra.learning.rollout import roll_out
from sestra.worlds import WORLDS, get_world
from sestra.worlds.tables import Integers, compile_world

NAMES = sorted(WORLDS.names())
SMALL = AttentionConfig(embedding=4, hidden=5)
ABLATIONS: dict[str, dict[str, bool]] = {
    "full": {},
    "no previous instructions": {"previous_instructions": False},
    "no states": {"initial_state": False, "current_state": False},
    "no current state": {"current_state": False},
    "no initial state": {"initial_state": False},
}


def make(name: str, config: AttentionConfig = SMALL, *, seed: int = 0, interactions: int = 3) -> tuple[AttentionPolicy, Turns]:
    """A policy whose parameters, biases and all, are drawn at random, and turns of generated interactions."""
    tables, data = compile_world(get_world(name)), generate(name, interactions, seed=seed)
    vocabulary = Vocabulary.of((text for interaction in data for text in interaction.instructions), at_least=1)
    policy = AttentionPolicy(config, tables, vocabulary).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4)
        policy.embedding.weight[PAD] = 0
    return policy, encode_turns(data, vocabulary, tables)


def beginning(turns: Turns, states: Integers) -> Turns:
    """The same instructions, but begun in other states."""
    return turns.starting_from(states[:, None].repeat(turns.history.shape[1], 1))


def play(policy: AttentionPolicy, turns: Turns, actions: torch.Tensor, world: str, initial: Integers | None = None):
    """Each step's answer when the actions ``[batch, steps]`` are taken, from ``initial`` or the turns' own initial states."""
    tables = compile_world(get_world(world))
    memory, carry = policy.encode(Inputs.of(turns))
    states = turns.initial if initial is None else initial
    previous, steps = torch.full((len(turns),), tables.actions), []
    for action in actions.T:
        steps.append(policy.step(memory, carry, torch.from_numpy(states), previous, return_attention=True))
        carry, states, previous = steps[-1].carry, tables.step(states, action.numpy()), action
    return steps


def some_actions(world: str, turns: Turns, steps: int = 3, seed: int = 1) -> torch.Tensor:
    return torch.randint(len(get_world(world).actions) - 1, (len(turns), steps), generator=torch.Generator().manual_seed(seed))


# The number of parameters, by hand from supplementary D.

WORD, HIDDEN, EMBEDDING = 2 * 100, 100, 50
ENCODERS = {  # number of parameters, and the size of an object's vector
    # colours, positions; one LSTM of 20 over embeddings of 10
    "alchemy": (6 * 10 + 7 * 10 + 4 * 20 * (10 + 20) + 4 * 20, 20 + 10),
    # six colours and none, positions; two LSTMs of 5 over three embeddings of 10
    "scene": (7 * 10 + 10 * 10 + 2 * (4 * 5 * (30 + 5) + 4 * 5), 2 * 5 + 30),
    # positions, shapes, the vector of the empty row
    "tangrams": (5 * 10 + 5 * 10 + 20, 10 + 10),
}
ACTIONS = {  # kinds with STOP (BEG is one more, embedded but never scored), first and second arguments with NULL
    "alchemy": (2 + 1, 7 + 1, 6 + 1),
    "scene": (4 + 1, 10 + 1, 6 + 1),
    "tangrams": (2 + 1, 5 + 1, 5 + 1),
}


def vocabulary_of(words: int) -> Vocabulary:
    return Vocabulary(tuple(f"word{number}" for number in range(words - len(SPECIAL))))


def parameters_by_hand(world: str, words: int, *, previous: bool = True, initial: bool = True, current: bool = True) -> int:
    encoder, size = ENCODERS[world]
    states = initial + current
    # torch's LSTM adds two bias vectors where the paper's (and everyone's equations) has one: so twice 4 * 100 a direction.
    reader = 2 * (4 * HIDDEN * (EMBEDDING + HIDDEN) + 2 * 4 * HIDDEN)
    attention = WORD * HIDDEN + previous * WORD * (HIDDEN + WORD) + states * 2 * size * (HIDDEN + WORD)
    joined = WORD + previous * WORD + states * 2 * size + 3 * EMBEDDING
    decoder = joined * joined + joined + 4 * HIDDEN * (joined + HIDDEN) + 4 * HIDDEN
    kinds, first, second = ACTIONS[world]
    actions = (kinds + 1 + first + second) * EMBEDDING + (kinds + first + second) * HIDDEN + HIDDEN * HIDDEN
    return words * EMBEDDING + reader + (encoder if states else 0) + attention + decoder + actions


def words(count: int) -> Vocabulary:
    return Vocabulary(tuple(f"w{number}" for number in range(count - len(SPECIAL))))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ablation", ABLATIONS)
def test_number_of_parameters(name, ablation):
    flags = ABLATIONS[ablation]
    policy = AttentionPolicy(AttentionConfig(**flags), compile_world(get_world(name)), vocabulary_of(123))
    by_hand = parameters_by_hand(
        name,
        123,
        previous=flags.get("previous_instructions", True),
        initial=flags.get("initial_state", True),
        current=flags.get("current_state", True),
    )
    assert sum(parameter.numel() for parameter in policy.parameters()) == by_hand


def test_number_of_parameters_of_alchemy_as_numbers():
    """The same, worked out on paper for 695 words: words, reader, states, attention, W_d, decoder, actions with W_a."""
    policy = AttentionPolicy(AttentionConfig(), compile_world(get_world("alchemy")), vocabulary_of(695))
    on_paper = 34_750 + 121_600 + 2_610 + 116_000 + 449_570 + 308_400 + 12_750
    assert sum(parameter.numel() for parameter in policy.parameters()) == on_paper


def test_initial_weights_are_glorots():
    policy = AttentionPolicy(AttentionConfig(), compile_world(get_world("alchemy")), vocabulary_of(500))
    blocks = {
        "W_c": (policy.current_query.weight, 200, 100),
        "W_p": (policy.other_queries.weight[:200], 200, 300),
        "W_sb": (policy.other_queries.weight[200:230], 30, 300),
        "W_d": (policy.decoder_input.weight, 670, 670),
        "W_a": (policy.action_scorer.weight, 100, 100),
    }
    for name, (matrix, rows, columns) in blocks.items():
        bound = math.sqrt(6 / (rows + columns))
        assert matrix.shape == (rows, columns), name
        assert matrix.abs().max() <= bound, name
        assert matrix.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05), name
    assert not policy.decoder_input.bias.any()
    assert not policy.embedding.weight[PAD].any()


def test_initial_embeddings_and_gates():
    """An embedding is a matrix of one row, and an LSTM's gates are one matrix."""
    policy = AttentionPolicy(AttentionConfig(), compile_world(get_world("alchemy")), vocabulary_of(500))
    shapes = {"embedding.weight": (1, 50), "forward_lstm.weight_ih_l0": (400, 50), "forward_lstm.weight_hh_l0": (400, 100)}
    for name, (rows, columns) in shapes.items():
        bound = math.sqrt(6 / (rows + columns))
        assert policy.get_parameter(name).abs().max() <= bound
        assert policy.get_parameter(name).std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)


# The paper's equations.


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", [0, 3])  # a first instruction, which has nothing but the delimiter before it, and a later one
def test_steps_equal_the_papers_equations(name, number):
    policy, turns = make(name)
    turn = turns.select(np.array([number]))
    world = get_world(name)
    if name == "tangrams":  # from the row's last figures to the empty row, whose vector is its own
        turn = beginning(turn, compile_world(world).encode([("31",)]))
        actions = torch.tensor([[world.action_indices[world.parse_action("remove 1")]] * 3])
    else:
        actions = some_actions(name, turn)
    initial = compile_world(world).decode(turn.initial)[0]
    expected = Slow(policy, name).play(turn.words[0].tolist(), int(turn.current[0]), initial, actions[0].tolist())
    for step, (probabilities, weights) in zip(play(policy, turn, actions, name), expected, strict=True):
        torch.testing.assert_close(step.logits.softmax(-1)[0], torch.tensor(probabilities), atol=1e-5, rtol=1e-4)
        assert set(step.attention) == set(weights)
        for key, rows in weights.items():
            for found, row in zip(step.attention[key].weights[0].tolist(), rows, strict=True):
                assert found[: len(row)] == pytest.approx(row, abs=1e-5)
                assert not any(found[len(row) :])  # places that the state does not have


@pytest.mark.parametrize(("name", "actions"), [("alchemy", 50), ("scene", 141), ("tangrams", 31)])
def test_well_formed_actions_alone_are_scored_part_by_part(name, actions):
    policy, turns = make(name)
    logits = play(policy, turns, some_actions(name, turns, 1), name)[0].logits
    assert logits.shape == (len(turns), actions)
    world, first = get_world(name), logits[0].double()
    by_name = {(action.kind, action.arguments): first[index].item() for index, action in enumerate(world.actions)}
    pairs = [(kind, arguments) for kind, arguments in by_name if len(arguments) == 2]
    assert len(pairs) > 20
    for kind, (one, two) in pairs:
        for other_kind, (other_one, other_two) in pairs:  # s_T + s_1 + s_2: changing one part costs the same whatever the others are
            if kind == other_kind:
                change = by_name[kind, (one, two)] - by_name[kind, (other_one, two)]
                assert change == pytest.approx(by_name[kind, (one, other_two)] - by_name[kind, (other_one, other_two)], abs=1e-5)
    singles = {kind: [key for key in by_name if key[0] == kind and len(key[1]) == 1] for kind in {key[0] for key in by_name}}
    kind, (one, two) = pairs[0]
    for other, keys in singles.items():
        for _, (place,) in keys:  # a kind with one argument shares its weights with a kind with two
            change = by_name[other, (place,)] - by_name[other, (one,)]
            assert change == pytest.approx(by_name[kind, (place, two)] - by_name[kind, (one, two)], abs=1e-5)


# What the answer depends on.


def words_changed(turns: Turns) -> Turns:
    """Other words in the previous instructions."""
    places = np.arange(turns.words.shape[1])
    other = np.where(turns.words >= 4, 4 + (turns.words - 3) % 9, turns.words)
    return dataclasses.replace(turns, words=np.where(places < turns.current[:, None] - 1, other, turns.words))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ablation", ABLATIONS)
def test_ablations_leave_out_what_they_say(name, ablation):
    flags = ABLATIONS[ablation]
    policy, turns = make(name, dataclasses.replace(SMALL, **flags))
    turns = turns.select(np.flatnonzero(turns.turn == 2))
    actions = some_actions(name, turns)
    answers = partial(play, policy, actions=actions, world=name)
    plain = answers(turns, initial=turns.initial)
    shuffled = turns.initial[::-1].copy() if name != "tangrams" else (turns.initial + 7) % 326
    changed = {
        "previous_instructions": answers(words_changed(turns), initial=turns.initial),
        "initial_state": answers(beginning(turns, shuffled), initial=turns.initial),
        "current_state": answers(turns, initial=shuffled),
    }
    attended = {"previous_instructions": "previous", "initial_state": "initial", "current_state": "state"}
    for what, steps in changed.items():
        used = flags.get(what, True)
        assert (attended[what] in plain[0].attention) == used
        for step, other in zip(plain, steps, strict=True):
            assert torch.equal(step.logits, other.logits) == (not used), what


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ablation", ["full", "no previous instructions"])
def test_a_turn_has_the_same_answer_alone_in_a_batch_and_padded(name, ablation):
    policy, turns = make(name, dataclasses.replace(SMALL, **ABLATIONS[ablation]))
    actions = some_actions(name, turns)
    together = play(policy, turns, actions, name)
    padded = dataclasses.replace(turns, words=np.pad(turns.words, ((0, 0), (0, 6)), constant_values=PAD))
    for step, other in zip(together, play(policy, padded, actions, name), strict=True):
        torch.testing.assert_close(step.logits, other.logits, atol=1e-5, rtol=1e-5)
    for row in range(len(turns)):
        alone = play(policy, turns.select(np.array([row])), actions[row : row + 1], name)
        for step, other in zip(together, alone, strict=True):
            torch.testing.assert_close(step.logits[row], other.logits[0], atol=1e-5, rtol=1e-5)
            for key, found in other.attention.items():
                for mine, theirs in zip(step.attention[key].weights[row], found.weights[0], strict=True):
                    torch.testing.assert_close(mine[mine > 0], theirs[theirs > 0], atol=1e-5, rtol=1e-4)


# Dropout.


def test_everything_dropped_leaves_uniform_attention_and_no_input():
    policy, turns = make("alchemy", dataclasses.replace(SMALL, dropout=1 - 1e-9))
    actions = some_actions("alchemy", turns)
    policy.train()
    torch.manual_seed(0)
    for step in play(policy, turns, actions, "alchemy"):
        torch.testing.assert_close(step.logits, step.logits[:1].expand_as(step.logits))  # (b): nothing reaches the decoder
        for found in step.attention.values():  # (a): queries are dropped after W
            for row in found.weights.flatten(0, 1):
                torch.testing.assert_close(row[row > 0], torch.full_like(row[row > 0], 1 / int((row > 0).sum())))
    policy.eval()
    first = play(policy, turns, actions, "alchemy")[0]
    assert not torch.allclose(first.logits, first.logits[:1].expand_as(first.logits))


def test_all_keys_but_the_current_instructions_are_dropped():
    """Counts what attention can come out as, where few things can be dropped: with hidden vectors of one number, a query has two.

    So the first step's query over an instruction has four outcomes; those over states are cut down to one number and have two (none of
    them is let depend on what was attended to before). More outcomes than that can come only from keys that are dropped.
    """
    policy, turns = make("tangrams", AttentionConfig(embedding=4, hidden=1, dropout=0.5))
    turn = beginning(turns.select(np.array([3])), compile_world(get_world("tangrams")).encode([("31",)]))
    with torch.no_grad():
        policy.other_queries.weight[:, 1:] = 0
        for head in range(4):
            policy.other_queries.weight[2 + 20 * head + 1 : 2 + 20 * (head + 1)] = 0
    policy.train()
    outcomes: dict[str, set[tuple[float, ...]]] = {}
    for seed in range(200):
        torch.manual_seed(seed)
        for name, found in play(policy, turn, torch.zeros(1, 1, dtype=torch.long), "tangrams")[0].attention.items():
            outcomes.setdefault(name, set()).add(tuple(round(weight, 5) for weight in found.weights[0, 0].tolist()))
    assert 1 < len(outcomes["current"]) <= 4
    assert len(outcomes["previous"]) > 4  # (c)
    assert len(outcomes["initial"]) > 2
    assert len(outcomes["state"]) > 2


def test_dropout_draws_from_the_seed():
    policy, turns = make("scene", dataclasses.replace(SMALL, dropout=0.3))
    actions = some_actions("scene", turns)
    policy.train()
    answers = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        answers.append(torch.stack([step.logits for step in play(policy, turns, actions, "scene")]))
    assert torch.equal(answers[0], answers[1])
    assert not torch.equal(answers[0], answers[2])


# Gradients of the whole, executions of different length in one batch: against differences of the objective.


@pytest.fixture
def in_double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(("name", "ablation"), [*((name, "full") for name in NAMES), *(("tangrams", name) for name in ABLATIONS)])
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_gradient_of_every_parameter_equals_finite_differences(name, ablation, dropout, in_double):
    policy, turns = make(name, AttentionConfig(embedding=3, hidden=4, dropout=dropout, **ABLATIONS[ablation]), interactions=1)
    policy.train()
    tables = compile_world(get_world(name))
    actions = some_actions(name, turns, 4)
    actions[0, 1:] = actions[1, 0] = actions[2, 2:] = tables.stop  # lengths 2, 1, 3 and 4 twice
    generator = torch.Generator().manual_seed(5)
    rewards = torch.randn(4, len(turns), tables.actions, generator=generator)

    def objective():
        torch.manual_seed(7)  # the same values are dropped each time
        execution = roll_out(policy, tables, turns, 4, forced(actions))
        assert execution.lengths.tolist() == [2, 1, 3, 4, 4]
        return average(Sestra(entropy=0.1).objective(execution, rewards), execution, "per-execution").mean()

    objective().backward()
    for label, parameter in policy.named_parameters():
        direction = torch.randn(parameter.shape, generator=generator)
        values = []
        for step in (1e-5, -1e-5):
            with torch.no_grad():
                parameter.add_(direction, alpha=step)
                values.append(objective().item())
                parameter.sub_(direction, alpha=step)
        difference = (values[0] - values[1]) / 2e-5
        gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        assert (gradient * direction).sum().item() == pytest.approx(difference, abs=1e-8, rel=1e-5), label
