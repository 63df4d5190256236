"""Training as in supplementary D: epochs, validation, patience, model selection, and checkpoints that resume to the same bits."""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from sestra.agent.evaluation import Evaluation, evaluate
from sestra.data.augment import SymbolRenamings, drop_words
from sestra.data.batch import LENGTH_BUCKET, Permutation, Turns, batches
from sestra.data.scone import Interaction
from sestra.errors import InputError
from sestra.io import to_json, write_text
from sestra.learning import checkpoint, optim
from sestra.learning.config import TrainConfig
from sestra.learning.decoding import OracleGuided, forced, sampled
from sestra.learning.execution import Execution
from sestra.learning.learners.base import Learner, average
from sestra.learning.learners.best_action import BestAction
from sestra.learning.learners.registry import LEARNERS
from sestra.learning.rollout import execute_greedily, roll_out
from sestra.learning.run_folder import RunFolder
from sestra.learning.training_data import TrainingData
from sestra.metrics import selection_score
from sestra.worlds import get_world
from sestra.worlds.reward import rewards
from sestra.worlds.tables import compile_world

PATIENCE_GROWTH = 1.005


class Callback(Protocol):
    """For progress bars and logs."""

    def on_batch_end(self, done: int, total: int, objective: float) -> None: ...

    def on_epoch_end(self, record: dict[str, Any]) -> None: ...


class Update(NamedTuple):
    """One update of the weights."""

    objective: float
    execution: Execution
    own: Tensor  # [batch]: whether the policy itself chose all actions of the execution, and not an oracle or a demonstration


@dataclass
class Progress:
    """Where a run stands between two epochs: everything that is not a tensor."""

    epoch: int = 0
    updates: int = 0
    improvements: int = 0
    patience: float = math.inf
    best_reward: float = -math.inf
    best_epoch: int = 0
    teacher: str = ""
    """The checksum of the teacher's weights, if there is one."""
    history: list[dict[str, Any]] = field(default_factory=list)

    @property
    def best_score(self) -> tuple[float, ...]:
        """What the selected model scored on validation, whole interactions first."""
        return score(self.history[self.best_epoch - 1]) if self.best_epoch else (-math.inf,)


def score(record: dict[str, Any]) -> tuple[float, ...]:
    """By what models are chosen; where there are generated instructions to validate on, they count as much as the annotated ones."""
    interactions, *rest = selection_score(record["inst"], record["utts5"], record["reward"])
    generated = record.get("generated")
    return (interactions if generated is None else (interactions + generated) / 2, *rest)


