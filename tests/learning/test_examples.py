"""What a run keeps for the page: interactions to suggest, and how the model of each epoch follows the same instructions."""

from __future__ import annotations

from itertools import pairwise

import pytest
from agents import words_of
from lamps import Lamps, interactions

import sestra
from sestra.agent import run_examples
from sestra.agent.run_examples import MAX_EPOCHS, Epoch, RunExamples
from sestra.data.batch import encode_turns
from sestra.data.synthetic import generate
from sestra.errors import InputError
from sestra.learning.examples import TASKS, choose_rows, suggested
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world

SMALL = {"policy": AttentionConfig(embedding=4, hidden=6), "epochs": 3, "batch_size": 10, "horizon": 3, "validation_fraction": 0.2}
DATA = interactions(30, seed=1)


class StopIn(sestra.Callback):
    """Asks the run to stop within an epoch."""

    def __init__(self, epoch):
        self.epoch = epoch

    def on_train_begin(self, trainer, notices):
        self.trainer = trainer

    def on_batch_end(self, done, total, objective):
        self.trainer.stop_requested = self.trainer.progress.epoch + 1 == self.epoch


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return sestra.train(Lamps, DATA, out=tmp_path_factory.mktemp("runs") / "run", **SMALL)


def test_the_model_of_every_epoch_follows_the_same_held_out_instructions(run):
    kept = run_examples.read(run.folder.path)
    assert kept is not None
    assert (kept.epochs, [each.epoch for each in kept.followed]) == (3, [0, 1, 2, 3])
    assert len(kept.tasks) == TASKS
    world, said = Lamps(), {(each.instructions[: turn + 1], world_text(each, turn)) for each in DATA for turn in range(2)}
    for task in kept.tasks:
        assert ((*task.earlier, task.instruction), task.start) in said
    assert {len(task.earlier) for task in kept.tasks} == {0, 1}  # some refer to what was said before
    for epoch in kept.followed:
        for task, actions, probabilities in zip(kept.tasks, epoch.actions, epoch.probabilities, strict=True):
            assert len(actions) == len(probabilities)
            assert all(0 < probability <= 1 for probability in probabilities)
            state = world.parse(task.start)
            for action in actions:
                state = world.apply(state, world.parse_action(action))
    assert len({epoch.probabilities for epoch in kept.followed}) == 4  # it was another model every time


def world_text(interaction, turn):
    return Lamps().format(interaction.states[turn])


def test_the_last_epoch_s_actions_are_those_of_its_model(run):
    """Where the last epoch is the selected one; its model is exported, so that an agent can be asked."""
    kept = run_examples.read(run.folder.path)
    assert kept is not None
    selected = kept.followed[run.best["epoch"]]
    agent = run.agent()
    for task, actions in zip(kept.tasks, selected.actions, strict=True):
        if not task.earlier:
            turn = agent.follow(task.start, [task.instruction]).turns[0]
            assert tuple(step.action for step in turn.steps) == actions


@pytest.mark.parametrize("epoch", [1, 3])
def test_a_run_that_was_interrupted_leaves_the_same_file(run, tmp_path, epoch):
    stopped = sestra.train(Lamps, DATA, out=tmp_path / "run", callbacks=[StopIn(epoch)], **SMALL)
    kept = run_examples.read(stopped.folder.path)
    assert kept is not None
    assert [each.epoch for each in kept.followed] == list(range(epoch))
    sestra.train(data=DATA, out=tmp_path / "run", resume=True)
    assert (tmp_path / "run" / run_examples.NAME).read_bytes() == (run.folder.path / run_examples.NAME).read_bytes()


def test_the_agent_of_a_world_without_a_grammar_suggests_training_instructions(run):
    stored = run.agent().about.examples
    assert stored
    held_out = {task.instruction for task in run_examples.read(run.folder.path).tasks}
    known = {(Lamps().format(each.states[0]), each.instructions) for each in DATA}
    assert all((each["state"], tuple(each["instructions"])) in known for each in stored)
    assert held_out  # which may also be said elsewhere, so that no more can be asked


def test_no_sentences_of_the_data_are_copied_where_a_grammar_writes_others():
    assert suggested(generate("alchemy", 3, seed=1), compile_world(get_world("alchemy"))) == ()


def test_turns_of_different_interactions_and_places_are_chosen():
    tables = compile_world(get_world("alchemy"))
    turns = encode_turns(generate("alchemy", 12, seed=1), words_of("alchemy"), tables)
    rows = choose_rows(turns)
    assert turns.turn[rows].tolist() == [0, 1, 2, 3, 4]
    assert len(set(turns.interaction[rows].tolist())) == 5
    few = encode_turns(generate("alchemy", 1, seed=1), words_of("alchemy"), tables)
    assert sorted(choose_rows(few).tolist()) == [0, 1, 2, 3, 4]
    assert choose_rows(few.select(rows[:0])).tolist() == []


def test_a_long_run_keeps_a_bounded_number_of_epochs():
    kept = RunExamples(10_000)
    for number in range(1, 1_000):
        kept = kept.with_epoch(Epoch(number, (), ()))
    numbers = [each.epoch for each in kept.followed]
    assert len(numbers) <= MAX_EPOCHS
    assert numbers[-1] == 999
    assert max(after - before for before, after in pairwise(numbers)) <= 10  # 5 would be even
    assert kept.with_epoch(Epoch(500, (), ())).followed[-1].epoch == 500


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"epochs": 1, "tasks": 3}',
        '{"epochs": 1, "tasks": [{"instruction": "x"}]}',
        '{"epochs": 1, "followed": [{"epoch": 1, "actions": [["stop"]], "probabilities": [[1.0]]}]}',
    ],
)
def test_a_damaged_file_is_refused(tmp_path, text):
    (tmp_path / run_examples.NAME).write_text(text)
    with pytest.raises(InputError, match=r"examples\.json"):
        run_examples.read(tmp_path)
