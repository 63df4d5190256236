"""A trained policy as an agent's folder that other machines can use, without torch."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import torch

from sestra.agent import folder as agent_folder
from sestra.agent import run_examples
from sestra.agent.calibration import Calibration, measure
from sestra.agent.decoding import greedy, roll_out
from sestra.agent.folder import About, Graphs
from sestra.agent.runtime import Ensemble, Network
from sestra.data.batch import Example, Turns, make_turns
from sestra.data.vocabulary import SPECIAL, UNKNOWN, Vocabulary
from sestra.errors import InputError, shortened
from sestra.learning import checkpoint
from sestra.learning.graphs import export_policy, read_weights
from sestra.learning.policies.base import Inputs, Policy
from sestra.learning.run_folder import RunFolder, Trained, load_trained
from sestra.worlds.tables import Tables

TOLERANCE = 1e-3
"""How much a graph's numbers may differ from the policy's, absolutely and relatively."""
CHECKED_STEPS = 3
BATCH_SIZE = 128


def export_run(run: RunFolder, examples: Turns | None = None) -> None:
    """Write the run's selected policy as an agent into its folder.

    On the examples, those that the run held out, its confidence is calibrated, and on some of them the graphs are checked.
    """
    trained = load_trained(run)
    parameters = sum(parameter.numel() for parameter in trained.policy.parameters())
    training = trained.training | {
        "parameters": parameters,
        "data": dataclasses.asdict(run.source()),
        "model": checkpoint.checksum(run.model),
    }
    config, calibration = trained.config, Calibration()
    horizon = config.rollout.execution_horizon
    graphs = export_trained(trained, [] if examples is None else [examples.select(np.arange(min(len(examples), 64)))])
    if examples is not None:
        runtime = Ensemble([Network(graphs.encode, graphs.step, "the exported policy")])
        executed = measure(lambda turns: roll_out(runtime, trained.tables, turns, horizon, greedy), trained.tables, examples, BATCH_SIZE)
        calibration = executed.fit()
    kept = run_examples.read(run.path)
    suggested = kept.interactions if kept else ()
    about = About(config.world, horizon, config.rollout.verbosity, training, examples=suggested, calibration=calibration)
    agent_folder.write(run.path / agent_folder.IN_RUN, about, trained.vocabulary, [graphs])


def export_trained(trained: Trained, examples: Sequence[Turns] = ()) -> Graphs:
    """The policy's graphs, its weights in half precision, checked against the policy on the examples and on random turns."""
    policy, tables, vocabulary = trained.policy.half().float().requires_grad_(False).eval(), trained.tables, trained.vocabulary
    generator = np.random.default_rng(0)
    first, second = (random_turns(tables, vocabulary, *sizes, generator) for sizes in ((3, 3, 4), (5, 4, 6)))
    structure = (trained.config.policy_name, trained.config.policy, trained.config.world, vocabulary)
    graphs = export_policy(policy, first, second, tables.actions, structure)
    network = Network(graphs.encode, graphs.step, "the exported policy")
    for turns in (random_turns(tables, vocabulary, 1, 1, 2, generator), random_turns(tables, vocabulary, 7, 5, 9, generator), *examples):
        check_network(network, policy, tables, turns)
    return graphs


def load_weights(policy: Policy, agent: str) -> None:
    """Give a policy the weights of an agent's first network, which must be of the same structure.

    InputError if it does not give the network's numbers afterwards: graphs may hold something that was computed from weights, not these.
    """
    contents = agent_folder.read(agent_folder.find(agent))
    graphs, known, training = contents.networks[0], policy.state_dict(), policy.training
    try:
        policy.load_state_dict(known | {name: value for name, value in read_weights(graphs).items() if name in known})
        turns = random_turns(contents.tables, contents.vocabulary, 7, 5, 9, np.random.default_rng(0))
        check_network(Network(graphs.encode, graphs.step, agent), policy.eval(), contents.tables, turns)
    except (RuntimeError, InputError) as error:
        raise InputError(
            f"{agent}: its network has another structure than the policy, or not all of its weights ({shortened(str(error), 200)})"
        ) from error
    finally:
        policy.train(training)


def random_turns(tables: Tables, vocabulary: Vocabulary, count: int, turns: int, words: int, generator: np.random.Generator) -> Turns:
    """Instructions of random words in random states, the last of them in the given number of turns."""
    made = []
    for number in range(count):
        length = turns - number % turns
        instructions = generator.integers(min(len(SPECIAL), len(vocabulary) - 1), len(vocabulary), (length, words)).tolist()
        instructions[0][0] = UNKNOWN
        states = tables.decode(generator.integers(0, len(tables.world.contents), (length, tables.slots)))
        made.append(Example(instructions, states, states[-1]))
    return make_turns(made, tables, max(turns, 2))


@torch.no_grad()
def check_network(network: Network, policy: Policy, tables: Tables, turns: Turns) -> None:
    """Raise InputError unless the network gives the numbers that the policy gives, over some steps."""
    ours, (memory, carry) = network.encode(turns), policy.encode(Inputs.of(turns))
    states, previous = turns.initial, np.full(len(turns), tables.actions)
    for _ in range(CHECKED_STEPS):
        logits, ours, maps = network.step(ours, states, previous, attention=True)
        step = policy.step(memory, carry, torch.from_numpy(states), torch.from_numpy(previous), return_attention=True)
        carry = step.carry
        if set(maps) != set(step.attention):
            raise InputError(f"policy: attends to {', '.join(step.attention)} in torch and to {', '.join(maps)} in its exported graphs")
        pairs = [(logits, step.logits), *((maps[name].weights, each.weights) for name, each in step.attention.items())]
        for mine, theirs in pairs:
            if not np.allclose(mine, theirs.numpy(), TOLERANCE, TOLERANCE):
                raise InputError(
                    f"policy: its exported graphs give other numbers than it does (by up to {np.abs(mine - theirs.numpy()).max():.2g}); "
                    "does what it computes depend on anything but the tensors that it is given?"
                )
        previous = logits.argmax(-1)
        states = tables.step(states, previous)
