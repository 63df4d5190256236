"""Requests and responses of the HTTP interface, from which the OpenAPI document is made; a turn is ``sestra.agent.trace.Turn``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from sestra.agent.limits import MAX_INSTRUCTION_LENGTH, MAX_WORDS
from sestra.agent.options import How
from sestra.agent.parsing import MAX_ACTIONS

MAX_BODY_BYTES = 256 * 1024
"""Bytes, in worlds whose states are not very long."""
MAX_STATE_LENGTH = 1 << 20
"""Characters of a state in any world; each world has a limit of its own."""
MAX_ACTION_LENGTH = 200
MAX_NAME_LENGTH = 50
MAX_TURNS = 50
MAX_FRAMES = 2 * MAX_TURNS
MAX_EXAMPLES = 20
MAX_SEED = 2**31 - 1

WorldName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH, description="A world's name.", examples=["alchemy"])]
StateText = Annotated[
    str,
    Field(max_length=MAX_STATE_LENGTH, description="A state in the world's notation.", examples=["1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_"]),
]
InstructionText = Annotated[
    str,
    Field(min_length=1, max_length=MAX_INSTRUCTION_LENGTH, description="What to do, in words.", examples=["throw out first beaker"]),
]


class RequestBody(BaseModel):
    """Nothing is converted, and no unknown field is accepted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class EarlierTurn(RequestBody):
    """A turn of the interaction so far."""

    state: Annotated[StateText, Field(description="The state in which the turn began.")]
    instruction: InstructionText


class FollowRequest(RequestBody):
    """One instruction, the current state, and the earlier turns."""

    world: WorldName
    state: StateText
    history: Annotated[list[EarlierTurn], Field(max_length=MAX_TURNS, description="The earlier turns, oldest first.")] = []
    instruction: InstructionText
    agent: Annotated[str | None, Field(max_length=MAX_NAME_LENGTH, description="An agent's name; by default the world's first.")] = None
    how: Annotated[How, Field(description="Take the most probable actions, sample them, or search for the best sequence.")] = "greedy"
    seed: Annotated[int | None, Field(ge=0, le=MAX_SEED, description="Of the sample; without one it differs from request to request.")] = (
        None
    )
    caution: Annotated[float | None, Field(ge=0, le=1, description="Confidence below which nothing is done; by default the agent's.")] = (
        None
    )
    actions: Annotated[
        list[Annotated[str, Field(max_length=MAX_ACTION_LENGTH)]],
        Field(max_length=MAX_ACTIONS, description="Actions to take first, whatever the agent prefers; then it goes on."),
    ] = []


class Frame(RequestBody):
    """A state and its caption."""

    caption: Annotated[str, Field(max_length=MAX_INSTRUCTION_LENGTH)]
    state: StateText


class PictureRequest(RequestBody):
    """States to draw one below the other."""

    world: WorldName
    frames: Annotated[list[Frame], Field(min_length=1, max_length=MAX_FRAMES)]


class StateChange(RequestBody):
    """A state, and the one since which its changes are marked."""

    state: StateText
    since: StateText


class FramesRequest(RequestBody):
    """States to take apart for the page."""

    world: WorldName
    frames: Annotated[list[StateChange], Field(min_length=1, max_length=MAX_FRAMES)]


class EditRequest(RequestBody):
    """A brush, and the place to put it on."""

    world: WorldName
    state: StateText
    place: Annotated[int, Field(ge=1, description="Counted from 1.")]
    brush: Annotated[str, Field(max_length=MAX_NAME_LENGTH, description="The name of one of the drawing's brushes.")]


class AgentSummary(BaseModel):
    name: str
    label: str = Field(description="What it is called where an agent is chosen.")
    description: str = Field(description="Its policy, its learner and the number of its networks.")


class WorldSummary(BaseModel):
    """A world, and the agents that act in it."""

    name: str
    title: str
    agent: str = Field(description="The agent that follows instructions if none is named.")
    agents: list[AgentSummary]
    actions: dict[str, str] = Field(description="Every action, in words.")
    state_length: int = Field(description="Characters of the longest state.")


