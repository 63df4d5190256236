"""What the HTTP interface takes and gives; the OpenAPI document is made from these."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

LARGEST_BODY = 256 * 1024
"""Bytes."""
LONGEST_INSTRUCTION = 1000
LONGEST_STATE = 200
LONGEST_NAME = 50
MOST_TURNS = 50
MOST_WORDS = 500
"""In all instructions of an interaction together: what an answer costs grows with them."""
MOST_FRAMES = 2 * MOST_TURNS
MOST_EXAMPLES = 20
LARGEST_SEED = 2**31 - 1

WorldName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, description="A world's name.", examples=["alchemy"])]
StateText = Annotated[
    str,
    Field(max_length=LONGEST_STATE, description="A state in SCONE's notation.", examples=["1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_"]),
]
InstructionText = Annotated[
    str,
    Field(min_length=1, max_length=LONGEST_INSTRUCTION, description="What to do, in words.", examples=["throw out first beaker"]),
]


class Asked(BaseModel):
    """A body from outside: no field is guessed at or passed over."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class EarlierTurn(Asked):
    """A turn of the interaction so far."""

    state: Annotated[StateText, Field(description="The state in which the turn began.")]
    instruction: InstructionText


class FollowRequest(Asked):
    """One instruction, and all that it may refer to."""

    world: WorldName
    state: StateText
    history: Annotated[list[EarlierTurn], Field(max_length=MOST_TURNS, description="The earlier turns, the first one first.")] = []
    instruction: InstructionText


class Frame(Asked):
    """A state and what is written above it."""

    caption: Annotated[str, Field(max_length=LONGEST_INSTRUCTION)]
    state: StateText


class PictureRequest(Asked):
    """States to draw below each other."""

    world: WorldName
    frames: Annotated[list[Frame], Field(min_length=1, max_length=MOST_FRAMES)]


class Word(BaseModel):
    """A token of the instruction, and the known word that it was taken for."""

    text: str
    read_as: str
    known: bool


class Choice(BaseModel):
    """An action and its probability."""

    action: str
    probability: float


class Weight(BaseModel):
    """How much of the attention went to a word or an object."""

    label: str
    weight: float


class Attended(BaseModel):
    """One attention over words or objects, head by head."""

    name: str
    over: str
    heads: list[list[Weight]]


class Step(BaseModel):
    """An action, why, and the state after it."""

    action: str
    probability: float
    alternatives: list[Choice]
    attention: list[Attended]
    state: str


class Turn(BaseModel):
    """What the agent did, step by step; ``stopped`` is false where it had to be stopped."""

    instruction: str
    words: list[Word]
    start: str
    end: str
    stopped: bool
    notes: list[str]
    steps: list[Step]


class WorldSummary(BaseModel):
    """A world that there is an agent for."""

    name: str
    agent: str
    actions: dict[str, str] = Field(description="Every action, in words.")


class Limits(BaseModel):
    """What is refused beyond."""

    instruction: int = LONGEST_INSTRUCTION
    state: int = LONGEST_STATE
    history: int = MOST_TURNS
    words: int = MOST_WORDS
    body: int = LARGEST_BODY


class Worlds(BaseModel):
    """The worlds, and what holds in all of them."""

    worlds: list[WorldSummary]
    attention: dict[str, str] = Field(description="What each attention is over, in words, by its name.")
    limits: Limits


class Example(BaseModel):
    """A start state and things to say from there on."""

    title: str
    state: str
    instructions: list[str]


class Examples(BaseModel):
    examples: list[Example]


class Suggestions(BaseModel):
    suggestions: list[str]


class Health(BaseModel):
    status: str
    version: str
    worlds: list[str]


class Problem(BaseModel):
    """One thing that is wrong with a request."""

    where: str
    reason: str


class Refusal(BaseModel):
    """Every answer but a good one has this shape."""

    reason: str
    problems: list[Problem]