class Trainer:
    """One run: its data as tensors, the policy, the optimiser and how far they have come."""

    callback: Callback | None = None

    def __init__(self, config: TrainConfig, interactions: Sequence[Interaction], folder: RunFolder) -> None:
        self.config, self.folder = config, folder
        self.tables = compile_world(get_world(config.world))
        self.data = TrainingData(config, interactions, self.tables)
        self.vocabulary, self.train, self.validation = self.data.vocabulary, self.data.epoch(0), self.data.validation
        self.renamings = SymbolRenamings(self.tables, self.vocabulary) if config.data.rename_symbols else None
        torch.manual_seed(config.seed)
        self.generator = torch.default_generator  # initial weights and dropout draw from it, so everything does
        self.policy = config.build_policy(self.tables, self.vocabulary)
        self.average = copy.deepcopy(self.policy).requires_grad_(False) if config.optimisation.ema_decay else self.policy
        self.optimiser = optim.make_optimiser(config.optimisation, self.policy.parameters())
        self.updates_per_epoch = math.ceil(len(self.train) / config.optimisation.batch_size)
        self.epochs = max(config.optimisation.epochs, math.ceil(config.optimisation.min_updates / self.updates_per_epoch))
        self.warm_up_epochs = min(round(config.optimisation.warm_up_fraction * self.epochs), self.epochs - 1)  # not the last
        self.progress = Progress(teacher=self.data.teacher.checksum if self.data.teacher else "")

    @property
    def unfinished(self) -> bool:
        """Whether epochs and patience are left."""
        return self.progress.epoch < self.epochs and self.progress.patience > 0

    def run(self) -> Progress:
        """Train until the last epoch or until patience runs out; a checkpoint after every epoch."""
        progress = self.progress
        while self.unfinished:
            began = time.perf_counter()
            record = self._train_epoch()
            validated = self._validate()
            self._keep_if_best(validated)
            self._count_patience(validated["reward"])
            record |= validated
            before = progress.history[-1]["seconds"] if progress.history else 0.0
            progress.epoch += 1
            progress.history.append({"epoch": progress.epoch, **record, "seconds": round(before + time.perf_counter() - began, 2)})
            self._save()
            if self.callback:
                self.callback.on_epoch_end(progress.history[-1])
        return progress

    def _train_epoch(self) -> dict[str, float]:
        self.policy.train()
        settings = self.config.optimisation
        if self.progress.epoch:
            self.train = self.data.epoch(self.progress.epoch)
        total = math.ceil(len(self.train) / settings.batch_size)
        objective = succeeded = own = actions = seen = 0.0
        bucket = 1 if settings.batch_order == "random" else LENGTH_BUCKET
        for done, drawn in enumerate(batches(self.train, settings.batch_size, permutations(self.generator), bucket)):
            for group in self.optimiser.param_groups:
                group["lr"] = optim.scheduled_learning_rate(settings, self.progress.epoch + done / total, self.epochs)
            batch = self.augment(drawn)
            update = self.update(batch)
            execution = update.execution
            seen += len(batch)
            objective += update.objective * len(batch)
            own += int(update.own.sum())
            right = torch.from_numpy((execution.final.numpy() == batch.goal).all(-1))  # [batch]
            succeeded += int((right & execution.stopped & update.own).sum())
            actions += int(execution.alive.sum())
            if self.callback:
                self.callback.on_batch_end(done + 1, total, objective / seen)
        return {
            "objective": objective / seen,
            "train_inst": 100 * succeeded / own if own else math.nan,
            "actions": actions / seen,
        }

    def augment(self, batch: Turns) -> Turns:
        """The batch with symbols renamed and words dropped, if the settings say so."""
        if self.renamings:
            choice = torch.randint(len(self.renamings), (len(batch),), generator=self.generator)  # [batch]
            batch = self.renamings.rename(batch, choice.numpy())
        if self.config.data.word_dropout:
            dropped = torch.rand(batch.words.shape, generator=self.generator) < self.config.data.word_dropout  # [batch, words]
            batch = drop_words(batch, dropped.numpy())
        return batch

    def update(self, batch: Turns) -> Update:
        """Execute the instructions, observe the rewards, and take one step up the objective."""
        learner, settings = self.learner, self.config.optimisation
        execution, observed, own = self.execute(batch, learner)
        values = learner.objective(execution, observed)  # [steps, batch]
        if values.shape != execution.alive.shape:
            shapes = f"a tensor of the shape {tuple(values.shape)}; expected one value per step, {tuple(execution.alive.shape)}"
            raise InputError(f"learner {LEARNERS.reference(type(learner))!r}: its objective gives {shapes} (steps, batch)")
        gained = average(values, execution, settings.normalisation)  # [batch]
        objective = gained.mean()
        self.optimiser.zero_grad()
        (-objective).backward()
        if settings.max_grad_norm:
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), settings.max_grad_norm)
        self.optimiser.step()
        self.progress.updates += 1
        if settings.ema_decay:
            optim.update_average(self.average.parameters(), self.policy.parameters(), settings.ema_decay, self.progress.updates)
        return Update(float(objective.detach()), execution, own)

    @property
    def learner(self) -> Learner:
        """Best-action likelihood in the warm-up epochs, then the configured learner."""
        return BestAction() if self.progress.epoch < self.warm_up_epochs else self.config.learner

    def execute(self, batch: Turns, learner: Learner) -> tuple[Execution, Tensor, Tensor]:
        """Executions, the reward of every action in every state that they visit, and which of them the policy chose itself (``Update``)."""
        settings = self.config.rollout
        own = torch.full((len(batch),), not learner.uses_demonstrations)  # [batch]
        if learner.uses_demonstrations:
            demonstrations = self.tables.demonstrate(batch.initial, batch.goal)  # [batch, steps]
            horizon, choose = demonstrations.shape[1], forced(torch.from_numpy(demonstrations))
        else:
            horizon, choose = settings.horizon, sampled(self.generator)
            if settings.oracle_fraction and not learner.on_policy:
                choose = oracle = OracleGuided(self.tables, batch.goal, settings.oracle_fraction, self.generator)
                own = ~oracle.guided
        execution = roll_out(self.policy, self.tables, batch, horizon, choose)
        states = execution.states.numpy()  # [steps, batch, slots]
        goals, last = np.broadcast_to(batch.goal, states.shape), np.arange(len(states))[:, None] == horizon - 1  # [steps, 1]
        at_horizon = last if settings.horizon_penalty else False
        observed = rewards(self.tables, states, goals, verbosity=settings.verbosity, shaping=settings.shaping, at_horizon=at_horizon)
        return execution, torch.from_numpy(observed), own  # [steps, batch, actions], [batch]

    def _validate(self) -> dict[str, float]:
        self.average.eval()
        result = self._evaluate(self.validation)
        record = {"reward": result.reward, "inst": result.inst.percent, "utts3": result.utts3.percent, "utts5": result.utts5.percent}
        if self.data.generated_validation is not None:
            record["generated"] = self._evaluate(self.data.generated_validation).inst.percent
        return record

    def _evaluate(self, turns: Turns) -> Evaluation:
        settings = self.config.rollout
        return evaluate(
            lambda some: execute_greedily(self.average, self.tables, some, settings.execution_horizon),
            self.tables,
            turns,
            batch_size=self.average.evaluation_batch_size,
            verbosity=settings.verbosity,
        )

    def _keep_if_best(self, record: dict[str, float]) -> None:
        """Save the model if it is the best since the warm-up, whose models are another learner's."""
        progress = self.progress
        if score(record) > progress.best_score or progress.epoch == self.warm_up_epochs:
            progress.best_epoch = progress.epoch + 1
            checkpoint.save(self.folder.model, self.average.state_dict(), {"epoch": progress.best_epoch, "validation": record})

    def _count_patience(self, reward: float) -> None:
        """Not in the warm-up: the learner has to run."""
        progress = self.progress
        if progress.epoch < self.warm_up_epochs:
            return
        if reward > progress.best_reward:
            progress.best_reward = reward
            progress.improvements += 1
            progress.patience = self.config.selection.patience * PATIENCE_GROWTH**progress.improvements
        else:
            progress.patience -= 1

    # Checkpoints.

    def _save(self) -> None:
        tensors = {
            **{f"policy.{name}": value for name, value in self.policy.state_dict().items()},
            **({f"average.{name}": value for name, value in self.average.state_dict().items()} if self.average is not self.policy else {}),
            **{
                f"optimiser.{key}.{name}": value
                for name, parameter in self.policy.named_parameters()
                for key, value in self.optimiser.state[parameter].items()
            },
            "generator.state": self.generator.get_state(),
        }
        checkpoint.save(self.folder.checkpoint(self.progress.epoch), tensors, dataclasses.asdict(self.progress))
        self.folder.remove_old_checkpoints()
        self._write_metrics()

    def _write_metrics(self) -> None:
        write_text(self.folder.metrics, "".join(f"{to_json(record)}\n" for record in self.progress.history))

    def resume(self) -> list[str]:
        """Continue from the newest checkpoint that is whole; returns what is wrong with newer ones."""
        complaints: list[str] = []
        self.folder.remove_unfinished_files()
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
        if any(name.startswith("optimiser.0.") for name in tensors):
            raise ValueError("version 0.1 of sestra wrote it; continue the run with that version")
        self.policy.load_state_dict(parts["policy"])
        if self.average is not self.policy:
            self.average.load_state_dict(parts["average"])
        numbers = {name: number for number, (name, _) in enumerate(self.policy.named_parameters())}
        state: dict[int, dict[str, Tensor]] = {}
        for place, tensor in parts["optimiser"].items():
            key, _, name = place.partition(".")
            state.setdefault(numbers[name], {})[key] = tensor
        self.optimiser.load_state_dict({"state": state, "param_groups": self.optimiser.state_dict()["param_groups"]})
        self.generator.set_state(parts["generator"]["state"])
        self.progress = Progress(**info)


def permutations(generator: torch.Generator) -> Permutation:
    """Random orders that the generator decides."""
    return lambda count: torch.randperm(count, generator=generator).numpy()
