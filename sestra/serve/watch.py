"""A training run to watch: its figures by epoch, and what the model of each epoch did with the same instructions."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi import Path as PathParameter
from safetensors import SafetensorError, safe_open

from sestra.agent import folder as agent_folder
from sestra.agent import run_examples
from sestra.agent.run_examples import Epoch, RunExamples
from sestra.data.examples import in_words
from sestra.errors import InputError, shortened
from sestra.io import MAX_TEXT, read_bytes, read_json
from sestra.registry import check_reference
from sestra.serve import schemas
from sestra.serve.lookup import RefusedError
from sestra.worlds import STOP, World, get_world

CURVES = {
    "inst": "Instructions",
    "utts3": "First three of an interaction",
    "utts5": "Whole interactions",
    "reward": "Reward",
    "objective": "Objective",
}
"""The figures of an epoch that the page draws, by their names in metrics.jsonl."""


class WatchedRun:
    """The folder of a run, read anew whenever it is asked: the run may be going on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not agent_folder.is_run(path):
            raise InputError(f"--watch {path}: is not the folder of a run; expected one that 'sestra train --out' has made")
        place = path / "config.json"
        self.config = _object(read_json(place), place)
        reference = self.config.get("world")
        if not isinstance(reference, str):
            raise InputError(f"{place}: names no world; the file is damaged, watch another run")
        check_reference(reference, f"{place}: world", path)
        self.world: World[Any] = get_world(reference)

    @property
    def name(self) -> str:
        return self.path.resolve().name

    def records(self) -> list[dict[str, float | None]]:
        """The figures of all epochs; None for a figure that there is none of."""
        place = self.path / "metrics.jsonl"
        if not place.exists():
            return []
        found = []
        for line in read_bytes(place, MAX_TEXT).decode("utf-8", "replace").splitlines():
            try:
                record = _object(json.loads(line), place)
            except ValueError as error:
                raise InputError(f"{place}: has a line that is not JSON ({shortened(line)!r}); the file is damaged") from error
            found.append({name: value for name, value in record.items() if value is None or _is_number(value)})
        return found

    def examples(self) -> RunExamples | None:
        return run_examples.read(self.path)

    def finished(self) -> bool:
        """Whether its agent was exported, which a run does at its end."""
        return (self.path / "model.safetensors").exists() and agent_folder.is_current(self.path)

    def selected(self) -> int | None:
        """The epoch whose model is the best so far."""
        try:
            with safe_open(self.path / "model.safetensors", framework="np") as file:
                epoch = json.loads((file.metadata() or {}).get("info", "{}")).get("epoch")
        except (OSError, SafetensorError, ValueError, AttributeError):
            return None  # there is none yet, or it is being replaced
        return epoch if isinstance(epoch, int) else None

    def idle(self) -> float:
        """Seconds since anything was written."""
        written = (each.stat().st_mtime for each in (self.path, self.path / "checkpoints"))
        return max(0.0, time.time() - max(written))

    def turns(self, examples: RunExamples, epoch: Epoch) -> list[schemas.WatchedTurn]:
        """What the model did, with the states that its actions led to."""
        made = []
        for task, actions, probabilities in zip(examples.tasks, epoch.actions, epoch.probabilities, strict=True):
            state, steps = self.world.parse(task.start), []
            for text, probability in zip(actions, probabilities, strict=False):
                action = self.world.parse_action(text)
                state = self.world.apply(state, action)
                words = in_words(self.world, action)
                steps.append(schemas.WatchedStep(action=text, words=words, probability=probability, state=self.world.format(state)))
            end = self.world.format(state)
            stopped = bool(actions) and actions[-1] == str(STOP)
            made.append(schemas.WatchedTurn(steps=steps, end=end, stopped=stopped, right=stopped and end == task.goal))
        return made


def add_watch(app: FastAPI, run: WatchedRun, refusals: dict[int | str, dict[str, Any]]) -> None:
    outcomes: dict[Epoch, list[bool]] = {}  # which of an epoch's turns were right: they are computed once

    @app.get("/api/run")
    def watched() -> schemas.WatchedRun:
        """The run that is watched, as far as it has come."""
        examples = run.examples()
        for epoch in examples.followed if examples else ():
            if examples and epoch not in outcomes:
                outcomes[epoch] = [turn.right for turn in run.turns(examples, epoch)]
        policy, learner = (run.config.get(part) for part in ("policy", "learner"))
        return schemas.WatchedRun(
            name=run.name,
            world=run.world.name,
            policy=str(policy.get("name")) if isinstance(policy, dict) else "",
            learner=str(learner.get("name")) if isinstance(learner, dict) else "",
            seed=seed if isinstance(seed := run.config.get("seed"), int) else None,
            epochs=examples.epochs if examples else None,
            finished=run.finished(),
            selected=run.selected(),
            idle=run.idle(),
            curves=CURVES,
            records=run.records(),
            tasks=[schemas.WatchedTask(**vars(task)) for task in examples.tasks] if examples else [],
            followed=[schemas.FollowedEpoch(epoch=each.epoch, right=outcomes[each]) for each in examples.followed] if examples else [],
        )

    @app.get("/api/run/{epoch}", responses=refusals)
    def followed(epoch: Annotated[int, PathParameter(ge=0, le=schemas.MAX_SEED)]) -> schemas.WatchedEpoch:
        """What the model of an epoch did with the tasks; epoch 0 is the model before training."""
        examples = run.examples()
        found = [each for each in (examples.followed if examples else ()) if each.epoch == epoch]
        if not examples or not found:
            raise RefusedError("epoch", f"nothing is stored of epoch {epoch}; expected one of those that /api/run lists")
        return schemas.WatchedEpoch(epoch=epoch, turns=run.turns(examples, found[0]))


def _object(value: Any, place: Path) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{place}: {shortened(repr(value))} stands where an object was expected; the file is damaged")
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
