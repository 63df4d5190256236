"""Following every instruction of a split, and what its references and errors add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from sestra.agent.evaluation import Evaluated, executions
from sestra.analysis.annotations import Annotations, Place
from sestra.analysis.changes import analysis_of
from sestra.analysis.errors import Case, ErrorClass, cause, classify, resolved
from sestra.analysis.mentions import references
from sestra.analysis.paper import Cause
from sestra.analysis.references import Kind, Reference, To
from sestra.data.batch import encode_turns
from sestra.data.scone import Interaction
from sestra.metrics import Accuracy
from sestra.worlds.tables import Tables

AGES = (1, 2, 3, 4)
"""As the paper's Table 2 has them; in longer interactions the last stands for itself and more."""
ROWS: tuple[tuple[Kind, To], ...] = tuple((kind, to) for kind in get_args(Kind) for to in get_args(To))


@dataclass(frozen=True)
class Analysis:
    """All cases of a split, in the order of the file."""

    tables: Tables
    cases: list[Case]
    interactions: int
    disputed: frozenset[Place] | None = None
    """Turns whose labels a strong ensemble contradicts; None if no ensemble was asked."""
    annotations: Annotations | None = None
    """What a person read in some of the interactions."""

    @property
    def wrong(self) -> list[tuple[Case, ErrorClass]]:
        return [(case, classify(self.tables, case)) for case in self.cases if not case.right]

    def ages(self) -> dict[str, list[int]]:
        """Of each type of reference, how many referents were last mentioned 1, 2, 3, 4 turns ago, or in no turn that is known."""
        return count_ages([each for case in self.cases for each in case.references])

    def accuracies(self) -> dict[str, Accuracy]:
        """How often instructions were right that refer back, and those that do not."""
        groups: dict[str, Callable[[Case], bool]] = {
            "all instructions": lambda _: True,
            "first of an interaction": lambda case: case.turn == 0,
            "later, no reference": lambda case: case.turn > 0 and not case.references,
            "with a reference": lambda case: bool(case.references),
            "with coreference": lambda case: any(each.kind == "coreference" for each in case.references),
            "with ellipsis": lambda case: any(each.kind == "ellipsis" for each in case.references),
        }
        found = {name: _accuracy([case for case in self.cases if belongs(case)]) for name, belongs in groups.items()}
        for age in AGES:
            dated = [case for case in self.cases if age in [min(each.age or 0, AGES[-1]) for each in case.references]]
            if dated:
                found[f"referent mentioned {age} turn{'s' * (age > 1)} ago"] = _accuracy(dated)
        return found

    def resolved(self) -> dict[str, Accuracy]:
        """How many references the agent resolves: those that the program finds, and those that a person found."""
        ours = [(case, each) for case in self.cases for each in case.references]
        found = {"found by the program": ours}
        if self.annotations is not None:
            annotated, places = self.annotations, {(case.interaction, case.turn): case for case in self.cases}
            found["annotated by hand"] = [(places[place], each) for place, one in annotated.items() for each in one.references]
        return {name: Accuracy(sum(resolved(self.tables, case, each) for case, each in pairs), len(pairs)) for name, pairs in found.items()}

    def classes(self) -> dict[str, int]:
        counted = Counter(kind for _, kind in self.wrong)
        return {kind.value: counted[kind] for kind in ErrorClass}

    def causes(self) -> dict[str, int]:
        """The errors in the paper's classes; without an ensemble to ask, no label is doubted."""
        doubted = self.disputed or frozenset()
        counted = Counter(
            cause(self.tables, case, disputed=(case.interaction, case.turn) in doubted) for case in self.cases if not case.right
        )
        return {kind.value: counted[kind] for kind in Cause}

    def to_json(self) -> dict[str, Any]:
        referring = sum(bool(case.references) for case in self.cases)
        paper = analysis_of(self.tables.world).paper
        return {
            "interactions": self.interactions,
            "instructions": len(self.cases),
            "with_reference": referring,
            "references_per_interaction": round(sum(len(case.references) for case in self.cases) / max(self.interactions, 1), 3),
            "references_by_age": {"ages": [*map(str, AGES), "unknown"], **self.ages()},
            "resolved": {name: _record(each) for name, each in self.resolved().items()},
            "accuracy": {name: _record(each) for name, each in self.accuracies().items()},
            **self._annotated(),
            "errors": {"total": len(self.wrong), **self.classes()},
            "causes": {"labels_doubted": self.disputed is not None, **self.causes()},
            "paper": paper
            and {
                "references_per_interaction": paper.per_interaction,
                "references_by_age": {row_label(*row): list(counts) for row, counts in paper.references.items()},
                "resolved": paper.resolved,
                "causes": {kind.value: number for kind, number in paper.causes.items()},
            },
        }

    def _annotated(self) -> dict[str, Any]:
        """The references that a person found, if there are annotations."""
        if self.annotations is None:
            return {}
        found = [each for one in self.annotations.values() for each in one.references]
        interactions = len({interaction for interaction, _ in self.annotations})
        mean = round(len(found) / max(interactions, 1), 3)
        return {"annotated": {"interactions": interactions, "references_per_interaction": mean, "references_by_age": count_ages(found)}}


def row_label(kind: Kind, to: To) -> str:
    return f"{kind}, {to}"


def count_ages(found: Sequence[Reference]) -> dict[str, list[int]]:
    """Of each type of reference, how many have each age, or none that is known."""
    counted = Counter((each.kind, each.to, each.age and min(each.age, AGES[-1])) for each in found)
    return {row_label(kind, to): [counted[kind, to, age] for age in (*AGES, None)] for kind, to in ROWS}


def _record(accuracy: Accuracy) -> dict[str, Any]:
    return {
        "percent": accuracy.rounded.percent, "interval": accuracy.rounded[1:], "right": accuracy.successes, "of": accuracy.trials,
    }  # fmt: skip


def _accuracy(cases: Sequence[Case]) -> Accuracy:
    return Accuracy(sum(case.right for case in cases), len(cases))


def analyse(
    evaluated: Evaluated,
    interactions: Sequence[Interaction],
    disputed: frozenset[Place] | None = None,
    annotations: Annotations | None = None,
) -> Analysis:
    """Follow every instruction greedily from its annotated start state."""
    tables = evaluated.tables
    turns, dated = encode_turns(interactions, evaluated.vocabulary, tables), [references(tables.world, each) for each in interactions]
    cases: dict[tuple[int, int], Case] = {}
    for batch, execution in executions(evaluated.execute, turns, evaluated.batch_size):
        states = np.concatenate([execution.states, execution.final[None]]).swapaxes(0, 1)  # [batch, steps + 1, slots]
        taken = (execution.alive & (execution.actions != tables.stop)).sum(0).tolist()  # [batch]
        rows = zip(batch.interaction.tolist(), batch.turn.tolist(), states, execution.actions.T.tolist(), taken, strict=True)
        for (number, turn, path, actions, length), stopped in zip(rows, execution.stopped.tolist(), strict=True):
            interaction = interactions[number]
            goal = interaction.states[turn + 1]
            assert goal is not None  # only turns whose goal is known are encoded
            cases[number, turn] = Case(
                interaction.id,
                turn,
                interaction.instructions[: turn + 1],
                interaction.states[: turn + 1],
                goal,
                tuple(tables.decode(path[: length + 1])),
                tuple(str(tables.action(index)) for index in actions[:length]),
                stopped,
                tuple(dated[number][turn]),
            )
    return Analysis(tables, [cases[key] for key in sorted(cases)], len(interactions), disputed, annotations)
