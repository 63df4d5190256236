"""How long ago the referents of an instruction were last mentioned, in turns, as the paper dates them.

A program does not know which thing a word means, but it knows which things an instruction changes: those, or in some worlds what stands
beside them, are taken to be the referents. A thing is mentioned explicitly by a turn that changes it, unless the turn refers to it by a
pronoun or leaves it out. Then it is as old as before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from sestra.analysis import language
from sestra.analysis.changes import WorldAnalysis, analysis_of
from sestra.analysis.references import Reference, find, named_turn
from sestra.data.scone import Interaction, State
from sestra.worlds import World

Thing = Any


@dataclass
class Mentions:
    """In which turn each thing was last mentioned explicitly, and in which it was last changed."""

    known: WorldAnalysis
    mentioned: dict[Thing, int] = field(default_factory=dict)
    changed: dict[Thing, int] = field(default_factory=dict)

    def date(self, found: Reference, referents: list[Thing], order: int, turn: int, named: int | None) -> int | None:
        """The age of a reference, the ``order``-th of those to objects; the referents are sorted, the latest mention first."""
        if named:
            return named
        if found.to in ("action", "action and arguments"):
            return 1  # the turn before, unless another is named
        if found.to == "position":  # where the thing was before it was last moved
            last = max((self.changed[thing] for thing in referents if thing in self.changed), default=None)
        else:
            dated = [self.mentioned[thing] for thing in referents if thing in self.mentioned]
            last = dated[min(order, len(dated) - 1)] if dated else turn - 1  # what was not changed was mostly spoken of just now
        return None if last is None else turn - last

    def referents(self, before: State, after: State) -> list[Thing]:
        """What the turn changes, or what stands beside it; the latest mention first."""
        things = self.known.changed(before, after)
        if self.known.neighbours is not None:
            there = {thing for thing in things if self.known.neighbours(before, thing)}
            things = frozenset(there or {slot + side for slot in things for side in (-1, 1)})
        return sorted((thing for thing in things if thing in self.mentioned), key=lambda thing: -self.mentioned[thing])

    def advance(self, before: State, after: State, referents: list[Thing], turn: int) -> None:
        """Take note of what the turn mentions: all that it changes but the things that it refers to without a mention."""
        origins, kept = self.known.origins(before, after), {}
        for thing in self.known.changed(before, after):
            source = origins.get(thing, thing)
            kept[thing] = self.mentioned[source] if source in referents else turn
        self.changed |= dict.fromkeys(kept, turn)
        self.mentioned |= kept


def references(world: World[Any], interaction: Interaction) -> list[list[Reference]]:
    """Of every instruction, its references with their ages."""
    known = analysis_of(world)
    mentions, dated = Mentions(known), []
    states = zip(interaction.states, interaction.states[1:], strict=False)
    for turn, (instruction, (before, after)) in enumerate(zip(interaction.instructions, states, strict=False)):
        found = find(known.language, instruction, turn)
        if before is None or after is None:
            dated.append(found)
            continue
        named, referents = named_turn(instruction, turn), mentions.referents(before, after)
        things = [each for each in found if each.to in ("object", "object via action")]
        dated.append([
            replace(each, age=mentions.date(each, referents, things.index(each) if each in things else 0, turn, named)) for each in found
        ])  # fmt: skip
        objects = [each.words for each in found if each.to == "object"]
        plural = any(re.fullmatch(language.PLURAL, words) for words in objects)
        mentions.advance(before, after, referents if plural else referents[: len(objects)], turn)
    return dated
