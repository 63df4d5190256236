"""Training as in supplementary D: epochs, validation, patience, model selection, and checkpoints that resume to the same bits."""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from sestra.agent.evaluation import Evaluation, evaluate
from sestra.data.augment import SymbolRenamings, drop_words
from sestra.data.batch import LENGTH_BUCKET, Turns, batches
from sestra.data.scone import Interaction
from sestra.errors import InputError
from sestra.io import build
from sestra.learning import checkpoint, optim
from sestra.learning.callbacks import Callback
from sestra.learning.config import TrainConfig
from sestra.learning.critic import Critic
from sestra.learning.decoding import OracleGuided, forced, sampled
from sestra.learning.device import on_device
from sestra.learning.execution import Execution
from sestra.learning.exploration import Exploration
from sestra.learning.export import load_weights
from sestra.learning.learners.base import Learner, average
from sestra.learning.learners.best_action import BestAction
from sestra.learning.learners.registry import LEARNERS
from sestra.learning.progress import Permutations, Progress, Sums, score
from sestra.learning.rollout import execute_greedily, roll_out
from sestra.learning.run_folder import RunFolder
from sestra.learning.training_data import TrainingData
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world

PATIENCE_GROWTH = 1.005


class Observed(NamedTuple):
    """What a learner learns from in one update."""

    execution: Execution
    rewards: Tensor  # [steps, batch, actions]: the reward of every action in every visited state, or what the learner observes instead
    own: Tensor  # [batch]: whether the policy itself chose all actions of the execution, and not an oracle or a demonstration
    observations: int
    """How many rewards, or actions of an oracle, the learner was told."""


class Update(NamedTuple):
    """One update of the weights."""

    objective: float
    execution: Execution
    own: Tensor
    observations: int


