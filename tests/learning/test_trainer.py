"""Training: what is held out, when it stops, which model is kept, and what an update is."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from lamps import Lamps, interactions
from small_runs import TINY, start
from torch import nn

from sestra.agent.evaluation import Evaluation
from sestra.data.scone import Interaction
from sestra.data.synthetic import broadened, splits, to_interaction
from sestra.errors import InputError
from sestra.learning import checkpoint
from sestra.learning import trainer as training
from sestra.learning.decoding import OracleGuided
from sestra.learning.optim import rmsprop
from sestra.learning.policies.objects.config import ObjectConfig
from sestra.learning.policies.objects.policy import ObjectPolicy
from sestra.learning.progress import score
from sestra.learning.run_folder import RunFolder
from sestra.learning.trainer import Trainer
from sestra.learning.training_data import FIRST_SEED, split_validation
from sestra.metrics import Accuracy
from sestra.worlds import WORLDS


@pytest.fixture(autouse=True)
def lamps(monkeypatch):
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)


# The validation part.


@pytest.mark.parametrize(("count", "size"), [(3657, 256), (3352, 235), (4189, 293), (100, 7), (5, 1), (2, 1)])
def test_seven_per_cent_are_held_out(count, size):
    every = [Interaction(str(number), (), ()) for number in range(count)]
    train, validation = split_validation(every, 0.07, "alchemy")
    assert len(validation) == size
    assert len(train) == count - size
    assert {one.id for one in train} | {one.id for one in validation} == {one.id for one in every}
    assert [one.id for one in train] == sorted((one.id for one in train), key=int)


def test_what_is_held_out_depends_on_the_world_alone(tmp_path):
    every = [Interaction(str(number), (), ()) for number in range(500)]
    torch.manual_seed(1)
    first = split_validation(every, 0.07, "scene")[1]
    torch.manual_seed(2)
    assert split_validation(every, 0.07, "scene")[1] == first
    assert split_validation(every, 0.07, "tangrams")[1] != first
    assert [int(one.id) for one in first] != list(range(35))
    runs = [Trainer(TINY.changed(seed=seed), interactions(60, seed=1), RunFolder(tmp_path)) for seed in (1, 2)]
    assert np.array_equal(runs[0].validation.words, runs[1].validation.words)
    assert not torch.equal(runs[0].policy.decoder_input.weight, runs[1].policy.decoder_input.weight)


def test_each_interaction_is_held_out_in_one_fold():
    every = [Interaction(str(number), (), ()) for number in range(53)]
    folds = [split_validation(every, 0.07, "scene", fold) for fold in range(1, 6)]
    held_out = [one.id for _, validation in folds for one in validation]
    assert sorted(held_out, key=int) == [one.id for one in every]
    assert {len(validation) for _, validation in folds} == {10, 11}
    assert all(len(train) + len(validation) == 53 for train, validation in folds)
    with pytest.raises(InputError, match="--fold 5"):
        split_validation(every[:3], 0.07, "scene", 5)


def test_one_interaction_is_too_few():
    with pytest.raises(InputError, match="at least 2"):
        split_validation([Interaction("a", (), ())], 0.07, "lamps")


def test_words_of_validation_are_not_known(tmp_path):
    data = interactions(30, seed=1)
    held_out = split_validation(data, 0.07, "lamps")[1]
    marked = [replace(one, instructions=tuple(f"{text} zebra" for text in one.instructions)) if one in held_out else one for one in data]
    assert "zebra" not in Trainer(TINY, marked, RunFolder(tmp_path)).vocabulary.words
    assert "zebra" in Trainer(TINY, [*marked, *marked], RunFolder(tmp_path)).vocabulary.words


def test_generated_interactions_are_learnt_from_and_nothing_else(tmp_path):
    data = splits("tangrams")
    config = replace(TINY, world="tangrams")
    plain, more = (Trainer(config.changed(generated=count), data["train"][:40], RunFolder(tmp_path)) for count in (0, 20))
    added = [to_interaction(context) for context in islice(broadened("tangrams", seed=FIRST_SEED), 20)]
    assert len(more.train) == len(plain.train) + sum(len(one.instructions) for one in added)
    assert np.array_equal(more.validation.goal, plain.validation.goal)
    assert len(more.vocabulary) > len(plain.vocabulary)
    known = {(one.states, one.instructions) for split in data.values() for one in split}
    assert not known & {(one.states, one.instructions) for one in added}


def test_every_epoch_has_its_own_generated_interactions(tmp_path):
    run = Trainer(replace(TINY, world="tangrams").changed(generated=20), splits("tangrams")["train"][:40], RunFolder(tmp_path))
    annotated = len(run.data.annotated)
    first, second = (run.data.epoch(number).select(np.arange(annotated, annotated + 20)) for number in (0, 1))
    assert not np.array_equal(first.initial, second.initial)
    again = run.data.epoch(1).select(np.arange(annotated, annotated + 20))
    assert np.array_equal(second.initial, again.initial)
    assert np.array_equal(second.goal, again.goal)


def test_generated_instructions_count_half_where_there_are_any():
    record = {"inst": 90.0, "utts5": 70.0, "reward": 1.0}
    assert score(record)[0] == 70.0
    assert score(record | {"generated": 90.0})[0] == 80.0


# Patience and the best model.


def scripted(monkeypatch, figures: list[tuple[float, float]]) -> None:
    """Validation that measures the given rewards and 5utts, the last of them for ever."""
    remaining = iter(figures)
    latest = [figures[0]]

    def measured(*_, **__) -> Evaluation:
        latest[0] = next(remaining, latest[0])
        reward, utts5 = latest[0]
        counted = Accuracy(round(utts5), 100)
        nothing = np.zeros(0, np.bool_)
        return Evaluation(counted, counted, counted, (), reward, nothing, nothing)

    monkeypatch.setattr(training, "evaluate", measured)


@pytest.mark.parametrize(
    ("patience", "rewards", "epochs"),
    [
        (50.0, [0.0], 1 + 51),  # 50 * 1.005 = 50.25: 51 epochs without improvement
        (2.0, [0.0, 1.0, 1.0], 2 + 3),  # 2 * 1.005^2 = 2.02; as good is no improvement
        (2.0, [0.0, -1.0, -1.0, 3.0], 4 + 3),  # the third epoch would have been the last but one
        (1.0, [5.0, 4.0, 3.0], 1 + 2),
        (0.0, [5.0], 1),
    ],
)
def test_patience(monkeypatch, tmp_path, patience, rewards, epochs):
    scripted(monkeypatch, [(reward, 0) for reward in rewards])
    run = start(tmp_path, patience=patience, epochs=200, count=4)
    progress = run.run()
    assert progress.epoch == epochs
    best = max(rewards)
    improvements = sum(reward > max(rewards[:number], default=-9) for number, reward in enumerate(rewards))
    assert progress.best_reward == best
    assert progress.improvements == improvements
    last = len(rewards) - 1 - rewards[::-1].index(best) if rewards.count(best) == 1 else rewards.index(best)
    assert progress.patience == pytest.approx(patience * 1.005**improvements - (epochs - 1 - last))


def test_epochs_are_the_most_whatever_patience_says(monkeypatch, tmp_path):
    scripted(monkeypatch, [(float(number), 0) for number in range(9)])
    assert start(tmp_path, epochs=4, count=4).run().epoch == 4


class Weights:
    """Remembers the policy's weights after each epoch."""

    def __init__(self, run: Trainer) -> None:
        self.run, self.after, self.rates = run, [], []
        run.callback = self

    def on_batch_end(self, done, total, objective):
        self.rates.append(self.run.optimiser.param_groups[0]["lr"])

    def on_epoch_end(self, record):
        self.after.append({name: value.clone() for name, value in self.run.average.state_dict().items()})


