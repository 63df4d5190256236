"""Training as in supplementary D: epochs, validation, patience, the best model, and checkpoints that resume to the same bits."""

from __future__ import annotations

import copy
import dataclasses
import math
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from sestra.data.augment import SymbolRenamings, drop_words
from sestra.data.batch import Permutation, Turns, batches, encode_turns
from sestra.data.scone import Interaction
from sestra.data.synthetic import generate
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.io import to_json, write_text
from sestra.learning import checkpoint
from sestra.learning.config import TrainConfig
from sestra.learning.decoding import OracleGuided, forced, sampled
from sestra.learning.evaluation import evaluate
from sestra.learning.execution import Execution
from sestra.learning.learners import LEARNERS, Learner
from sestra.learning.learners.distillation import Teacher
from sestra.learning.policies.registry import make_policy
from sestra.learning.rollout import roll_out
from sestra.learning.run_folder import RunFolder
from sestra.worlds import get_world
from sestra.worlds.reward import rewards
from sestra.worlds.tables import compile_world

PATIENCE_GROWTH = 1.005
STEPS_ON = 1e7
"""So many steps on Adam corrects the bias of its means no longer, if each keeps at most 0.999999 of them."""
GENERATED = 1001
"""Seed of the interactions that are generated beside train: the same for every run, and not that of those which stand in for SCONE."""


class Watch(Protocol):
    """Is told how training goes, for progress bars and logs."""

    def batch(self, done: int, total: int, objective: float) -> None: ...

    def epoch(self, record: dict[str, Any]) -> None: ...


@dataclass
class Progress:
    """Where a run stands between two epochs: everything that is not a tensor."""

    epoch: int = 0
    updates: int = 0
    improvements: int = 0
    patience: float = math.inf
    best_reward: float = -math.inf
    best_score: float = -math.inf
    best_epoch: int = 0
    teacher: str = ""
    """The checksum of the teacher's weights, if there is one."""
    history: list[dict[str, Any]] = field(default_factory=list)


def split_validation(interactions: Sequence[Interaction], share: float, world: str) -> tuple[list[Interaction], list[Interaction]]:
    """Train and validation parts; which interactions are held out depends on the world alone."""
    if len(interactions) < 2:
        raise InputError(f"{len(interactions)} interactions to train on; at least 2 are needed, one of them for validation")
    generator = torch.Generator().manual_seed(zlib.crc32(world.encode()))
    size = min(max(1, round(share * len(interactions))), len(interactions) - 1)
    held_out = set(torch.randperm(len(interactions), generator=generator)[:size].tolist())
    train = [interaction for number, interaction in enumerate(interactions) if number not in held_out]
    return train, [interactions[number] for number in sorted(held_out)]


