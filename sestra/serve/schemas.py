"""Requests and responses of the HTTP interface, from which the OpenAPI document is made; a turn is ``sestra.agent.trace.Turn``."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sestra.agent.limits import LONGEST_INSTRUCTION, LONGEST_STATE, MOST_WORDS

LARGEST_BODY = 256 * 1024
"""Bytes."""
LONGEST_NAME = 50
MOST_TURNS = 50
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
    history: Annotated[list[EarlierTurn], Field(max_length=MOST_TURNS, description="The earlier turns, oldest first.")] = []
    instruction: InstructionText


class Frame(RequestBody):
    """A state and its caption."""

    caption: Annotated[str, Field(max_length=LONGEST_INSTRUCTION)]
    state: StateText


class PictureRequest(RequestBody):
    """States to draw one below the other."""

    world: WorldName
    frames: Annotated[list[Frame], Field(min_length=1, max_length=MOST_FRAMES)]


class WorldSummary(BaseModel):
    """A world, and the agent that acts in it."""

    name: str
    agent: str
    actions: dict[str, str] = Field(description="Every action, in words.")


class Limits(BaseModel):
    """Anything longer is refused: characters of an instruction and of a state, earlier turns, words of an interaction, bytes of a body."""

    instruction: int = LONGEST_INSTRUCTION
    state: int = LONGEST_STATE
    history: int = MOST_TURNS
    words: int = MOST_WORDS
    body: int = LARGEST_BODY


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


class Problem(BaseModel):
    """One thing that is wrong with a request."""

    where: str
    reason: str


class Refusal(BaseModel):
    """The body of every error response."""

    reason: str
    problems: list[Problem]
