"""Labels that a strong ensemble contradicts: those are probably ambiguous or wrong."""

from __future__ import annotations

from collections.abc import Sequence

from sestra import pretrained
from sestra.agent import Agent
from sestra.agent.evaluation import Evaluated, executions
from sestra.analysis.annotations import Place
from sestra.data.batch import encode_turns
from sestra.data.scone import Interaction, State
from sestra.errors import InputError


def find_judge(agent: Agent, name: str | None) -> list[Agent] | None:
    """The networks of the agent of that name, one by one; by default all agents that ship for the world, if there are several."""
    world = agent.world.name
    if name is None:
        shipped = [each for each in pretrained.names() if each == world or each.startswith(f"{world}-")]
        return [Agent.from_pretrained(each) for each in shipped] if len(shipped) > 1 else None
    judge = Agent.from_pretrained(name)
    if judge.world.name != world:
        raise InputError(f"--judge {name}: is an agent for {judge.world.name}; expected one for {world}")
    members = judge.members()
    if len(members) < 2:
        raise InputError(f"--judge {name}: has one network, which cannot be unanimous; expected an ensemble, such as 'sestra join' makes")
    return members


def disputed(judges: Sequence[Evaluated], interactions: Sequence[Interaction]) -> frozenset[Place]:
    """The turns in which all judges, each alone, end in the same state, and it is not the annotated one."""
    reached = [_reached(judge, interactions) for judge in judges]
    goals = {(each.id, turn): goal for each in interactions for turn, goal in enumerate(each.states[1:])}
    return frozenset(place for place, state in reached[0].items() if state != goals[place] and all(one[place] == state for one in reached))


def _reached(judge: Evaluated, interactions: Sequence[Interaction]) -> dict[Place, State]:
    """Where it ends in each turn, from the annotated start state."""
    turns = encode_turns(interactions, judge.vocabulary, judge.tables)
    found: dict[Place, State] = {}
    for batch, execution in executions(judge.execute, turns, judge.batch_size):
        states = judge.tables.decode(execution.final)
        for number, turn, state in zip(batch.interaction.tolist(), batch.turn.tolist(), states, strict=True):
            found[interactions[number].id, turn] = state
    return found
