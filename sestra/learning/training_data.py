"""What is learnt from: annotated turns, some of them with a teacher's goals, and turns that are generated anew for every epoch."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence
from itertools import islice

import numpy as np

from sestra.agent import folder as agent_folder
from sestra.data.batch import Turns, concatenate, encode_turns
from sestra.data.scone import Interaction
from sestra.data.synthetic import broadened, to_interaction
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.learning.config import FOLDS, TrainConfig
from sestra.learning.learners.distillation import DISTILLATION_WEIGHT, Teacher, find
from sestra.worlds.tables import Tables

VALIDATION_SEED, FIRST_SEED = 1000, 1001
"""Of generated interactions: those to validate on, and those of the first epoch. No seed of generated splits is as large."""
GENERATED_VALIDATION = 400
"""Generated interactions to validate on."""
VOCABULARY_EPOCHS = 5
"""How many epochs' generated interactions the vocabulary is made from, beside the annotated ones."""


class TrainingData:
    """The turns of a run, split into train and validation; the vocabulary has the words of train alone."""

    def __init__(self, config: TrainConfig, interactions: Sequence[Interaction], tables: Tables) -> None:
        self.config, self.tables = config, tables
        train, validation = split_validation(interactions, config.data.validation_fraction, tables.world.name, config.data.fold)
        self.interactions, self.held_out = train, validation
        generated = [interaction for epoch in range(VOCABULARY_EPOCHS) for interaction in self._generate(FIRST_SEED + epoch)]
        texts = (text for interaction in (*train, *generated) for text in interaction.instructions)
        self.vocabulary = initial_vocabulary(config) or Vocabulary.of(texts, config.data.min_word_count)
        self.annotated = encode_turns(train, self.vocabulary, tables)
        self.validation = encode_turns(validation, self.vocabulary, tables)
        if not len(self.annotated) or not len(self.validation):
            raise InputError(
                "too few instructions whose start and goal are both known; at least one to train on and one to validate are needed"
            )
        self.generated_validation = self._generated_turns(VALIDATION_SEED, GENERATED_VALIDATION) if config.data.generated else None
        self.teacher = Teacher.load(config.teacher, config.world) if config.teacher else None
        self._goals = self.teacher.goals(train) if self.teacher else None  # [executions, turns, slots]

    def epoch(self, number: int) -> Turns:
        """The turns of an epoch, counted from 0: the same whenever it is asked for."""
        turns = self.annotated
        if self._goals is not None:
            generator = np.random.default_rng([self.config.seed, number])
            taught = generator.random(len(turns)) < DISTILLATION_WEIGHT  # [turns]
            execution = generator.integers(len(self._goals), size=len(turns))  # [turns]
            theirs = self._goals[execution, np.arange(len(turns))]  # [turns, slots]
            turns = dataclasses.replace(turns, goal=np.where(taught[:, None], theirs, turns.goal))
        if self.config.data.generated:
            turns = concatenate(turns, self._generated_turns(FIRST_SEED + number, self.config.data.generated))
        return turns

    def _generated_turns(self, seed: int, count: int) -> Turns:
        return encode_turns(self._generate(seed, count), self.vocabulary, self.tables)

    def _generate(self, seed: int, count: int | None = None) -> list[Interaction]:
        count = self.config.data.generated if count is None else count
        return [to_interaction(context) for context in islice(broadened(self.config.world, seed=seed), count)] if count else []


def initial_vocabulary(config: TrainConfig) -> Vocabulary | None:
    """That of the agent whose weights training begins with, if there is one."""
    return agent_folder.read(find(config.init_from, "init_from")).vocabulary if config.init_from else None


def split_validation(
    interactions: Sequence[Interaction], fraction: float, world: str, fold: int = 0
) -> tuple[list[Interaction], list[Interaction]]:
    """Train and validation parts; which interactions are held out depends on the world alone, and on the fold of a cross-validation."""
    import torch

    if len(interactions) < 2:
        raise InputError(f"{len(interactions)} interactions to train on; at least 2 are needed, one of them for validation")
    generator = torch.Generator().manual_seed(zlib.crc32(world.encode()))
    order = torch.randperm(len(interactions), generator=generator).tolist()
    size = min(max(1, round(fraction * len(interactions))), len(interactions) - 1)
    held_out = set(order[fold - 1 :: FOLDS] if fold else order[:size])
    if not held_out:
        raise InputError(f"--fold {fold}: of {len(interactions)} interactions none is in it; at least {fold} are needed")
    train = [interaction for number, interaction in enumerate(interactions) if number not in held_out]
    return train, [interactions[number] for number in sorted(held_out)]
