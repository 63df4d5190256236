"""Watching a training run: what its folder says of its epochs, read again for every request."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field

from sestra.errors import InputError, shortened
from sestra.io import read_json
from sestra.registry import check_reference
from sestra.serve.phrases import in_words
from sestra.worlds import World, get_world

MAX_FILE = 64 << 20
"""Bytes of a file of a run that are read."""
FOLLOWED = "followed.json"
"""The file in a run's folder that ``sestra.learning.epoch_traces`` writes."""


class WatchedInstruction(BaseModel):
    """An instruction of the validation data that the model of every epoch follows."""

    instruction: str
    earlier: list[str] = Field(description="The instructions before it in its interaction.")
    start: str
    goal: str


class Followed(BaseModel):
    """What the model of an epoch did with an instruction."""

    actions: list[str]
    probabilities: list[float]
    states: list[str] = Field(description="After each action.")
    right: bool = Field(description="Whether it stopped in the goal.")


class WatchedEpoch(BaseModel):
    epoch: int
    figures: dict[str, float | None] = Field(description="By name, such as inst, the accuracy on validation in percent.")
    followed: list[Followed] = Field(description="One per instruction; empty if the run did not write them.")


class Watched(BaseModel):
    """A training run as far as it has come."""

    run: str
    world: str
    settings: dict[str, str] = Field(description="Its policy, its learner and its seed.")
    finished: bool = Field(description="Whether its selected model has been exported.")
    actions: dict[str, str] = Field(description="Every action, in words.")
    instructions: list[WatchedInstruction]
    epochs: list[WatchedEpoch] = Field(description="Those after the one that the request names.")


@dataclass(frozen=True)
class WatchedRun:
    """The folder of a run, which training may be writing at the same time; every file of it is replaced as a whole."""

    path: Path

    def __post_init__(self) -> None:
        if not (self.path / "config.json").is_file():
            raise InputError(
                f"--watch {self.path}: is not the folder of a run (there is no config.json in it); name one such as runs/latest"
            )
        _ = self.world

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @cached_property
    def config(self) -> dict[str, Any]:
        place = self.path / "config.json"
        config = read_json(place)
        if not isinstance(config, dict) or not isinstance(config.get("world"), str):
            raise InputError(f"{place}: names no world; the file is damaged, use another run")
        return config

    @cached_property
    def world(self) -> World[Any]:
        reference = self.config["world"]
        check_reference(reference, f"{self.path / 'config.json'}: world", self.path)
        return get_world(reference)

    def since(self, epoch: int) -> Watched:
        """The run with its epochs after this one."""
        followed = self._json(FOLLOWED)
        given = followed.get("instructions") if isinstance(followed, dict) else None
        traces = {each["epoch"]: each["followed"] for each in followed["epochs"]} if given else {}
        parts = {name: self.config.get(name) for name in ("policy", "learner", "seed")}
        return Watched(
            run=self.name,
            world=self.world.name,
            settings={name: str(part.get("name", "") if isinstance(part, dict) else part) for name, part in parts.items()},
            finished=(self.path / "agent" / "agent.json").exists(),
            actions={str(action): in_words(self.world, action) for action in self.world.actions},
            instructions=given or [],
            epochs=[
                WatchedEpoch(
                    epoch=record["epoch"],
                    figures={name: value for name, value in record.items() if name != "epoch" and isinstance(value, int | float | None)},
                    followed=traces.get(record["epoch"], []),
                )
                for record in self._records()
                if record["epoch"] > epoch
            ],
        )

    def _records(self) -> list[dict[str, Any]]:
        """The run's metrics, one record per epoch; none before the first has ended."""
        text = self._text("metrics.jsonl")
        try:
            return [json.loads(line, parse_constant=lambda _: None) for line in text.splitlines()]
        except ValueError as error:
            raise InputError(f"{self.path / 'metrics.jsonl'}: is not JSON ({shortened(str(error), 100)}); use another run") from error

    def _json(self, name: str) -> Any:
        text = self._text(name)
        return json.loads(text, parse_constant=lambda _: None) if text else None

    def _text(self, name: str) -> str:
        place = self.path / name
        if not place.is_file():
            return ""
        if os.path.getsize(place) > MAX_FILE:
            raise InputError(f"{place}: is larger than {MAX_FILE:,} bytes; use another run")
        return place.read_text(encoding="utf-8")


def add_watching(app: FastAPI, watched: WatchedRun | None, refusals: dict[int | str, dict[str, Any]]) -> None:
    @app.get("/api/watch", responses=refusals)
    def watch(after: Annotated[int, Query(ge=0, le=1_000_000, description="The last epoch that is known already.")] = 0) -> Watched | None:
        """The training run that the server shows, with its epochs so far; null if it shows none."""
        return watched.since(after) if watched else None
