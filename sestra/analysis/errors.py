"""Classes of errors, derived from the start state, the goal, the states in between and the instructions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from sestra.analysis.changes import Change, analysis_of
from sestra.analysis.paper import Cause
from sestra.analysis.references import Reference
from sestra.data.scone import State
from sestra.worlds.tables import Tables


class ErrorClass(StrEnum):
    """The first that applies, in this order; except that an agent which had to be stopped ran on."""

    EARLIER_STATE = "needs an earlier state"
    """The goal brings back what an earlier turn took away, and the instruction refers to that: the current state does not contain it."""
    WRONG_OBJECT = "right action, wrong object"
    """The same kinds of changes, to other things."""
    WRONG_AMOUNT = "right object, wrong amount or place"
    """The same kinds of changes, to the same things, but too much or too little, to another place or in another colour."""
    STOPPED_EARLY = "stopped early"
    """The actions are the beginning of a shortest execution."""
    RAN_ON = "ran on"
    """The goal was reached, and left again; an agent that had to be stopped is here too, whatever it did."""
    OTHER = "other"


@dataclass(frozen=True)
class Case:
    """One instruction that was followed from its annotated start state."""

    interaction: str
    turn: int
    """Counted from 0."""
    instructions: tuple[str, ...]
    """Up to this one."""
    history: tuple[State | None, ...]
    """The states in which the turns so far began; the last is this one's."""
    goal: State
    path: tuple[State, ...]
    """The states that were passed through, start and end included."""
    actions: tuple[str, ...]
    stopped: bool
    references: tuple[Reference, ...]

    @property
    def instruction(self) -> str:
        return self.instructions[-1]

    @property
    def start(self) -> State:
        return self.path[0]

    @property
    def reached(self) -> State:
        return self.path[-1]

    @property
    def right(self) -> bool:
        return self.reached == self.goal


def classify(tables: Tables, case: Case) -> ErrorClass:
    """Of a case that is not right."""
    if _brings_back(tables, case):
        return ErrorClass.EARLIER_STATE
    if not case.stopped:
        return ErrorClass.RAN_ON
    wanted, done = (analysis_of(tables.world).changes(case.start, state) for state in (case.goal, case.reached))
    if _kinds(wanted) == _kinds(done):
        return ErrorClass.WRONG_AMOUNT if wanted == done else ErrorClass.WRONG_OBJECT
    if _on_the_way(tables, case.start, case.reached, case.goal):
        return ErrorClass.STOPPED_EARLY
    return ErrorClass.RAN_ON if case.goal in case.path else ErrorClass.OTHER


def resolved(tables: Tables, case: Case, reference: Reference) -> bool:
    """Whether the agent found the referent: it changed the same things as the goal does, or, of actions and places, it was right."""
    if case.right or reference.to not in ("object", "object via action"):
        return case.right
    known = analysis_of(tables.world)
    return known.changed(case.start, case.reached) == known.changed(case.start, case.goal)


def cause(tables: Tables, case: Case, *, disputed: bool) -> Cause:
    """The paper's class of a case that is not right; ``disputed`` if an ensemble is unanimous against its label."""
    if disputed:
        return Cause.LABEL
    if _brings_back(tables, case):
        return Cause.IMPOSSIBLE
    if not all(resolved(tables, case, each) for each in case.references):
        return Cause.MULTI_TURN
    return Cause.STATE if classify(tables, case) is ErrorClass.WRONG_OBJECT else Cause.OTHER


def _kinds(found: Counter[Change]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for change, count in found.items():
        counted[change.kind] += count
    return counted


def _brings_back(tables: Tables, case: Case) -> bool:
    """Whether the instruction refers to an earlier turn, and something becomes what it was in an earlier state and is not now."""
    restores = analysis_of(tables.world).restores
    if restores is not None:
        return bool(case.references) and restores(case.start, case.goal)
    undone = ("ellipsis", "action and arguments")
    if not any(each.to in ("position", "object via action") or (each.kind, each.to) == undone for each in case.references):
        return False
    earlier = [state for state in case.history[:-1] if state is not None]
    empty = tables.world.contents[0]
    changed = [slot for slot in range(tables.slots) if case.goal[slot] not in (case.start[slot], empty)]
    return any(state[slot] == case.goal[slot] for slot in changed for state in earlier)


def _on_the_way(tables: Tables, start: State, reached: State, goal: State) -> bool:
    there, end, wanted = tables.encode([start]), tables.encode([reached]), tables.encode([goal])
    so_far, to_go = tables.steps_to_go(there, end), tables.steps_to_go(end, wanted)
    return bool((so_far + to_go == tables.steps_to_go(there, wanted)).all())
