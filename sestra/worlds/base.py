"""What a world is: a row of slots, each holding one of finitely many contents, changed one edit at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, cast

from sestra.errors import InputError

if TYPE_CHECKING:
    from sestra.analysis.changes import WorldAnalysis
    from sestra.analysis.checks.patterns import Checks
    from sestra.data.examples import Phrases
    from sestra.data.grammar import Grammar, Talk
    from sestra.drawing.generic import Drawing
    from sestra.worlds.features import ObjectFeatures

Content = TypeVar("Content", bound=Hashable)
Shaping = Literal["distance", "steps", "none"]
"""What the reward's shaping term measures: the world's distance to the goal (the paper's), the fewest actions to it, or nothing."""


@dataclass(frozen=True)
class Edit:
    """What an action does to one slot: a kind and its arguments, such as ``push g``."""

    kind: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.kind, *self.arguments))


@dataclass(frozen=True)
class Action(Edit):
    """An edit of a certain slot, with at most two arguments, such as ``push 7 o``; the paper's a_T(a_1, a_2)."""


STOP = Action("stop")


class StateError(InputError):
    """A state was written in a way the world does not read."""


@dataclass(frozen=True)
class Settings:
    """The settings of training that the paper gives per world (supplementary D); the defaults are for worlds that are not in the paper."""

    entropy: float = 0.1
    """Lambda, the weight of the entropy term."""
    verbosity: float = 0.1
    """Delta, the penalty of every action but STOP."""
    horizon: int = 10
    """M, the largest number of actions in an execution."""