@pytest.mark.parametrize("ema_decay", [0.0, 0.5])
def test_best_model_is_the_first_with_the_highest_5utts(monkeypatch, tmp_path, ema_decay):
    scripted(monkeypatch, [(3.0, 10), (2.0, 30), (9.0, 20), (1.0, 30)])
    run = start(tmp_path, epochs=4, ema_decay=ema_decay)
    weights = Weights(run)
    progress = run.run()
    assert (progress.best_epoch, progress.best_score) == (2, (30, 30, 2.0))
    tensors, info = checkpoint.load(run.folder.model)
    assert info["epoch"] == 2
    assert info["validation"]["utts5"] == 30
    assert all(torch.equal(tensors[name], value) for name, value in weights.after[1].items())
    assert not torch.equal(tensors["decoder_input.weight"], weights.after[3]["decoder_input.weight"])


def test_no_model_of_the_warm_up_is_chosen(monkeypatch, tmp_path):
    """It was not trained by the learner that was asked for; but a run that stops in its warm-up has a model."""
    scripted(monkeypatch, [(3.0, 10), (2.0, 50), (9.0, 20), (1.0, 30)])
    run = start(tmp_path, epochs=4, warm_up_fraction=0.5)
    models = []
    write = run._write_results
    monkeypatch.setattr(run, "_write_results", lambda: (write(), models.append(checkpoint.load(run.folder.model)[1]["epoch"])))
    assert run.run().best_epoch == 4
    assert models == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("figures", "best"),
    [
        ([(1.0, 30, 60), (0.5, 30, 70), (2.0, 20, 90)], 2),  # as many whole interactions: single instructions decide
        ([(1.0, 30, 60), (1.5, 30, 60), (1.5, 30, 60)], 2),  # as many of both: the reward decides, then the earlier epoch
        ([(1.0, 31, 60), (1.5, 30, 90)], 1),
    ],
)
def test_ties_are_broken(monkeypatch, tmp_path, figures, best):
    remaining = iter(figures)
    nothing = torch.zeros(0, dtype=torch.bool)

    def measured(*_, **__) -> Evaluation:
        reward, utts5, inst = next(remaining)
        return Evaluation(Accuracy(inst, 100), Accuracy(0, 0), Accuracy(utts5, 100), (), reward, nothing, nothing)

    monkeypatch.setattr(training, "evaluate", measured)
    assert start(tmp_path, epochs=len(figures), count=4).run().best_epoch == best