class Limits(BaseModel):
    """Anything longer is refused: characters of an instruction and of a state, earlier turns, words of an interaction, bytes of a body."""

    instruction: int = MAX_INSTRUCTION_LENGTH
    state: int
    history: int = MAX_TURNS
    words: int = MAX_WORDS
    body: int


class Worlds(BaseModel):
    """The worlds, and what is the same for all of them."""

    worlds: list[WorldSummary]
    watched: str | None = Field(default=None, description="The name of the run that can be watched, if there is one.")
    attention: dict[str, str] = Field(description="What each attention is over, in words, by its name.")
    limits: Limits


class Brush(BaseModel):
    """Something that can be put on a place when a state is edited; ``key`` does it from the keyboard."""

    name: str
    label: str
    key: str
    sign: str
    fill: str
    ink: str
    row: str


class Drawing(BaseModel):
    """What the page draws a world with. Shapes are as in ``sestra.drawing``, and sprites are drawn around x = 0."""

    world: str
    title: str
    place: str = Field(description="What a place is called.")
    columns: int | None = Field(description="How many places a row has, if they form a grid.")
    width: float
    height: float
    background: list[dict[str, Any]]
    sprites: dict[str, list[dict[str, Any]]]
    places: list[dict[str, Any]] = Field(description="The frame of each place, and its number before and after a change.")
    brushes: list[Brush]
    hint: str


class ShownFrame(BaseModel):
    """A state as the page draws it."""

    parts: list[dict[str, Any]] = Field(description="A key, a sprite's name or shapes, where they are and where they come in from.")
    changed: list[int] = Field(description="The places that have changed, counted from 0.")
    description: str
    places: list[str] = Field(description="What each place holds, in words.")


class Frames(BaseModel):
    frames: list[ShownFrame]


class Edited(BaseModel):
    state: str | None = Field(description="The new state; null if nothing changes.")


class Example(BaseModel):
    """A start state and instructions that can follow it."""

    title: str
    state: str
    instructions: list[str]


class Examples(BaseModel):
    examples: list[Example]


class Suggestions(BaseModel):
    suggestions: list[str]


class WatchedTask(BaseModel):
    """An instruction that the model of every epoch follows."""

    instruction: str
    earlier: list[str] = Field(description="The instructions before it.")
    start: str
    goal: str


class FollowedEpoch(BaseModel):
    """Which of the tasks the model of an epoch did right."""

    epoch: int
    right: list[bool]


class WatchedRun(BaseModel):
    """A training run, as far as it has come."""

    name: str
    world: str
    policy: str
    learner: str
    seed: int | None
    epochs: int | None = Field(description="The most epochs that it will have.")
    finished: bool
    selected: int | None = Field(description="The epoch whose model is the best so far, on validation.")
    idle: float = Field(description="Seconds since it wrote anything.")
    curves: dict[str, str] = Field(description="The figures to draw, by their names in the records.")
    records: list[dict[str, float | None]] = Field(description="The figures of every epoch.")
    tasks: list[WatchedTask]
    followed: list[FollowedEpoch]


class WatchedStep(BaseModel):
    action: str
    words: str = Field(description="The action in words.")
    probability: float
    state: str = Field(description="After the action.")


class WatchedTurn(BaseModel):
    """What the model of an epoch did with a task."""

    steps: list[WatchedStep]
    end: str
    stopped: bool
    right: bool = Field(description="Whether it stopped in the goal state.")


class WatchedEpoch(BaseModel):
    epoch: int
    turns: list[WatchedTurn]


class Health(BaseModel):
    status: str
    version: str
    worlds: list[str]


class Readiness(BaseModel):
    status: str


class Problem(BaseModel):
    """One thing that is wrong with a request."""

    where: str
    reason: str


class Refusal(BaseModel):
    """The body of every error response."""

    reason: str
    problems: list[Problem]
