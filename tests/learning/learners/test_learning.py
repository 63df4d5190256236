"""Learning, tested by learning: each learner follows unseen instructions in a toy world after a few seconds."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from lamps import Lamps, interactions
from small_runs import measure

from sestra.data.batch import encode_turns
from sestra.data.sources import Source
from sestra.learning.config import preset
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.policies.objects.config import ObjectConfig
from sestra.learning.policies.registry import PolicyConfig
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.learning.trainer import Trainer
from sestra.worlds import WORLDS


class Lesson(NamedTuple):
    turns: int
    """Instructions in an interaction; with two, the second may refer to the first."""
    epochs: int
    batch_size: int
    learning_rate: float
    wanted: float
    """Per cent of single instructions that must be right."""
    policy: PolicyConfig = AttentionConfig(embedding=12, hidden=24)
    oracle_fraction: float = 0.0


LESSONS = {
    "sestra": Lesson(turns=2, epochs=8, batch_size=20, learning_rate=0.005, wanted=90),
    "supervised": Lesson(turns=2, epochs=8, batch_size=20, learning_rate=0.005, wanted=90),
    "best-action": Lesson(turns=2, epochs=8, batch_size=20, learning_rate=0.005, wanted=90),
    "best-action of objects": Lesson(2, 8, 20, 0.003, 90, policy=ObjectConfig(embedding=12, size=24, heads=2), oracle_fraction=0.5),
    "sestra of objects": Lesson(2, 8, 20, 0.003, 90, policy=ObjectConfig(embedding=12, size=24, heads=2)),
    "dagger": Lesson(turns=2, epochs=8, batch_size=20, learning_rate=0.005, wanted=90),
    "lols": Lesson(turns=2, epochs=12, batch_size=20, learning_rate=0.005, wanted=90),
    # These see the reward of one action at a time: they are given no context to learn, and more time.
    "contextual-bandit": Lesson(turns=1, epochs=30, batch_size=50, learning_rate=0.002, wanted=80),
    "policy-gradient": Lesson(turns=1, epochs=30, batch_size=50, learning_rate=0.002, wanted=80),
    "contextual-bandit of the authors": Lesson(turns=1, epochs=20, batch_size=50, learning_rate=0.002, wanted=80),
    "actor-critic": Lesson(turns=1, epochs=14, batch_size=50, learning_rate=0.002, wanted=80),
    "mean-actor-critic": Lesson(turns=1, epochs=14, batch_size=50, learning_rate=0.002, wanted=80),
    "sestra-estimator": Lesson(turns=1, epochs=14, batch_size=50, learning_rate=0.002, wanted=80),
    "policy-gradient of the authors": Lesson(turns=1, epochs=20, batch_size=50, learning_rate=0.002, wanted=80),
}


@pytest.mark.parametrize("name", LESSONS)
def test_learner_solves_lamps(monkeypatch, tmp_path, name):
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)
    lesson = LESSONS[name]
    learner = name.split()[0]
    config = preset("authors" if name.endswith("authors") else "paper", "lamps", learner).changed(
        horizon=1 + lesson.turns,
        verbosity=0.0,
        **({"entropy": 0.2} if lesson.turns == 1 else {}),
        learning_rate=lesson.learning_rate,
        batch_size=lesson.batch_size,
        epochs=lesson.epochs,
        policy=lesson.policy,
        oracle_fraction=lesson.oracle_fraction,
    )
    folder = RunFolder(tmp_path / "run")
    training = Trainer(config, interactions(600 // lesson.turns, seed=1, turns=lesson.turns), folder)
    folder.create(config, training.vocabulary, Source("lamps", ""))
    unseen = encode_turns(interactions(200 // lesson.turns, seed=2, turns=lesson.turns), training.vocabulary, training.tables)
    assert measure(training.policy.eval(), training.tables, unseen).inst.percent < 40
    training.run()
    best = load_trained(folder)
    result = measure(best.policy, best.tables, unseen)
    assert result.inst.percent >= lesson.wanted
    assert result.utts5.percent >= lesson.wanted - 10