@pytest.mark.parametrize(
    ("epochs", "warm_up_fraction", "expected"), [(40, 0.25, 10), (2, 0.5, 1), (2, 1.0, 1), (1, 1.0, 0), (1, 0.25, 0), (7, 3 / 7, 3)]
)
def test_the_learner_always_has_its_turn(tmp_path, epochs, warm_up_fraction, expected):
    run = start(tmp_path, epochs=epochs, warm_up_fraction=warm_up_fraction)
    assert run.warm_up_epochs == expected
    run.progress.epoch = epochs - 1
    assert run.learner is run.config.learner


def test_small_data_has_more_epochs(tmp_path):
    run = start(tmp_path / "more", epochs=2, min_updates=50)  # 30 interactions of two instructions, two of them held out: 6 updates
    assert (run.updates_per_epoch, run.epochs) == (6, 9)
    assert start(tmp_path / "enough", epochs=9, min_updates=50).epochs == 9
    run.run()
    assert run.progress.updates == 54
    again = Trainer(run.folder.config(), interactions(30, seed=1), run.folder)
    again.resume()
    assert not again.unfinished


@pytest.mark.parametrize(
    ("learner", "fraction", "counted"),
    [
        ("sestra", 0.0, "all"),
        ("sestra", 1.0, "none"),
        ("sestra", 0.5, "some"),
        ("supervised", 0.0, "none"),
        ("policy-gradient", 1.0, "all"),
    ],
)
def test_accuracy_in_training_counts_what_the_policy_chose(tmp_path, learner, fraction, counted):
    run = start(tmp_path, learner=learner, oracle_fraction=fraction, epochs=1, learning_rate=1e-9, batch_size=60)
    own = run.update(run.train).own
    assert {"all": own.all(), "none": not own.any(), "some": 0 < own.sum() < len(own)}[counted]
    found = run.run().history[0]["train_inst"]
    assert math.isnan(found) == (counted == "none")
    assert counted == "none" or found < 40, "the oracle always succeeds"


# Updates.


def test_step_size_decays_along_a_half_cosine(tmp_path):
    run = start(tmp_path, epochs=4, final_lr_fraction=0.1)
    weights = Weights(run)
    run.run()
    rates = weights.rates
    total = len(rates) // 4
    assert rates[0] == 0.005
    assert rates[2 * total] == pytest.approx(0.005 * 0.55)
    assert rates == sorted(rates, reverse=True)
    assert 0.0005 < rates[-1] < 0.0007
    constant = start(tmp_path / "other", epochs=1)
    weights = Weights(constant)
    constant.run()
    assert set(weights.rates) == {0.005}


