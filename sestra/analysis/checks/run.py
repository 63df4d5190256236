"""Checking an agent: every sentence is followed in its context, from its annotated states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from sestra.agent import Agent
from sestra.agent.trace import Turn
from sestra.analysis.checks.check import Check, Half, read_sentences
from sestra.errors import InputError, shortened
from sestra.metrics import Accuracy

EACH = 10
"""How many checks are drawn for each sentence pattern."""


@dataclass(frozen=True)
class Outcome:
    check: Check
    turn: Turn

    @property
    def reached(self) -> str:
        return self.turn.end

    @property
    def passed(self) -> bool:
        """Whether the expected state was reached; if nothing should be done, whether nothing was changed."""
        return self.reached == self.check.goal

    def to_json(self) -> dict[str, Any]:
        check = self.check
        return {
            "capability": check.capability,
            "kind": check.kind,
            "earlier": list(check.instructions[:-1]),
            "sentence": check.sentence,
            "read_as": [word.read_as for word in self.turn.words],
            "states": list(check.states),
            "expected": check.goal,
            "reached": self.reached,
        }


@dataclass(frozen=True)
class Report:
    """What came of the generated checks, in the order of the world's capabilities, and of the hand-written sentences."""

    patterns: tuple[Outcome, ...]
    sentences: tuple[Outcome, ...]

    def capabilities(self, *, followable: bool) -> dict[str, Accuracy]:
        """How often the patterns of each capability were passed."""
        chosen = [outcome for outcome in self.patterns if outcome.check.followable == followable]
        names = dict.fromkeys(outcome.check.capability for outcome in chosen)
        return {name: accuracy(outcome for outcome in chosen if outcome.check.capability == name) for name in names}

    def half(self, half: Half) -> dict[str, Accuracy]:
        """The same of half of the hand-written sentences: those that can be followed, the others, and the others by kind."""
        chosen = [outcome for outcome in self.sentences if outcome.check.half == half]
        others = [outcome for outcome in chosen if not outcome.check.followable]
        kinds = dict.fromkeys(outcome.check.kind for outcome in others)
        return {
            "followable": accuracy(outcome for outcome in chosen if outcome.check.followable),
            "out of scope": accuracy(others),
            **{kind: accuracy(outcome for outcome in others if outcome.check.kind == kind) for kind in kinds},
        }

    def failures(self, *, show_report: bool = False) -> list[Outcome]:
        """All failed checks; those of the reported half only on demand."""
        outcomes = (*self.patterns, *self.sentences)
        return [outcome for outcome in outcomes if not outcome.passed and (show_report or outcome.check.half != "report")]

    def to_json(self, examples: int, *, show_report: bool = False) -> dict[str, Any]:
        failed = self.failures(show_report=show_report)
        return {
            "capabilities": {
                **_records(self.capabilities(followable=True)),
                **_records(self.capabilities(followable=False)),
            },
            "followable": _record(accuracy(outcome for outcome in self.patterns if outcome.check.followable)),
            "out_of_scope": _record(accuracy(outcome for outcome in self.patterns if not outcome.check.followable)),
            "sentences": {half: _records(self.half(half)) for half in get_args(Half)} if self.sentences else {},
            "failures": [outcome.to_json() for outcome in some_of_each(failed, examples)],
        }


def run_checks(agent: Agent, seed: int = 0, only: Sequence[str] = (), each: int = EACH) -> Report:
    """Check an agent by its world's patterns and sentences, or by the patterns of only these capabilities."""
    checks = agent.world.checks()
    if checks is None:
        raise InputError(f"the world {agent.world.name!r} has no checks; docs/your-own-world.md says how to write some")
    known = [capability.name for capability in checks.capabilities]
    for name in only:
        if name not in known:
            raise InputError(
                f"--capability {shortened(name)}: is not a capability of {agent.world.name}; expected some of {', '.join(known)}"
            )
    chosen = [capability for capability in checks.capabilities if not only or capability.name in only]
    patterns = [check for capability in chosen for check in capability.checks(agent.world, seed, each)]
    sentences = () if only else read_sentences(checks.sentences, agent.world)
    turns = agent.take_turns([check.context for check in (*patterns, *sentences)])
    outcomes = tuple(Outcome(check, turn) for check, turn in zip((*patterns, *sentences), turns, strict=True))
    return Report(outcomes[: len(patterns)], outcomes[len(patterns) :])


def accuracy(outcomes: Iterable[Outcome]) -> Accuracy:
    passed = [outcome.passed for outcome in outcomes]
    return Accuracy(sum(passed), len(passed))


def some_of_each(outcomes: Sequence[Outcome], most: int) -> list[Outcome]:
    """Up to so many outcomes of each capability, with different sentences as far as possible, evenly from the first to the last."""
    chosen: list[Outcome] = []
    for name in dict.fromkeys((outcome.check.capability, outcome.check.half) for outcome in outcomes):
        group = [outcome for outcome in outcomes if (outcome.check.capability, outcome.check.half) == name]
        chosen += [group[number * len(group) // most] for number in range(most)] if len(group) > most else group
    return chosen


def _records(accuracies: dict[str, Accuracy]) -> dict[str, Any]:
    return {name: _record(each) for name, each in accuracies.items()}


def _record(each: Accuracy) -> dict[str, Any]:
    return {"percent": each.rounded.percent, "interval": each.rounded[1:], "passed": each.successes, "of": each.trials}
