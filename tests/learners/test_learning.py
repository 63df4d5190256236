"""Learning, tested by learning: each learner follows instructions in a toy world after a few seconds."""

from __future__ import annotations

import pytest
from lamps import Lamps, interactions

from sestra.config import AttentionConfig, TrainConfig, preset
from sestra.data.batching import encode_turns
from sestra.evaluation import evaluate
from sestra.runs import RunFolder, load_trained
from sestra.training import Training
from sestra.worlds import WORLDS

EPOCHS = {"sestra": 8, "policy-gradient": 20, "contextual-bandit": 20, "supervised": 8}
SOLVED = {"sestra": 95, "policy-gradient": 90, "contextual-bandit": 90, "supervised": 95}
"""Per cent of single instructions."""


@pytest.mark.parametrize("learner", EPOCHS)
def test_learner_solves_lamps(monkeypatch, tmp_path, learner):
    monkeypatch.setitem(WORLDS, "lamps", Lamps)
    config = TrainConfig(
        world="lamps",
        learner=learner,
        optimiser=preset("paper", "lamps", learner).optimiser,
        horizon=3,
        learning_rate=0.005,
        epochs=EPOCHS[learner],
        policy=AttentionConfig(embedding=12, hidden=24),
    )
    folder = RunFolder(tmp_path)
    training = Training(config, interactions(300, seed=1), folder)
    (tmp_path / "checkpoints").mkdir()
    fresh = evaluate(training.policy.eval(), training.tables, training.validation, horizon=5)
    training.run()
    unseen = encode_turns(interactions(100, seed=2), training.vocabulary, training.tables)
    trained = evaluate(training.policy.eval(), training.tables, unseen, horizon=5)
    print(learner, fresh.inst, trained.inst, trained.utts5, training.progress.history[-1])
    assert fresh.inst.percent < 40
    assert trained.inst.percent >= SOLVED[learner]
