"""The grid as data, and the paper's own numbers."""

from __future__ import annotations

from collections import Counter

import pytest

from sestra.errors import InputError
from sestra.experiments import figures
from sestra.experiments.aggregate import paper
from sestra.experiments.figures import STYLES
from sestra.experiments.grid import (
    LEARNERS,
    OF_PAPER,
    OTHER_LEARNERS,
    PARTS,
    PAST_PAPER,
    SYSTEMS,
    WORLDS_OF_PAPER,
    describe,
    differences,
    trials,
)
from sestra.learning.learners import registry


def test_whole_grid():
    every = trials()
    assert len(every) == 3 * (4 * 5 + 4 * 3)
    assert len({trial.name for trial in every}) == len(every)
    assert Counter(trial.config.world for trial in every) == dict.fromkeys(WORLDS_OF_PAPER, 32)
    assert [trial.config.seed for trial in every] == sorted(trial.config.seed for trial in every)
    for trial in every:
        assert trial.name == f"{trial.config.world}-{trial.system}-{trial.config.seed}"
        trial.config.check()


@pytest.mark.parametrize("preset", ["default", "paper", "authors"])
def test_ablations_are_sestra_without_a_part(preset):
    off = {
        "without-previous-instructions": {"previous_instructions"},
        "without-states": {"current_state", "initial_state"},
        "without-current-state": {"current_state"},
        "without-initial-state": {"initial_state"},
    }
    for name, parts in off.items():
        for world in WORLDS_OF_PAPER:
            whole, ablation = (SYSTEMS[system].config(world, 3, preset) for system in ("sestra", name))
            assert differences(whole, ablation) == {part: [True, False] for part in parts}


def test_learners():
    for name in LEARNERS:
        assert SYSTEMS[name].config("scene", 1, "paper").learner_name == name
        assert SYSTEMS[name].config("scene", 1, "paper").policy == SYSTEMS["sestra"].config("scene", 1, "paper").policy
    assert {*LEARNERS} == {*registry.LEARNERS.names()}
    assert {trial.system for trial in trials(systems=["learners"], seeds=1, preset_name="paper")} == {*LEARNERS}
    assert SYSTEMS["objects"].config("scene", 1).policy_name == "objects"


def test_the_agent_that_ships_teaches():
    for world in WORLDS_OF_PAPER:
        alone, taught = (SYSTEMS[name].config(world, 1) for name in PAST_PAPER)
        assert differences(alone, taught) == {"teacher": ["", world]}
    with pytest.raises(InputError, match="objects-taught: its teachers know SCONE's vocabulary"):
        trials(systems=["objects-taught"], generated=True)


def test_what_is_in_the_tables_can_be_drawn():
    assert {*OF_PAPER, "objects"} == {*STYLES}
    assert {*OTHER_LEARNERS} == {*figures.OTHER_LEARNERS}


def test_every_part_is_removed_once():
    """One setting each, of the network or of training; the last is the other network, with what holds for both unchanged."""
    removed = {}
    for name in PARTS[1:-1]:
        different = [differences(SYSTEMS[PARTS[0]].config(world, 1), SYSTEMS[name].config(world, 1)) for world in WORLDS_OF_PAPER]
        different = [{setting for setting in each if setting != "entropy"} for each in different]  # a setting of one learner only
        assert [each for each in different if len(each) > 1] == [], name
        [removed[name]] = {setting for each in different for setting in each}
    assert len({*removed.values()}) == len(removed)
    other = SYSTEMS[PARTS[-1]].config("scene", 1)
    assert (other.policy_name, other.learner_name) == ("attention", "best-action")


def test_groups_stand_for_their_systems():
    assert trials(systems=["paper"]) == trials()
    assert {trial.system for trial in trials(systems=["parts", PARTS[0]])} == {*PARTS}
    assert len(trials(["alchemy"], ["parts", "objects"], 1)) == len(PARTS) + 1


def test_what_a_world_does_not_have_is_not_removed_there():
    assert {trial.system for trial in trials(["scene"], ["parts"], 1)} == {*PARTS} - {"objects-without-numbers"}


def test_names_keep_presets_and_data_apart():
    names = [
        trials(["scene"], ["sestra"], 1, preset, generated=generated)[0].name
        for preset in ("default", "paper", "authors")
        for generated in (False, True)
    ]
    ends = ["", "-generated", "-paper", "-paper-generated", "-authors", "-authors-generated"]
    assert names == [f"scene-sestra-1{end}" for end in ends]


def test_wrong_choices():
    with pytest.raises(InputError, match="unknown system 'sesame'; expected some of paper, learners, parts, supervised"):
        trials(systems=["sesame"])
    for preset in ("paper", "authors"):
        with pytest.raises(InputError, match=f"--preset {preset}: the object policy is not the paper's"):
            trials(systems=["objects"], preset_name=preset)


def test_differences_in_words():
    one, other = SYSTEMS["sestra"].config("scene", 1), SYSTEMS["sestra"].config("scene", 1, epochs=7)
    assert describe(differences(one, other)) == f"epochs is 7, not {one.optimisation.epochs}"
    assert "hidden" in differences(one, SYSTEMS["objects"].config("scene", 1))


def test_papers_numbers():
    """Cells of Tables 3 and 4, and the ends of Figure 4's curves, as printed."""
    assert paper()["dev"]["systems"]["sestra"] == {
        "alchemy": [92.1, 82.9, 71.8],
        "scene": [83.9, 68.7, 56.1],
        "tangrams": [88.5, 82.4, 60.3],
    }
    assert paper()["dev"]["systems"]["without-initial-state"]["tangrams"] == [88.6, 82.9, 63.3]
    assert paper()["dev"]["mean"]["scene"] == [62.9, 37.8, 29.0]
    assert paper()["dev"]["deviation"]["scene"] == [17.7, 23.5, 21.1]
    assert paper()["test"]["systems"]["contextual-bandit"]["alchemy"] == [73.8, 36.0, 25.7]
    assert set(OF_PAPER) == set(paper()["dev"]["systems"])
    assert [curve["train_inst"][-1] for curve in paper()["learning"]["curves"]] == [80.53, 47.18, 93.86, 56.01, 47.07]
