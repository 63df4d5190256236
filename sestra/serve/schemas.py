"""Requests and responses of the HTTP interface, from which the OpenAPI document is made; a turn is ``sestra.agent.trace.Turn``."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sestra.agent.limits import MAX_INSTRUCTION_LENGTH, MAX_STATE_LENGTH, MAX_WORDS

MAX_BODY_BYTES = 256 * 1024
"""Bytes."""
MAX_NAME_LENGTH = 50
MAX_TURNS = 50
MAX_FRAMES = 2 * MAX_TURNS
MAX_EXAMPLES = 20
MAX_SEED = 2**31 - 1

WorldName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH, description="A world's name.", examples=["alchemy"])]
StateText = Annotated[
    str,
    Field(max_length=MAX_STATE_LENGTH, description="A state in SCONE's notation.", examples=["1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_"]),
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


class Frame(RequestBody):
    """A state and its caption."""

    caption: Annotated[str, Field(max_length=MAX_INSTRUCTION_LENGTH)]
    state: StateText


class PictureRequest(RequestBody):
    """States to draw one below the other."""

    world: WorldName
    frames: Annotated[list[Frame], Field(min_length=1, max_length=MAX_FRAMES)]


class WorldSummary(BaseModel):
    """A world, and the agent that acts in it."""

    name: str
    agent: str
    actions: dict[str, str] = Field(description="Every action, in words.")


class Limits(BaseModel):
    """Anything longer is refused: characters of an instruction and of a state, earlier turns, words of an interaction, bytes of a body."""

    instruction: int = MAX_INSTRUCTION_LENGTH
    state: int = MAX_STATE_LENGTH
    history: int = MAX_TURNS
    words: int = MAX_WORDS
    body: int = MAX_BODY_BYTES


class Worlds(BaseModel):
    """The worlds, and what is the same for all of them."""

    worlds: list[WorldSummary]
    attention: dict[str, str] = Field(description="What each attention is over, in words, by its name.")
    limits: Limits


class Example(BaseModel):
    """A start state and instructions that can follow it."""

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
