"""Following every instruction of a split, and what its references and errors add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sestra.agent.evaluation import Evaluated, executions
from sestra.analysis.errors import Case, ErrorClass, classify
from sestra.analysis.references import Kind, To, references
from sestra.data.batch import encode_turns
from sestra.data.scone import Interaction
from sestra.metrics import Accuracy
from sestra.worlds.tables import Tables

AGES = (1, 2, 3, 4)
"""As the paper's Table 2 has them; in longer interactions the last stands for itself and more."""
ROWS: tuple[tuple[str, Kind, To], ...] = (
    ("coreference, to an object", "coreference", "object"),
    ("coreference, to an action", "coreference", "action"),
    ("coreference, to an earlier state", "coreference", "state"),
    ("ellipsis, of an object", "ellipsis", "object"),
    ("ellipsis, of an action", "ellipsis", "action"),
    ("ellipsis, of a place", "ellipsis", "state"),
)


@dataclass(frozen=True)
class Analysis:
    """All cases of a split, in the order of the file."""

    tables: Tables
    cases: list[Case]
    interactions: int

    @property
    def wrong(self) -> list[tuple[Case, ErrorClass]]:
        return [(case, classify(self.tables, case)) for case in self.cases if not case.right]

    def ages(self) -> dict[str, list[int]]:
        """Table 2: of each kind of reference, how many referents were last changed 1, 2, 3, 4 turns ago, or in no earlier turn."""
        counted = Counter((each.kind, each.to, each.age and min(each.age, AGES[-1])) for case in self.cases for each in case.references)
        return {label: [counted[kind, to, age] for age in (*AGES, None)] for label, kind, to in ROWS}

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
                found[f"referent changed {age} turn{'s' * (age > 1)} ago"] = _accuracy(dated)
        return found

    def classes(self) -> dict[str, int]:
        counted = Counter(kind for _, kind in self.wrong)
        return {kind.value: counted[kind] for kind in ErrorClass}

    def to_json(self) -> dict[str, Any]:
        referring = sum(bool(case.references) for case in self.cases)
        return {
            "interactions": self.interactions,
            "instructions": len(self.cases),
            "with_reference": referring,
            "references_an_interaction": round(sum(len(case.references) for case in self.cases) / max(self.interactions, 1), 3),
            "references_by_age": {"ages": [*map(str, AGES), "never"], **self.ages()},
            "accuracy": {
                name: {"percent": each.rounded.percent, "interval": each.rounded[1:], "right": each.successes, "of": each.trials}
                for name, each in self.accuracies().items()
            },
            "errors": {"total": len(self.wrong), **self.classes()},
        }


def _accuracy(cases: Sequence[Case]) -> Accuracy:
    return Accuracy(sum(case.right for case in cases), len(cases))


def analyse(evaluated: Evaluated, interactions: Sequence[Interaction]) -> Analysis:
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
    return Analysis(tables, [cases[key] for key in sorted(cases)], len(interactions))