class Trainer:
    """One run: its data as tensors, the policy, the optimiser and how far they have come."""

    callback: Callback | None = None
    checkpoint_seconds = 600.0
    """After which a checkpoint is also written within an epoch."""
    stop_requested = False
    """Whether to write a checkpoint after the batch and return."""

    def __init__(self, config: TrainConfig, interactions: Sequence[Interaction], folder: RunFolder, device: str = "cpu") -> None:
        self.config, self.folder = config, folder
        self.tables = compile_world(get_world(config.world))
        self.data = TrainingData(config, interactions, self.tables)
        self.vocabulary, self.train, self.validation = self.data.vocabulary, self.data.epoch(0), self.data.validation
        self.renamings = SymbolRenamings(self.tables, self.vocabulary) if config.data.rename_symbols else None
        torch.manual_seed(config.seed)
        self.generator = torch.default_generator  # initial weights and dropout draw from it, so everything does
        policy = config.build_policy(self.tables, self.vocabulary)
        if config.init_from:
            load_weights(policy, config.init_from)
        self.policy = on_device(policy, device)
        self.average = copy.deepcopy(self.policy).requires_grad_(False) if config.optimisation.ema_decay else self.policy
        self.critic = self._critic() if getattr(config.learner, "uses_critic", False) else None
        self.optimiser = optim.make_optimiser(config.optimisation, self.policy.parameters())
        self.updates_per_epoch = math.ceil(len(self.train) / config.optimisation.batch_size)
        self.epochs = max(config.optimisation.epochs, math.ceil(config.optimisation.min_updates / self.updates_per_epoch))
        self.warm_up_epochs = min(round(config.optimisation.warm_up_fraction * self.epochs), self.epochs - 1)  # not the last
        self.progress = Progress(teacher=self.data.teacher.checksum if self.data.teacher else "")
        self.best: dict[str, Tensor] = {}
        """The weights of the best epoch."""
        self.permutations = Permutations(self.generator)
        self._clock = self._saved = time.perf_counter()
        self._run = ""

    def _critic(self) -> Critic:
        """The critic, with fresh weights of its own."""
        return Critic(self.config.build_policy(self.tables, self.vocabulary), self.config.optimisation)

    @property
    def unfinished(self) -> bool:
        """Whether epochs and patience are left."""
        return self.progress.epoch < self.epochs and self.progress.patience > 0

    def run(self) -> Progress:
        """Train until the last epoch, until patience runs out, or until the callback or a request says to stop.

        A checkpoint is written after every epoch, and where it stops.
        """
        progress = self.progress
        self._clock = self._saved = time.perf_counter()
        self._run = self.folder.check()
        while self.unfinished and not self.stop_requested:
            self._train_epoch()
            if self.stop_requested:
                self._save()
                self._write_results()
                break
            validated = self._validate()
            progress.history.append({"epoch": progress.epoch + 1, **progress.sums.record, **validated})
            self._keep_if_best(validated)
            self._count_patience(validated["reward"])
            progress.epoch, progress.sums = progress.epoch + 1, Sums()
            self.permutations.drawn.clear()
            self._save()
            self._write_results()
            if self.callback and self.callback.on_epoch_end({**progress.history[-1], "seconds": progress.times[-1]}):
                break
        return progress

    def _train_epoch(self) -> None:
        """To its end, or to where it is asked to stop."""
        self.policy.train()
        settings, sums = self.config.optimisation, self.progress.sums
        if self.progress.epoch:
            self.train = self.data.epoch(self.progress.epoch)
        total = math.ceil(len(self.train) / settings.batch_size)
        bucket = 1 if settings.batch_order == "random" else LENGTH_BUCKET
        for done, drawn in enumerate(batches(self.train, settings.batch_size, self.permutations.replayed(), bucket)):
            if done < sums.batches:  # before the run was resumed
                continue
            if self.stop_requested:
                return
            if time.perf_counter() - self._saved >= self.checkpoint_seconds:
                self._save()
            for group in self.optimiser.param_groups:
                group["lr"] = optim.scheduled_learning_rate(settings, self.progress.epoch + done / total, self.epochs)
            batch = self.augment(drawn)
            update = self.update(batch)
            execution = update.execution
            right = torch.from_numpy((execution.final.numpy() == batch.goal).all(-1))  # [batch]
            sums.batches += 1
            sums.instructions += len(batch)
            sums.objective += update.objective * len(batch)
            sums.own += int(update.own.sum())
            sums.succeeded += int((right & execution.stopped & update.own).sum())
            sums.actions += int(execution.alive.sum())
            sums.observations += update.observations
            if self.callback:
                self.callback.on_batch_end(done + 1, total, sums.objective / sums.instructions)

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
        observed = self.execute(batch, learner)
        execution = observed.execution
        values = learner.objective(execution, observed.rewards)  # [steps, batch]
        if values.shape != execution.alive.shape:
            shapes = f"a tensor of the shape {tuple(values.shape)}; expected one value per step, {tuple(execution.alive.shape)}"
            raise InputError(f"learner {LEARNERS.reference(type(learner))!r}: its objective gives {shapes} (steps, batch)")
        gained = average(values, execution, settings.normalisation)  # [batch]
        objective = gained.mean()
        self._check_finite("objective", objective)
        self.optimiser.zero_grad()
        (-objective).backward()
        weights = list(self.policy.parameters())
        norm = torch.nn.utils.get_total_norm([each.grad for each in weights if each.grad is not None])
        self._check_finite("norm of the gradient", norm)
        if settings.max_grad_norm:
            torch.nn.utils.clip_grads_with_norm_(weights, settings.max_grad_norm, norm)
        self.optimiser.step()
        if self.critic:
            self.critic.update(self.optimiser.param_groups[0]["lr"])
            weights += self.critic.network.parameters()
        self._check_finite("norm of the weights", torch.nn.utils.get_total_norm(weights))
        self.progress.updates += 1
        if settings.ema_decay:
            optim.update_average(self.average.parameters(), self.policy.parameters(), settings.ema_decay, self.progress.updates)
        return Update(float(objective.detach()), execution, observed.own, observed.observations)

    def _check_finite(self, name: str, value: Tensor) -> None:
        """Raise InputError if training has diverged; the last checkpoint is from before that."""
        if math.isfinite(float(value.detach())):
            return
        settings, progress = self.config.optimisation, self.progress
        clipping = f"a lower --max-grad-norm than {settings.max_grad_norm:g}" if settings.max_grad_norm else "--max-grad-norm 1"
        raise InputError(
            f"{self.folder.path}: in epoch {progress.epoch + 1}, batch {progress.sums.batches + 1}, the {name} is {float(value.detach())}: "
            f"training has diverged; start another run with a lower --learning-rate than {settings.learning_rate:g}, or with {clipping}; "
            "the last checkpoint before it is kept"
        )

    @property
    def learner(self) -> Learner:
        """Best-action likelihood in the warm-up epochs, then the configured learner."""
        return BestAction() if self.progress.epoch < self.warm_up_epochs else self.config.learner

    def execute(self, batch: Turns, learner: Learner) -> Observed:
        """Execute the instructions as the learner wants it, and observe what it learns from."""
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
        if self.critic and getattr(learner, "uses_critic", False):
            execution = dataclasses.replace(execution, estimates=self.critic.estimate(self.tables, batch, execution))
        exploration = Exploration(self.policy, self.tables, batch, horizon, execution, settings, self.generator)
        observe: Callable[[Exploration], Tensor] = getattr(learner, "observe", Exploration.rewards)
        observed = observe(exploration)  # [steps, batch, actions]
        if learner.on_policy or learner.uses_demonstrations:  # the others' rewards are there, but are not looked at
            exploration.observations = int(execution.alive.sum())
        return Observed(execution, observed, own, exploration.observations)

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
        """Keep the weights if they are the best since the warm-up, whose models are another learner's."""
        progress = self.progress
        if score(record) > progress.best_score or progress.epoch == self.warm_up_epochs:
            progress.best_epoch = progress.epoch + 1
            self.best = {name: value.detach().clone() for name, value in self.average.state_dict().items()}

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
        """Write a checkpoint, from which all other files of the run can be written."""
        self._count_time()
        progress = self.progress
        tensors = {
            **{f"policy.{name}": value for name, value in self.policy.state_dict().items()},
            **({f"average.{name}": value for name, value in self.average.state_dict().items()} if self.average is not self.policy else {}),
            **{f"best.{name}": value for name, value in self.best.items()},
            **({f"critic.{name}": value for name, value in self.critic.tensors().items()} if self.critic else {}),
            **{f"optimiser.{name}": value for name, value in optim.state_tensors(self.optimiser, self.policy).items()},
            **{f"permutations.{number}": drawn for number, drawn in enumerate(self.permutations.drawn)},
            "generator.state": self.generator.get_state(),
        }
        info = {"run": self._run, **dataclasses.asdict(progress)}
        checkpoint.save(self.folder.checkpoint(progress.epoch, progress.sums.batches), tensors, info)
        self.folder.remove_old_checkpoints()

    def _count_time(self) -> None:
        now, progress = time.perf_counter(), self.progress
        progress.seconds, self._clock, self._saved = progress.seconds + now - self._clock, now, now
        if len(progress.times) < progress.epoch:
            progress.times.append(round(progress.seconds, 2))

    def _write_results(self) -> None:
        """Write what people and other programs read: the selected model, if it is not there yet, and the metrics."""
        progress, model = self.progress, self.folder.model
        if progress.best_epoch:
            best = progress.history[progress.best_epoch - 1]
            validation = {name: best[name] for name in ("reward", "inst", "utts3", "utts5")}
            info = {"run": self._run, "epoch": progress.best_epoch, "validation": validation}
            if not _holds(model, checkpoint.checksum_of(self.best, info)):
                checkpoint.save(model, self.best, info)
        self.folder.write_results(progress.history, progress.times)

    def resume(self) -> list[str]:
        """Continue from the newest checkpoint that is whole; returns what is wrong with newer ones.

        The selected model, the metrics and the manifest are written anew where they are missing, damaged or of another epoch.
        """
        complaints: list[str] = []
        run = self._run = self.folder.check()
        self.folder.remove_unfinished_files()
        for path in self.folder.checkpoints():
            try:
                self._restore(path, run)
            except checkpoint.CheckpointError as error:
                complaints.append(str(error))
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                complaints.append(f"{path}: does not fit this run ({error})")
            else:
                self._write_results()
                return complaints
        if complaints:
            found = "; ".join(complaints)
            raise InputError(f"{self.folder.path}: no checkpoint is left to resume from ({found}); start the run anew in another folder")
        return []

    def _restore(self, path: Path, run: str) -> None:
        tensors, info = checkpoint.load(path, 12 * checkpoint.size(self.policy) + (64 << 20))
        if info.pop("run", None) != run:
            raise checkpoint.CheckpointError(f"{path}: is the checkpoint of another run; put it back where it was")
        if info.get("teacher", self.progress.teacher) != self.progress.teacher:
            raise InputError(f"--teacher {self.config.teacher}: is not the one that the run began with")
        progress: Progress = build(Progress, info, str(path))
        names = ("policy", "average", "best", "critic", "optimiser", "permutations", "generator")
        parts: dict[str, dict[str, Tensor]] = {name: {} for name in names}
        for name, tensor in tensors.items():
            part, _, rest = name.partition(".")
            parts[part][rest] = tensor
        if progress.best_epoch:
            checkpoint.restore(self.average, parts["best"], path, "the run")
        if self.average is not self.policy:
            checkpoint.restore(self.average, parts["average"], path, "the run")
        checkpoint.restore(self.policy, parts["policy"], path, "the run")
        if self.critic:
            self.critic.restore(parts["critic"])
        optim.restore_state(self.optimiser, self.policy, parts["optimiser"])
        self.permutations.drawn = [parts["permutations"][str(number)] for number in range(len(parts["permutations"]))]
        self.generator.set_state(parts["generator"]["state"])
        self.best, self.progress = parts["best"], progress


def _holds(model: Path, checksum: str) -> bool:
    """Whether the file is there and whole, and has that checksum."""
    try:
        return checkpoint.checksum(model) == checksum
    except checkpoint.CheckpointError:
        return False