class Training:
    """One run: its data as tensors, the policy, the optimiser and how far they have come."""

    def __init__(self, config: TrainConfig, interactions: Sequence[Interaction], folder: RunFolder, watch: Watch | None = None) -> None:
        self.config, self.folder, self.watch = config, folder, watch
        self.tables = compile_world(get_world(config.world))
        train, validation = split_validation(interactions, config.validation, config.world)
        if config.generated:
            train += generate(config.world, config.generated, seed=GENERATED)
        self.vocabulary = Vocabulary.of((text for interaction in train for text in interaction.instructions), config.rare)
        self.train = encode_turns(train, self.vocabulary, self.tables)
        self.validation = encode_turns(validation, self.vocabulary, self.tables)
        if not len(self.train) or not len(self.validation):
            raise InputError(
                "too few instructions whose start and goal are both known; at least one to train on and one to validate are needed"
            )
        self.symmetry = SymbolRenamings(self.tables, self.vocabulary) if config.symmetry else None
        torch.manual_seed(config.seed)
        self.generator = torch.default_generator  # initial weights and dropout draw from it, so everything does
        self.policy = make_policy(config.policy, self.tables, self.vocabulary)
        self.average = copy.deepcopy(self.policy).requires_grad_(False) if config.averaging else self.policy
        self.teacher = Teacher.of(config, self.vocabulary)
        self.optimiser = _optimiser(config, self.policy)
        self.progress = Progress(teacher=self.teacher.checksum if self.teacher else "")

    @property
    def unfinished(self) -> bool:
        """Whether epochs and patience are left."""
        return self.progress.epoch < self.config.epochs and self.progress.patience > 0

    def run(self) -> Progress:
        """Train until the last epoch or until patience runs out; a checkpoint after every epoch."""
        progress = self.progress
        while self.unfinished:
            began = time.perf_counter()
            record = self._train_epoch()
            record |= self._validate()
            before = progress.history[-1]["seconds"] if progress.history else 0.0
            progress.epoch += 1
            progress.history.append({"epoch": progress.epoch, **record, "seconds": round(before + time.perf_counter() - began, 2)})
            self._save()
            if self.watch:
                self.watch.epoch(progress.history[-1])
        return progress

    def _train_epoch(self) -> dict[str, float]:
        self.policy.train()
        total = math.ceil(len(self.train) / self.config.batch_size)
        objective = succeeded = actions = seen = 0.0
        for done, drawn in enumerate(batches(self.train, self.config.batch_size, permutations(self.generator))):
            self._set_learning_rate(self.progress.epoch + done / total)
            batch = self.vary(drawn)
            value, execution = self.update(batch)
            seen += len(batch)
            objective += value * len(batch)
            succeeded += int(((execution.final.numpy() == batch.goal).all(-1) & execution.stopped.numpy()).sum())
            actions += int(execution.alive.sum())
            if self.watch:
                self.watch.batch(done + 1, total, objective / seen)
        return {
            "objective": objective / seen,
            "train_inst": math.nan if self.learner.demonstrated else 100 * succeeded / seen,
            "actions": actions / seen,
        }

    def vary(self, batch: Turns) -> Turns:
        """The batch as it is seen this time: with other names, and some words forgotten."""
        if self.symmetry:
            choice = torch.randint(len(self.symmetry), (len(batch),), generator=self.generator)  # [batch]
            batch = self.symmetry.rename(batch, choice.numpy())
        if self.config.word_dropout:
            dropped = torch.rand(batch.words.shape, generator=self.generator) < self.config.word_dropout  # [batch, words]
            batch = drop_words(batch, dropped.numpy())
        return batch

    def update(self, batch: Turns) -> tuple[float, Execution]:
        """Roll in, observe the rewards, and take one step up the objective."""
        learner = self.learner
        execution, observed = self.roll_in(batch, learner)
        gained = learner.objective(execution, observed)  # [batch]
        if self.teacher is not None:
            gained = torch.lerp(gained, self.teacher.agreement(batch, execution), self.config.taught)
        objective = gained.mean()
        self.optimiser.zero_grad()
        (-objective).backward()
        if self.config.clip:
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.clip)
        self.optimiser.step()
        self.progress.updates += 1
        if self.config.averaging:
            keep = min(self.config.averaging, self.progress.updates / (self.progress.updates + 10))  # forgets the first weights soon
            with torch.no_grad():
                torch._foreach_lerp_(list(self.average.parameters()), list(self.policy.parameters()), 1 - keep)
        return float(objective.detach()), execution

    @property
    def learner(self) -> Learner:
        """Best-action likelihood while training warms up, then the one that was asked for; more robust from epoch to epoch."""
        config, epoch = self.config, self.progress.epoch
        grown = config.robust * min(1, epoch / max(1, config.epochs - 1))
        return LEARNERS["best-action" if epoch < config.warm_up else config.learner](dataclasses.replace(config, robust=grown))

    def roll_in(self, batch: Turns, learner: Learner) -> tuple[Execution, Tensor]:
        """An execution of each instruction, and the reward of every action in every state that it visits."""
        if learner.demonstrated:
            demonstrations = self.tables.demonstrate(batch.initial, batch.goal)  # [batch, steps]
            horizon, choose = demonstrations.shape[1], forced(torch.from_numpy(demonstrations))
        else:
            horizon, choose = self.config.horizon, sampled(self.generator)
            if self.config.guided and not learner.on_policy:
                choose = OracleGuided(self.tables, batch.goal, self.config.guided, self.generator)
        execution = roll_out(self.policy, self.tables, batch, horizon, choose)
        last = np.arange(len(execution.states))[:, None] == horizon - 1  # [steps, 1]
        states, settings = execution.states.numpy(), self.config  # [steps, batch, slots]
        goals = np.broadcast_to(batch.goal, states.shape)  # [steps, batch, slots]
        observed = rewards(self.tables, states, goals, verbosity=settings.verbosity, shaping=settings.shaping, at_horizon=last)
        return execution, torch.from_numpy(observed)  # [steps, batch, actions]

    def _set_learning_rate(self, epoch: float) -> None:
        remaining = (1 + math.cos(math.pi * epoch / self.config.epochs)) / 2
        for group in self.optimiser.param_groups:
            group["lr"] = self.config.learning_rate * (self.config.decay + (1 - self.config.decay) * remaining)

    def _validate(self) -> dict[str, float]:
        """Measure the policy on validation; keep it if none was better since models may be chosen, and count patience."""
        self.average.eval()
        config, progress = self.config, self.progress
        result = evaluate(self.average, self.tables, self.validation, horizon=config.execution_horizon, verbosity=config.verbosity)
        record = {"reward": result.reward, "inst": result.inst.percent, "utts3": result.utts3.percent, "utts5": result.utts5.percent}
        score = result.utts5.percent if result.utts5.trials else result.inst.percent
        if score > progress.best_score or progress.epoch == self._first_chosen:
            progress.best_score, progress.best_epoch = score, progress.epoch + 1
            checkpoint.save(self.folder.model, self.average.state_dict(), {"epoch": progress.best_epoch, "validation": record})
        if result.reward > progress.best_reward:
            progress.best_reward = result.reward
            progress.improvements += 1
            progress.patience = config.patience * PATIENCE_GROWTH**progress.improvements
        else:
            progress.patience -= 1
        return record

    @property
    def _first_chosen(self) -> int:
        """The first epoch, counted from 0, whose model may be chosen; what was chosen before it is forgotten."""
        config = self.config
        return max(config.warm_up, min(round(config.chosen_after * config.epochs), config.epochs - 1))

    # Checkpoints.

    def _save(self) -> None:
        state = self.optimiser.state_dict()["state"]
        tensors = {
            **{f"policy.{name}": value for name, value in self.policy.state_dict().items()},
            **({f"average.{name}": value for name, value in self.average.state_dict().items()} if self.config.averaging else {}),
            **{f"optimiser.{number}.{name}": value for number, values in state.items() for name, value in values.items()},
            "generator.state": self.generator.get_state(),
        }
        checkpoint.save(self.folder.checkpoint(self.progress.epoch), tensors, dataclasses.asdict(self.progress))
        self.folder.forget_old_checkpoints()
        self._write_metrics()

    def _write_metrics(self) -> None:
        write_text(self.folder.metrics, "".join(f"{to_json(record)}\n" for record in self.progress.history))

    def resume(self) -> list[str]:
        """Continue from the newest checkpoint that is whole; returns what is wrong with newer ones."""
        complaints: list[str] = []
        self.folder.forget_unfinished_files()
        for path in self.folder.checkpoints():
            try:
                self._restore(*checkpoint.load(path))
            except checkpoint.CheckpointError as error:
                complaints.append(str(error))
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                complaints.append(f"{path}: does not fit this run ({error})")
            else:
                self._write_metrics()  # the run may have been killed before it came to that
                return complaints
        if complaints:
            advice = f"{self.folder.path}: no checkpoint is left to resume from; start the run anew in another folder"
            raise InputError("\n".join([*complaints, advice]))
        return []

    def _restore(self, tensors: dict[str, Tensor], info: dict[str, Any]) -> None:
        if info.get("teacher", self.progress.teacher) != self.progress.teacher:
            raise InputError(f"--teacher {self.config.teacher}: is not the one that the run began with")
        parts: dict[str, dict[str, Tensor]] = {"policy": {}, "average": {}, "optimiser": {}, "generator": {}}
        for name, tensor in tensors.items():
            part, _, rest = name.partition(".")
            parts[part][rest] = tensor
        self.policy.load_state_dict(parts["policy"])
        if self.config.averaging:
            self.average.load_state_dict(parts["average"])
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in parts["optimiser"].items():
            number, _, key = name.partition(".")
            state.setdefault(int(number), {})[key] = tensor
        if any("square_avg" in values for values in state.values()):
            raise ValueError("an earlier version wrote it, whose RMSProp kept other means")
        self.optimiser.load_state_dict({"state": state, "param_groups": self.optimiser.state_dict()["param_groups"]})
        self.generator.set_state(parts["generator"]["state"])
        self.progress = Progress(**info)


def permutations(generator: torch.Generator) -> Permutation:
    """Random orders that the generator decides."""
    return lambda count: torch.randperm(count, generator=generator).numpy()


def _optimiser(config: TrainConfig, policy: torch.nn.Module) -> torch.optim.Optimizer:
    if config.optimiser == "adam":
        return torch.optim.Adam(policy.parameters(), config.learning_rate, fused=True)
    return rmsprop(policy, config.learning_rate, config.smoothing)


def rmsprop(policy: torch.nn.Module, learning_rate: float, smoothing: float) -> torch.optim.Optimizer:
    """RMSProp in a third of torch's own time: Adam's kernel, without momentum and so many steps on that it no longer corrects any bias."""
    optimiser = torch.optim.Adam(policy.parameters(), learning_rate, betas=(0.0, smoothing), fused=True)
    for parameter in policy.parameters():
        means = {name: torch.zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}
        optimiser.state[parameter] = {"step": torch.tensor(STEPS_ON), **means}
    return optimiser
