"""What a person annotated is read strictly, and agreement with it is counted as defined; the program agrees on the held-out half."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import run

from sestra.analysis.annotations import HALVES, Agreement, Annotation, agreement, read
from sestra.analysis.references import Reference
from sestra.data.locate import read_split
from sestra.data.scone import Interaction
from sestra.errors import InputError
from sestra.worlds import WORLDS, get_world

FILES = Path(__file__).parents[2] / "results" / "annotations"
ALCHEMY = get_world("alchemy")
STATES = tuple(ALCHEMY.parse(f"1:{first} 2:r 3:_ 4:_ 5:_ 6:_ 7:_") for first in ("gg", "g", "_", "_"))
INTERACTION = Interaction("x-1", STATES, ("drain one of green", "throw it out", "same with the red one"))
OBJECT = {"kind": "coreference", "to": "object", "age": 1}


def file_of(*turns, half="held out", **changes):
    return {"world": "alchemy", "split": "dev", "seed": 1, "interactions": [{"id": "x-1", "half": half, "turns": list(turns)}]} | changes


def turn(*references, label="right"):
    return {"references": list(references), "label": label}


def read_file(tmp_path, content):
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(content))
    return read(path, ALCHEMY, "dev", [INTERACTION])


def test_kappa_is_cohens():
    """The example of his formula: 20 and 15 of 50 agree, by chance one half does."""
    assert Agreement(20, 5, 10, 15).kappa == pytest.approx(0.4)
    assert Agreement(5, 0, 0, 5).kappa == 1
    assert Agreement(5, 0, 0, 0).kappa is None  # chance alone makes them agree
    assert Agreement(1, 0, 1).kappa is None
    assert Agreement(3, 1, 2).precision == 3 / 4
    assert Agreement(3, 1, 2).recall == 3 / 5
    assert Agreement(0, 0, 2).precision is None


def test_annotations_are_read_by_place(tmp_path):
    found = read_file(tmp_path, file_of(turn(), turn(OBJECT, label="wrong"), turn(), half="rules"))
    assert found["x-1", 1] == Annotation("rules", (Reference("coreference", "object", "", 1),), "wrong")
    assert [place for place, one in found.items() if one.references] == [("x-1", 1)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (file_of(turn(), turn(), turn(), world="scene"), "annotates scene's dev; expected alchemy's dev"),
        (file_of(turn(), turn()), "has 2 turns; x-1 has 3"),
        (file_of(turn(OBJECT), turn(), turn()), "age is 1; expected a number of turns from 1 to 0"),
        (file_of(turn(), turn(OBJECT | {"to": "beaker"}), turn()), "to is 'beaker'"),
        (file_of(turn(), turn(label="odd"), turn()), "label is 'odd'"),
        (file_of(turn(), turn(), turn(), half="first"), "half is 'first'"),
        (file_of(interactions=[{"id": "x-2", "half": "rules", "turns": []}]), "no interaction 'x-2'"),
        (["list"], "stands where an object"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_its_place(tmp_path, content, message):
    with pytest.raises(InputError, match=r"annotations\.json") as error:
        read_file(tmp_path, content)
    assert message in str(error.value)


def test_types_and_ages_and_labels_are_counted_by_instruction(tmp_path):
    """The program finds an object of age 1 in the second turn, and an action of age 1 in the third."""
    person = file_of(turn(label="wrong"), turn(OBJECT, OBJECT), turn(OBJECT | {"to": "action", "age": 2}))
    found = agreement(ALCHEMY, read_file(tmp_path, person), [INTERACTION], "held out", frozenset({("x-1", 0), ("x-1", 1)}), {("x-1", 0)})
    assert found["refers back"] == Agreement(2, 0, 0, 0)
    assert found["references"] == Agreement(2, 0, 1)
    assert found["coreference, object"] == Agreement(1, 0, 1)
    assert found["coreference, action"] == Agreement(1, 0, 0)
    assert found["references with their ages"] == Agreement(1, 1, 2)
    assert found["wrong or ambiguous labels"] == Agreement(1, 1, 0, 1)
    assert found["the same, of the agent's errors"] == Agreement(1, 0, 0, 0)
    assert agreement(ALCHEMY, read_file(tmp_path, person), [INTERACTION], "rules", None, set())["refers back"] == Agreement(0, 0, 0, 0)


@pytest.mark.parametrize("world", WORLDS.names())
def test_the_annotations_hold_ids_and_labels_of_thirty_interactions_half_of_them_held_out(world):
    written = json.loads((FILES / f"{world}.json").read_text())
    halves = [each["half"] for each in written["interactions"]]
    assert halves == [HALVES[0]] * 15 + [HALVES[1]] * 15
    assert len({each["id"] for each in written["interactions"]}) == 30
    assert {key for each in written["interactions"] for one in each["turns"] for key in one} == {"references", "label"}


@pytest.mark.scone
@pytest.mark.parametrize("world", WORLDS.names())
def test_the_program_agrees_with_a_person_on_the_half_that_its_rules_were_not_corrected_by(scone, world):
    interactions = read_split(world, "dev", scone)
    annotations = read(FILES / f"{world}.json", get_world(world), "dev", interactions)
    found = agreement(get_world(world), annotations, interactions, "held out", None, set())
    assert found["refers back"].kappa > 0.9
    assert found["references"].precision > 0.9
    assert found["references"].recall > 0.9
    assert found["references with their ages"].precision > 0.75


def test_the_command_names_what_is_wrong_with_annotations(capsys, no_scone, tmp_path):
    from agents import write_random_agent

    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(file_of(turn(), turn(), turn())))
    status, _, err = run(capsys, "analyze", write_random_agent(tmp_path / "agent"), "--annotations", path)
    assert status == 2
    assert "there is no interaction 'x-1' in the split" in err
