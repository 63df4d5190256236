"""How the object policy sees a world: which objects there are, what each looks like, and whose edit each action is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from sestra.worlds import Alchemy, Scene, Tangrams, World
from sestra.worlds.alchemy.world import CAPACITY, COLOURS
from sestra.worlds.tables import Tables
from sestra.worlds.tangrams.world import SHAPES


@dataclass(frozen=True)
class View:
    """A slot holds one object or more; what they look like, and which of them an edit changes, depends on the slot's content alone."""

    looks: Tensor  # [contents, objects]: which of the looks each object has
    features: Tensor  # [looks, features]: what tells the looks apart, as zeros and ones
    edits: int
    """How many edits each object scores."""
    scores: Tensor  # [contents, edits of the world]: which of a slot's [objects * edits] scores is the edit's; one past the last for none
    standing: Tensor  # [contents, objects]: where in the slot each object is drawn, from 1; 0 if it is not there
    marks: Tensor  # [contents, objects]: what is different after a turn that changed the object; 0 if there is nothing
    kinds: Tensor  # [contents, sorts]: for each sort of kind, such as the shirt's colour, the slot's kind; 0 for none
    amounts: Tensor | None = None  # [contents]: how much the slot holds, in worlds where one may hold more than another

    @property
    def objects(self) -> int:
        """Objects a slot."""
        return self.looks.shape[1]


def view(tables: Tables) -> View:
    """The view of a world: its own if there is one, else one object a slot, for which every content is a feature of its own."""
    for kind, make in VIEWS.items():
        if isinstance(tables.world, kind):
            return make(tables)
    return slots(tables, torch.eye(len(tables.next)))


def slots(tables: Tables, features: Tensor, kinds: Tensor | None = None, amounts: Tensor | None = None) -> View:
    """One object a slot, with features ``[contents, features]``; its edits are the slot's, and without kinds its content is its kind."""
    contents = torch.arange(len(features)).unsqueeze(1)  # [contents, 1]
    scores = torch.arange(tables.edits).repeat(len(features), 1)
    return View(
        contents, features, tables.edits, scores, torch.ones_like(contents), contents, contents if kinds is None else kinds, amounts
    )


def beakers(tables: Tables) -> View:
    """A beaker: the colour of each unit, how many units, the top unit's colour, and the colour of all units if they have one.

    Beakers are counted among those that are not empty, and among those of the same colour, from left to right and by how much they hold.
    """
    number = {colour: place for place, colour in enumerate(COLOURS, start=1)}
    rows = []
    for content in tables.world.contents:
        units = [number[unit] for unit in content]
        top, only = (units or [0])[-1], units[0] if len(set(units)) == 1 else 0
        rows.append([*units, *[0] * (CAPACITY - len(units)), len(units), top, only])
    kinds = [[int(size > 0), only] for *_, size, _, only in rows]
    return slots(tables, _one_hot(rows), torch.tensor(kinds), torch.tensor([size for *_, size, _, _ in rows]))


def positions(tables: Tables) -> View:
    """A position of the stage: shirt, hat, and whether anyone is there; people are counted, and those with the same shirt or hat."""
    number = {letter: place for place, letter in enumerate("_bgopry")}
    rows = [[number[shirt], number[hat], int(shirt != "_")] for shirt, hat in tables.world.contents]
    return slots(tables, _one_hot(rows), torch.tensor(rows))


def figures(tables: Tables) -> View:
    """The figures of a row: where each stands, counted from the left and from the right, and how long the row is.

    Nothing says which figure it is, since nobody speaks of that; whether it is in the row decides which edits are about it. One that keeps
    its place has not changed, whatever the others do.
    """
    most = len(SHAPES)
    rows, scores = [], []
    for content in tables.world.contents:
        places = [content.find(shape) + 1 for shape in SHAPES]  # 0: not in the row
        rows.append([[place, len(content) + 1 - place if place else 0, len(content)] for place in places])
        scores.append([_figure_score(content, edit.kind, edit.arguments) for edit in tables.world.edits])
    features, looks = _one_hot([row for content in rows for row in content]).unique(dim=0, return_inverse=True)
    standing = torch.tensor([[place for place, *_ in row] for row in rows])  # [contents, figures]
    nothing = torch.empty(len(rows), 0, dtype=torch.long)  # the row is the only slot
    return View(looks.view(len(rows), most), features, most + 1, torch.tensor(scores), standing, standing, nothing)


def _figure_score(content: str, kind: str, arguments: Sequence[str]) -> int:
    """A figure scores its insertion at each position, then its removal."""
    each = len(SHAPES) + 1
    position = int(arguments[0]) - 1
    if kind == "insert":
        return SHAPES.index(arguments[1]) * each + position
    return SHAPES.index(content[position]) * each + each - 1 if position < len(content) else len(SHAPES) * each


def _one_hot(rows: Sequence[Sequence[int]]) -> Tensor:
    """Each column of whole numbers as ones and zeros, side by side."""
    columns = torch.tensor(rows).T
    return torch.cat([one_hot(column) for column in columns], -1).float()


VIEWS: dict[type[World[Any]], Callable[[Tables], View]] = {Alchemy: beakers, Scene: positions, Tangrams: figures}
