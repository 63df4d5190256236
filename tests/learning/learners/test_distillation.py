"""Training with a teacher: what is learnt from its executions, and which teachers are refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from commands import run
from lamps import Lamps, interactions
from plain_policy import PlainConfig
from small_runs import TINY, measure, start, state_of

from sestra.data.batch import encode_turns
from sestra.errors import InputError
from sestra.learning import training_data
from sestra.learning.config import TrainConfig
from sestra.learning.export import export_run
from sestra.learning.learners import distillation
from sestra.learning.policies.objects.config import ObjectConfig
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.learning.trainer import Trainer
from sestra.worlds import WORLDS

OBJECTS = TINY.changed(
    learner="best-action",
    optimiser="adam",
    epochs=8,
    batch_size=20,
    oracle_fraction=0.5,
    policy=ObjectConfig(embedding=12, size=24, heads=2),
)
PLAIN = TINY.changed(policy=PlainConfig(size=8))
"""Of teachers: a policy that is exported in little time."""


@pytest.fixture(autouse=True)
def lamps(monkeypatch):
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)


@pytest.fixture
def teacher(tmp_path) -> Path:
    """A run with a policy after one epoch, which is sure of nothing, and its agent."""
    return trained(tmp_path / "teacher", PLAIN, epochs=1)


def trained(path: Path, config: TrainConfig, count: int = 30, **changes) -> Path:
    run = start(path, config, count, **changes)
    run.run()
    export_run(run.folder, run.validation)
    return path


def test_goals_are_the_teachers_or_the_annotated_ones(tmp_path, teacher):
    student = start(tmp_path / "student", teacher=str(teacher))
    annotated, theirs = student.data.annotated.goal, student.data.teacher.goals(interactions(30, seed=1))
    epochs = [student.data.epoch(number).goal for number in range(20)]
    assert theirs.shape == (distillation.EXECUTIONS, 60, annotated.shape[1])
    differ = (student.data._goals != annotated).any(-1).all(0)  # [turns]: the teacher never ends where it is annotated
    assert differ.any()
    taught = np.mean([(goal[differ] != annotated[differ]).any(-1).mean() for goal in epochs])
    assert taught == pytest.approx(distillation.DISTILLATION_WEIGHT, abs=0.1)
    for goal in epochs:
        mine, told = (goal == annotated).all(-1), (goal == student.data._goals).all(-1).any(0)
        assert (mine | told).all()


def test_goals_of_an_epoch_are_the_same_whenever_it_is_asked_for(tmp_path, teacher):
    first, second = (start(tmp_path / name, teacher=str(teacher)).data for name in ("first", "second"))
    second.epoch(0)
    assert np.array_equal(first.epoch(3).goal, second.epoch(3).goal)
    assert not np.array_equal(first.epoch(3).goal, first.epoch(4).goal)


def test_goals_come_in_the_order_of_the_turns(tmp_path):
    """A teacher that follows the lamps' instructions ends where they are annotated."""
    teacher = trained(tmp_path / "teacher", OBJECTS.changed(policy=PlainConfig(size=32)), 300)
    student = start(tmp_path / "student", OBJECTS, 300, teacher=str(teacher))
    assert (student.data._goals == student.data.annotated.goal).all(-1).mean() > 0.7


def test_a_teacher_alone_teaches_the_lamps(tmp_path, monkeypatch):
    """Where its executions end is all that is learnt from."""
    teacher = trained(tmp_path / "teacher", OBJECTS.changed(policy=PlainConfig(size=32)), 300)
    monkeypatch.setattr(training_data, "DISTILLATION_WEIGHT", 1.0)
    taught = start(tmp_path / "student", OBJECTS, 300, learning_rate=0.003, seed=2, teacher=str(teacher))
    taught.run()
    unseen = encode_turns(interactions(100, seed=2), taught.vocabulary, taught.tables)
    student = load_trained(taught.folder).policy
    assert measure(load_trained(RunFolder(teacher)).policy, taught.tables, unseen).inst.percent > 80
    assert measure(student, taught.tables, unseen).inst.percent > 85


def test_resumed_to_the_same_bits(tmp_path, teacher):
    whole = start(tmp_path / "whole", epochs=2, teacher=str(teacher))
    whole.run()
    cut = start(tmp_path / "cut", epochs=2, teacher=str(teacher))
    cut.callback = StopAfterOne()
    with pytest.raises(InterruptedError):
        cut.run()
    again = Trainer(cut.folder.config(), interactions(30, seed=1), cut.folder)
    assert again.resume() == []
    again.run()
    assert state_of(cut.folder) == state_of(whole.folder)


class StopAfterOne:
    def on_batch_end(self, done, total, objective): ...

    def on_epoch_end(self, record):
        raise InterruptedError


def test_another_teacher_in_the_place_of_the_first_is_noticed(tmp_path, teacher):
    run = start(tmp_path / "student", epochs=2, teacher=str(teacher))
    run.callback = StopAfterOne()
    with pytest.raises(InterruptedError):
        run.run()
    shutil.rmtree(teacher)
    trained(teacher, PLAIN, epochs=1, seed=2)
    again = Trainer(run.folder.config(), interactions(30, seed=1), run.folder)
    with pytest.raises(InputError, match="is not the one that the run began with"):
        again.resume()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"teacher": "nobody"}, "--teacher nobody: is no agent"),
        ({"teacher": "alchemy"}, "--teacher alchemy: is an agent for alchemy, but the run is in lamps"),
    ],
)
def test_teachers_that_cannot_teach(tmp_path, teacher, changes, complaint):
    config = TINY.changed(**{"teacher": str(teacher), **changes})
    with pytest.raises(InputError, match=complaint):
        Trainer(config, interactions(30, seed=1), RunFolder(tmp_path / "student"))


def test_no_folder_is_left_by_a_run_whose_teacher_is_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.delenv("SCONE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    status, _, complaints = run(capsys, "train", "--world", "scene", "--teacher", "alchemy", "--out", tmp_path / "student")
    assert status != 0
    assert "name one for scene" in complaints
    assert not (tmp_path / "student").exists()


def test_training_begins_with_an_agents_weights_and_vocabulary(tmp_path, teacher):
    """The agent's vocabulary holds words that this training data lacks, and its weights are in half precision."""
    begun = Trainer(PLAIN.changed(init_from=str(teacher)), interactions(6, seed=1), RunFolder(tmp_path / "run"))
    known = load_trained(RunFolder(teacher))
    assert begun.vocabulary == known.vocabulary
    for name, value in known.policy.state_dict().items():
        assert begun.policy.state_dict()[name].numpy() == pytest.approx(value.half().float().numpy()), name


def test_another_structure_has_no_place_for_the_weights(tmp_path, teacher):
    with pytest.raises(InputError, match="another structure"):
        Trainer(TINY.changed(init_from=str(teacher)), interactions(30, seed=1), RunFolder(tmp_path / "run"))
    with pytest.raises(InputError, match="--init-from nobody: is no agent"):
        Trainer(TINY.changed(init_from="nobody"), interactions(30, seed=1), RunFolder(tmp_path / "run"))
