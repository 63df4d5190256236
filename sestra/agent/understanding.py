"""Whether an agent understood an instruction; if not, why, and what may have been meant.

An agent that is not sure enough does nothing. What it would have done, and what else it considered, are the *readings* of the instruction,
one of which a user can choose. The reasons:

- ``unknown words``: it does not know a word that may matter;
- ``which of several``: the words fit several things;
- ``nothing like that here``: it would act on the same words in other states;
- ``no instruction``: it would act on them nowhere: a greeting, a question, another topic;
- ``unsure``: anything else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from sestra.agent.calibration import Calibration, execution_probabilities
from sestra.agent.execution import Execution
from sestra.agent.outcomes import Outcome, outcomes
from sestra.agent.parsing import ParsedContext
from sestra.agent.runtime import Runtime
from sestra.agent.trace import Reading, Reason
from sestra.data.batch import Example, Turns, make_turns
from sestra.data.examples import in_words, random_start
from sestra.worlds import STOP, World
from sestra.worlds.tables import Flags, Integers, Tables

MAX_READINGS = 4
LEAST_PROBABLE = 0.08
"""The least probability of a reading that is offered."""
OTHER_STATES = 24
"""In how many random states an instruction is tried that was not followed."""
ACTS_ELSEWHERE = 0.1
"""The fraction of them in which the agent has to act for the words to count as an instruction."""


@dataclass(frozen=True)
class Verdict:
    """On one turn."""

    confidence: float
    reason: Reason | None = None
    """Why the instruction was not followed, if it was not."""
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True)
class Understanding:
    """Judges the executions of one agent."""

    runtime: Runtime
    tables: Tables
    calibration: Calibration

    def judge(
        self, contexts: Sequence[ParsedContext], turns: Turns, execution: Execution, horizon: int, caution: float
    ) -> tuple[Execution, list[Verdict]]:
        """A verdict on each turn, and the executions, of which those that are too uncertain are taken back.

        Where actions were given, somebody has chosen them, and they stand.
        """
        confidence = self.calibration.confidence(execution_probabilities(self.tables, execution))  # [batch]
        given = np.array([bool(context.actions) for context in contexts])  # [batch]
        idle = (execution.lengths == 1) & execution.stopped & ~given  # [batch]
        refused = (confidence < caution) & ~given & ~idle  # [batch]
        verdicts = [Verdict(float(each)) for each in confidence]
        doubtful = np.flatnonzero(idle | refused)
        if len(doubtful):
            some = [contexts[row] for row in doubtful.tolist()]
            acts = self._acts_elsewhere(some) & idle[doubtful]  # [doubtful]
            found = outcomes(self.runtime, self.tables, turns.select(doubtful), horizon)
            for row, context, possible, elsewhere in zip(doubtful, some, found, acts, strict=True):
                readings = _readings(self.tables, turns.initial[row], possible) if context.understood else ()
                reason = _reason(context, readings, idle=bool(idle[row]), acts_elsewhere=bool(elsewhere))
                verdicts[row] = Verdict(float(confidence[row]), reason, readings)
        return _taken_back(execution, turns.initial, refused, self.tables.stop), verdicts

    def _acts_elsewhere(self, contexts: Sequence[ParsedContext]) -> Flags:
        """Whether the agent acts on the current instruction of each context, on its own, in some other states."""
        states = self._states
        examples = [Example([context.token_ids[-1]], [state], state) for context in contexts for state in states]
        turns = make_turns(examples, self.tables)
        step = self.runtime.step(self.runtime.encode(turns), turns.initial, np.full(len(turns), self.tables.actions))
        acts = (step.log_probs.argmax(-1) != self.tables.stop).reshape(len(contexts), len(states))  # [contexts, states]
        often: Flags = acts.mean(1) >= ACTS_ELSEWHERE
        return often

    @cached_property
    def _states(self) -> list[tuple[Any, ...]]:
        generator = Random(0)
        return [random_start(self.tables.world, generator) for _ in range(OTHER_STATES)]


def _taken_back(execution: Execution, initial: Integers, refused: Flags, stop: int) -> Execution:
    """The executions with STOP as the first action of those that are refused."""
    if not refused.any():
        return execution
    actions, alive = execution.actions.copy(), execution.alive.copy()  # [steps, batch]
    actions[:, refused] = stop
    alive[1:, refused] = False
    states = np.where(refused[:, None], initial, execution.states)  # [steps, batch, slots]
    final = np.where(refused[:, None], initial, execution.final)  # [batch, slots]
    return dataclasses.replace(execution, states=states, actions=actions, alive=alive, final=final, stopped=execution.stopped | refused)


def _readings(tables: Tables, start: Integers, possible: Sequence[Outcome]) -> tuple[Reading, ...]:
    """What would change something, the most probable first."""
    world, before = tables.world, tuple(start.tolist())
    likely = [each for each in possible if each.probability >= LEAST_PROBABLE and each.state != before][:MAX_READINGS]
    first = _state(world, before)
    found = []
    for outcome in likely:
        actions = tuple(str(world.actions[action]) for action in outcome.actions)
        last = _state(world, outcome.state)
        found.append(Reading(describe_change(world, first, last, outcome.actions), actions, world.format(last), outcome.probability))
    return tuple(found)


def _state(world: World[Any], indices: Sequence[int]) -> tuple[Any, ...]:
    return tuple(world.contents[index] for index in indices)


def describe_change(world: World[Any], before: tuple[Any, ...], after: tuple[Any, ...], actions: Sequence[int]) -> str:
    """What an execution changes, in words: its actions, or what changed places hold afterwards, whichever is said in fewer words."""
    from sestra.drawing import changed, drawing_of  # not needed where everything is understood

    taken = [world.actions[index] for index in actions]
    said = [in_words(world, action) for action in taken if action != STOP]
    counts = {text: said.count(text) for text in said}
    done = ", ".join(f"{text} ({count} times)" if count > 1 else text for text, count in counts.items())
    drawing = drawing_of(world)
    places = [place for place in sorted(changed(world, before, after)) if place < drawing.places]
    held = ", ".join(f"{drawing.own.place.lower()} {place + 1}: {drawing.describe_place(after, place)}" for place in places)
    return min(filter(None, (done, held)), key=lambda text: (len(text.split()), text), default="")


def _reason(context: ParsedContext, readings: Sequence[Reading], *, idle: bool, acts_elsewhere: bool) -> Reason:
    if any(not word.known for word in context.words):
        return "unknown words"
    if len(readings) > 1 and len({frozenset(action.split()[0] for action in each.actions) for each in readings}) == 1:
        return "which of several"
    if not idle:
        return "unsure"
    return "nothing like that here" if acts_elsewhere else "no instruction"


def question(world: World[Any], start: str, readings: Sequence[Reading]) -> str:
    """What to ask a user who has to choose between readings: which place, if each changes one that others leave alone.

    >>> from sestra.worlds import get_world
    >>> start = "1:g 2:_ 3:g 4:_ 5:_ 6:_ 7:_"
    >>> readings = [Reading("", ("pop 1", "stop"), "1:_ 2:_ 3:g 4:_ 5:_ 6:_ 7:_", 0.5), Reading("", (), "1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:_", 0.5)]
    >>> question(get_world("alchemy"), start, readings)
    'Which one do you mean: beaker 1 or beaker 3?'
    """
    from sestra.drawing import changed, drawing_of

    before, drawing = world.parse(start), drawing_of(world)
    places = [changed(world, before, world.parse(reading.end)) for reading in readings]
    own = [sorted(each - frozenset().union(*(places[:number] + places[number + 1 :]))) for number, each in enumerate(places)]
    if len(own) < 2 or not all(own) or drawing.places != world.slots:
        return "Which of these do you mean?"
    *names, last = (f"{drawing.own.place.lower()} {each[0] + 1}" for each in own)
    return f"Which one do you mean: {', '.join(names)} or {last}?"