def test_clip_limits_the_gradient(tmp_path):
    norms = []
    for clip in (0.0, 1e-3):
        run = start(tmp_path / str(clip), max_grad_norm=clip)
        run.update(run.train.select(np.arange(10)))
        norms.append(sum(parameter.grad.square().sum() for parameter in run.policy.parameters() if parameter.grad is not None) ** 0.5)
    assert norms[0] > 1e-2
    assert norms[1] == pytest.approx(1e-3, rel=1e-3)


def test_average_of_weights(tmp_path):
    """It leaves the first weights behind quickly, then keeps the given share; and it has no part in the gradient."""
    run = start(tmp_path, ema_decay=0.3)
    expected = run.policy.decoder_input.weight.detach().clone()
    for number in range(1, 9):
        run.update(run.train.select(np.arange(10)))
        keep = min(0.3, number / (number + 10))
        expected = keep * expected + (1 - keep) * run.policy.decoder_input.weight.detach()
        torch.testing.assert_close(run.average.decoder_input.weight.detach(), expected)
    for parameter in run.average.parameters():
        assert parameter.grad_fn is None, "the average must not hold on to the history of all updates"


@pytest.mark.parametrize("optimiser", ["rmsprop", "adam"])
def test_same_seed_same_bits(tmp_path, optimiser):
    runs = [start(tmp_path / str(number), optimiser=optimiser, seed=seed, epochs=2) for number, seed in enumerate((1, 1, 2))]
    finals = []
    for number in range(3):  # one after the other: all draw from torch's generator
        run = Trainer(runs[number].config, interactions(30, seed=1), runs[number].folder)
        run.run()
        finals.append(run.policy.state_dict())
    assert all(torch.equal(value, finals[1][name]) for name, value in finals[0].items())
    assert not torch.equal(finals[0]["decoder_input.weight"], finals[2]["decoder_input.weight"])


def test_metrics_are_json_that_others_can_read(tmp_path):
    """Even where a figure is undefined: these interactions have two turns, so no 3utts."""

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    run = start(tmp_path, epochs=2)
    run.run()
    lines = run.folder.metrics.read_text().splitlines()
    assert [json.loads(line, parse_constant=refuse)["epoch"] for line in lines] == [1, 2]


def test_a_policy_is_not_asked_where_guidance_leaves_one_action(tmp_path, monkeypatch):
    """What it would have said there is still learnt from: the update is the same."""
    objects = ObjectConfig(embedding=4, size=8, heads=2)
    settings = {"learner": "best-action", "policy": objects, "oracle_fraction": 0.5, "horizon": 5}
    asked, step = [], ObjectPolicy.step

    def counted(self, memory, carry, states, previous, **how):
        asked.append(len(states))
        return step(self, memory, carry, states, previous, **how)

    monkeypatch.setattr(ObjectPolicy, "step", counted)
    outcomes, rows = [], []
    for name in ("spared", "asked"):
        asked.clear()
        run = start(tmp_path / name, **settings)
        run.policy.train()
        if name == "asked":
            monkeypatch.setattr(OracleGuided, "certain", lambda _, states: torch.zeros(len(states), dtype=torch.bool))
        outcomes.append(run.update(run.train.select(np.arange(40))))
        rows.append(sum(asked))
    (value, spared, *_), (other, full, *_) = outcomes
    assert rows[0] < 0.8 * rows[1]
    assert torch.equal(spared.actions, full.actions)
    assert torch.allclose(spared.log_probs[spared.alive], full.log_probs[full.alive], atol=1e-5)
    assert value == pytest.approx(other, abs=1e-5)


def test_rmsprop_equals_torchs():
    """From the first update on, when torch's Adam would still correct its means."""
    torch.manual_seed(0)
    ours, theirs = nn.Linear(3, 2), nn.Linear(3, 2)
    theirs.load_state_dict(ours.state_dict())
    optimisers = rmsprop(list(ours.parameters()), 0.01), torch.optim.RMSprop(theirs.parameters(), 0.01, alpha=0.9)
    for _ in range(5):
        inputs = torch.randn(4, 3)
        for layer, optimiser in zip((ours, theirs), optimisers, strict=True):
            optimiser.zero_grad()
            layer(inputs).square().mean().backward()
            optimiser.step()
        torch.testing.assert_close(ours.state_dict(), theirs.state_dict())


def test_patience_is_not_counted_in_the_warm_up(tmp_path):
    run = start(tmp_path, epochs=8, warm_up_fraction=0.5, patience=0.5, learning_rate=1e-12)
    assert len(run.run().history) > run.warm_up_epochs == 4