class World(ABC, Generic[Content]):
    """A world in plain Python; ``sestra.worlds.tables.compile_world`` turns it into lookup tables.

    A state is a tuple with one content per slot. Subclasses set the first four attributes and write the abstract methods;
    `docs/your-own-world.md` builds one step by step.

    ``drawing``, ``grammar`` and the methods beside them return optional parts; where one returns None, the package uses a generic part.
    The class in the module ``world`` of a package has its parts in modules beside it, which are imported when they are first asked for:
    ``drawing.DRAWING``, the module ``grammar`` itself, ``talk.TALK``, ``phrases.PHRASES``, the function ``features.features``,
    ``encoder.ENCODER``, ``analysis.ANALYSIS`` and ``checks.CHECKS``. A world that is written in a single file overrides the methods
    instead.
    """

    name: str
    """The world's short name, which file names such as ``alchemy-train.tsv`` begin with."""
    slots: int
    """How many slots a state has."""
    contents: Sequence[Content]
    """Everything that a slot can hold, the empty content first."""
    edits: Sequence[Edit]
    """Everything that can be done to a slot."""
    columns: ClassVar[int | None] = None
    """How many slots a row has when states are drawn as a grid; None: one row."""
    interchangeable: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
    """Symbols that may take each other's places without a change of the world's rules, each with the words that people use for it, the most
    usual first; training may rename them at random (``sestra.data.augment``)."""
    settings: ClassVar[Settings] = Settings()
    """The paper's settings for this world."""
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})
    """By policy: the settings in which training in this world differs from the default."""

    @abstractmethod
    def edit(self, content: Content, edit: Edit) -> Content | None:
        """The content after the edit, or None where the edit is invalid."""

    @abstractmethod
    def distance(self, content: Content, goal: Content) -> int:
        """How far a slot is from its goal; the negative of its sum over slots is the shaping potential."""

    def distances(self) -> Sequence[Sequence[int]]:
        """The distance of every content to every other; a world with thousands of contents may know a faster way."""
        return [[self.distance(content, goal) for goal in self.contents] for content in self.contents]

    @abstractmethod
    def parse(self, text: str) -> tuple[Content, ...]:
        """The state that the text describes; raises StateError."""

    @abstractmethod
    def format(self, state: tuple[Content, ...]) -> str:
        """The text that describes the state, in the notation that ``parse`` reads."""

    def rename(self, content: Content, names: Mapping[str, str]) -> Content:
        """The content with interchangeable symbols renamed; a world whose contents are not strings of symbols writes its own."""
        if not isinstance(content, str):
            raise InputError(f"world {self.name}: has interchangeable symbols, but no method 'rename' for contents such as {content!r}")
        renamed: Any = "".join(names.get(symbol, symbol) for symbol in content)
        return cast("Content", renamed)

    def drawing(self) -> Drawing | None:
        """How states are drawn; None: as numbered boxes."""
        return cast("Drawing | None", self._part("drawing", "DRAWING"))

    def grammar(self) -> Grammar | None:
        """What generates instructions; None: no interactions can be generated."""
        return cast("Grammar | None", self._part("grammar"))

    def talk(self) -> Talk | None:
        """What people say to an agent beyond the world's data; None: no more than the grammar."""
        return cast("Talk | None", self._part("talk", "TALK"))

    def phrases(self) -> Phrases | None:
        """Examples, and actions in words; None: there are no examples, and actions are shown in their own notation."""
        return cast("Phrases | None", self._part("phrases", "PHRASES"))

    def features(self) -> ObjectFeatures | None:
        """What the object policy knows of each content; None: each slot is one object, each content a feature."""
        make = self._part("features", "features")
        return cast("ObjectFeatures", make(self)) if make else None

    def state_encoder(self) -> Any:
        """The class of the attention policy's state encoder (``sestra.learning.policies.state_encoder.StateEncoder``), which is made from
        the world's tables; None: an embedding of each slot's content and position."""
        return self._part("encoder", "ENCODER")

    def analysis(self) -> WorldAnalysis | None:
        """What the error analysis knows of the world's language and changes; None: only what holds in every world."""
        return cast("WorldAnalysis | None", self._part("analysis", "ANALYSIS"))

    def checks(self) -> Checks | None:
        """Sentences whose outcome is known, by capability; None: ``sestra check`` has nothing to check agents by."""
        return cast("Checks | None", self._part("checks", "CHECKS"))

    def _part(self, module: str, name: str = "") -> Any:
        """A module beside the module ``world`` that defines the class or one of its bases, or what has that name in it."""
        for kind in type(self).__mro__:
            package, _, file = kind.__module__.rpartition(".")
            if package and file == "world" and find_spec(f"{package}.{module}"):
                found = import_module(f"{package}.{module}")
                return getattr(found, name) if name else found
        return None

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """Every edit of every slot, slot by slot, then STOP."""
        return (*(self._action(slot, edit) for slot in range(self.slots) for edit in self.edits), STOP)

    @cached_property
    def action_names(self) -> tuple[str, ...]:
        """Every action as text."""
        return tuple(map(str, self.actions))

    @cached_property
    def action_indices(self) -> dict[Action, int]:
        """The index of each action in ``actions``."""
        return {action: index for index, action in enumerate(self.actions)}

    def _action(self, slot: int, edit: Edit) -> Action:
        place = (str(slot + 1),) if self.slots > 1 else ()
        return Action(edit.kind, (*place, *edit.arguments))

    def parse_action(self, text: str) -> Action:
        """The action that the text describes, as ``str(action)`` prints it."""
        kind, *arguments = text.split() or [""]
        action = Action(kind, tuple(arguments))
        if action not in self.action_indices:
            examples = ", ".join(repr(str(a)) for a in (*self.actions[:2], STOP))
            raise InputError(f"{text!r} is not an action of {self.name}; expected one like {examples}")
        return action

    def apply(self, state: tuple[Content, ...], action: Action) -> tuple[Content, ...]:
        """The state after the action; STOP and invalid actions leave it as it is (the paper's T)."""
        slot, edit = divmod(self.action_indices[action], len(self.edits))
        if slot == self.slots:  # STOP, the last action
            return state
        content = self.edit(state[slot], self.edits[edit])
        return state if content is None else (*state[:slot], content, *state[slot + 1 :])

    def state_distance(self, state: tuple[Content, ...], goal: tuple[Content, ...]) -> int:
        """||s - g||: the sum of the slots' distances."""
        return sum(self.distance(content, wanted) for content, wanted in zip(state, goal, strict=True))


def parse_numbered(text: str, world: str, slots: int | None = None) -> list[str]:
    """The properties of objects written ``1:x 2:y ...``, checked to be numbered in order."""
    fields = text.split(" ") if text else []
    properties = []
    for number, field in enumerate(fields, start=1):
        position, colon, value = field.partition(":")
        if not colon or not value:
            raise StateError(f"{field!r} is not an object of {world}; expected 'position:properties', such as '{number}:...'")
        if position != str(number):
            raise StateError(f"position {position!r} stands where {number} was expected; number the objects of {world} from 1, in order")
        properties.append(value)
    if slots is not None and len(properties) != slots:
        raise StateError(f"{len(properties)} objects in {text!r}; a state of {world} has {slots}, numbered from 1")
    return properties
