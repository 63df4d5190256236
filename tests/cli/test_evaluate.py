"""``sestra evaluate``, ``sestra export`` and ``sestra join`` as a user types them, on a small run and on agents."""

from __future__ import annotations

import dataclasses
import json
import shutil

import pytest
from agents import write_random_agent
from commands import run

from sestra.agent import Agent
from sestra.data import scone
from sestra.data.synthetic import generate
from sestra.worlds import get_world


def test_evaluate_prints_a_table_turns_and_errors(capsys, small_data, small_run, tmp_path):
    command = ["evaluate", small_run, "--data", small_data, "--out", tmp_path / "results.json"]
    status, output, _ = run(capsys, *command, "--by", "turn", "--errors", "2")
    assert status == 0
    for text in ("Inst", "3utts", "5utts", "Inst, turn 5", "95% interval", "expected", "reached"):
        assert text in output
    assert output.count("expected") == 2
    assert (tmp_path / "results.json").exists()
    status, output, _ = run(capsys, *command, "--errors", "1000", "--json")
    report = json.loads(output)
    right, of = report["counts"]["inst"]
    assert len(report["errors"]) == of - right
    for error in report["errors"]:
        assert error["expected"] != error["reached"]
        assert get_world("scene").parse(error["start"])
    status, output, _ = run(capsys, *command, "--split", "train", "--json")
    assert status == 0
    assert json.loads(output)["counts"]["inst"][1] == 100


def test_short_interactions_give_json_that_others_can_read(capsys, small_run, tmp_path):
    """With fewer than three turns there is no 3utts."""

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    scone.write(tmp_path / "scene-dev.tsv", get_world("scene"), generate("scene", 3, seed=1, turns=2))
    status, output, _ = run(capsys, "evaluate", small_run, "--data", tmp_path, "--json", "--out", tmp_path / "results.json")
    assert status == 0
    assert json.loads(output, parse_constant=refuse)["counts"]["utts3"] == [0, 0]
    json.loads((tmp_path / "results.json").read_text(), parse_constant=refuse)


def test_evaluating_what_is_no_run(capsys, small_data, tmp_path):
    for nothing in (tmp_path, tmp_path / "none", "no-such-agent"):
        status, _, errors = run(capsys, "evaluate", nothing, "--data", small_data)
        assert status == 2
        assert "expected the folder of an agent or of a run, or one of alchemy" in errors
        assert run(capsys, "export", nothing)[0] == 2
        assert run(capsys, "export", nothing, "--to", tmp_path / "to")[0] == 2
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("name", ["model.safetensors", "agent/agent.json", "agent/vocab.json", "agent/encode-1.onnx", "agent/step-1.onnx"])
def test_evaluating_a_damaged_run(capsys, small_data, copied_run, name):
    content = (copied_run / name).read_bytes()
    (copied_run / name).write_bytes(content[: len(content) // 2])
    status, _, errors = run(capsys, "evaluate", copied_run, "--data", small_data)
    assert status == 2
    assert name in errors
    assert not (copied_run / "results.json").exists()


def test_evaluating_a_run_that_was_not_exported(capsys, small_data, copied_run):
    """As one that was interrupted: it has a selected model, but no agent of it yet."""
    shutil.rmtree(copied_run / "agent")
    status, _, errors = run(capsys, "evaluate", copied_run, "--data", small_data)
    assert status == 2
    assert f"export it with: sestra export {copied_run}" in errors
    assert run(capsys, "export", copied_run)[:2] == (0, f"{copied_run / 'agent'}: written\n")
    assert run(capsys, "evaluate", copied_run, "--data", small_data)[0] == 0
    assert (copied_run / "results.json").exists()


def test_exporting_again_changes_nothing(capsys, copied_run):
    before = {path.name: path.read_bytes() for path in (copied_run / "agent").iterdir()}
    assert run(capsys, "export", copied_run)[0] == 0
    assert {path.name: path.read_bytes() for path in (copied_run / "agent").iterdir()} == before


def test_exporting_a_run_that_is_damaged(capsys, copied_run):
    shutil.rmtree(copied_run / "agent")
    for name in ("config.json", "vocab.json", "model.safetensors"):
        content = (copied_run / name).read_bytes()
        (copied_run / name).write_bytes(content[: len(content) // 2])
        status, _, errors = run(capsys, "export", copied_run)
        assert status == 2
        assert name in errors
        (copied_run / name).write_bytes(content)
    assert not (copied_run / "agent").exists()
    assert run(capsys, "export", copied_run)[0] == 0


def test_an_agent_that_ships_comes_before_a_run_of_the_same_name(capsys, small_data, copied_run, monkeypatch):
    """And what is measured of it does not become the run's results."""
    copied_run.rename(copied_run.parent / "scene")
    monkeypatch.chdir(copied_run.parent)
    status, output, _ = run(capsys, "evaluate", "scene", "--data", small_data, "--json")
    assert status == 0
    assert json.loads(output)["config"]["policy"]["name"] == "objects"
    assert not (copied_run.parent / "scene" / "results.json").exists()
    assert run(capsys, "export", "scene")[0] == 2
    assert run(capsys, "evaluate", "./scene", "--data", small_data)[0] == 0
    assert (copied_run.parent / "scene" / "results.json").exists()


@pytest.mark.parametrize(
    "flags", [["--errors", "-1"], ["--errors", "some"], ["--split", "train-orig"], ["--split", "summer"], ["--by", "moon"], ["--out", "."]]
)
def test_bad_flags_of_evaluate(capsys, small_data, copied_run, flags):
    assert run(capsys, "evaluate", copied_run, "--data", small_data, *flags)[0] == 2


def test_evaluating_slices_without_a_known_goal_in_between(capsys, small_run, tmp_path):
    slices = [
        dataclasses.replace(one, states=(one.states[0], None, one.states[2]), instructions=one.instructions[:2])
        for one in generate("scene", 3, seed=1)
    ]
    scone.write(tmp_path / "scene-train-orig.tsv", get_world("scene"), slices)
    status, _, errors = run(
        capsys, "evaluate", small_run, "--data", tmp_path, "--split", "train-orig", "--json", "--out", tmp_path / "results.json"
    )
    assert status == 2
    assert "no instruction's start and goal are both known" in errors.replace("\n", " ")
    assert not (tmp_path / "results.json").exists()


def test_exporting_what_was_not_measured(capsys, copied_run, tmp_path):
    status, _, errors = run(capsys, "export", copied_run, "--to", tmp_path / "to")
    assert status == 2
    assert "results.json" in errors


def test_exporting_to_where_nothing_can_be_made(capsys, small_data, copied_run, tmp_path):
    assert run(capsys, "evaluate", copied_run, "--data", small_data, "--json")[0] == 0
    (tmp_path / "file").write_text("in the way")
    status, _, errors = run(capsys, "export", copied_run, "--to", tmp_path / "file" / "to")
    assert status == 2
    assert "--to" in errors


def test_exporting_over_something_else(capsys, small_data, copied_run, tmp_path):
    assert run(capsys, "evaluate", copied_run, "--data", small_data, "--json")[0] == 0
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for to in ("other", "file"):
        status, _, errors = run(capsys, "export", copied_run, "--to", tmp_path / to)
        assert status == 2
        assert "--to" in errors
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["thesis.tex"]


def test_exporting_an_agent(capsys, small_data, tmp_path):
    """A copy, with a card that has the figures."""
    status, output, errors = run(capsys, "export", "scene-sestra")
    assert (status, output) == (2, "")
    assert "scene-sestra: is an agent, not a run; name the folder to copy it to with --to" in errors
    status, _, errors = run(capsys, "export", "scene-sestra", "--to", tmp_path / "to")
    assert status == 2
    assert "name the file of its figures, which 'sestra evaluate scene-sestra --out FILE' writes, with --results" in errors
    command = ["export", "scene-sestra", "--to", tmp_path / "to", "--results", tmp_path / "results.json"]
    status, _, errors = run(capsys, *command)
    assert status == 2
    assert "results.json: no such file; evaluate the agent with 'sestra evaluate" in errors
    assert run(capsys, "evaluate", "scene-sestra", "--data", small_data, "--out", tmp_path / "results.json")[0] == 0
    assert run(capsys, *command)[0] == 0
    card = (tmp_path / "to" / "README.md").read_text()
    assert card.startswith("---\n")
    assert "A policy (`attention`) for the world *scene*" in card
    assert "Accuracy on `scene-dev.tsv` in percent" in card
    assert Agent.from_pretrained(tmp_path / "to").card == card
    assert run(capsys, "evaluate", tmp_path / "to", "--data", small_data)[0] == 0
    assert not (tmp_path / "to" / "results.json").exists()  # what ships is not written to


@pytest.mark.parametrize(
    "figures", [[], {}, None, "figures", {"training": None}, "without data", "without counts", "with odd data", "of another agent"]
)
def test_figures_that_are_not_the_agents(capsys, small_data, tmp_path, figures):
    results = tmp_path / "results.json"
    if isinstance(figures, str) and " " in figures:
        assert run(capsys, "evaluate", "scene-sestra", "--data", small_data, "--out", results)[0] == 0
        record = json.loads(results.read_text())
        changed = {
            "without data": {key: value for key, value in record.items() if key != "data"},
            "without counts": {key: value for key, value in record.items() if key != "counts"},
            "with odd data": record | {"data": [1]},
            "of another agent": record | {"training": {"epoch": 0}},
        }
        figures = changed[figures]
    results.write_text(json.dumps(figures))
    status, _, errors = run(capsys, "export", "scene-sestra", "--to", tmp_path / "to", "--results", results)
    assert status == 2
    assert "results.json: " in errors
    assert not (tmp_path / "to").exists()


def test_figures_without_a_folder_for_the_card(capsys, copied_run, tmp_path):
    status, _, errors = run(capsys, "export", copied_run, "--results", tmp_path / "results.json")
    assert status == 2
    assert "name the folder with --to" in errors


# Several agents as one.


def test_joining_agents(capsys, small_data, tmp_path):
    parts = [write_random_agent(tmp_path / f"part-{seed}", "scene", seed=seed) for seed in (1, 2, 3)]
    status, output, _ = run(capsys, "join", *parts, "--to", tmp_path / "joined")
    assert status == 0
    assert f"{tmp_path / 'joined'}: 3 runs joined" in output
    status, output, _ = run(capsys, "evaluate", tmp_path / "joined", "--data", small_data, "--json")
    assert status == 0
    assert [each["seed"] for each in json.loads(output)["training"]["members"]] == [1, 2, 3]


def test_joining_runs(capsys, small_run, copied_run, tmp_path):
    assert run(capsys, "join", small_run, copied_run, "--to", tmp_path / "joined")[0] == 0
    one, both = (Agent.from_pretrained(place) for place in (small_run, tmp_path / "joined"))
    [interaction] = generate("scene", 1, seed=1)
    start = one.world.format(interaction.states[0])
    assert one.follow(start, interaction.instructions).final_state == both.follow(start, interaction.instructions).final_state


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["first"], "expected two or more runs or agents"),
        (["first", "first"], "expected two or more runs or agents"),
        (["first", "./first"], "expected two or more runs or agents"),
        (["first", "none"], "none: is no agent"),
        (["first", "alchemy-sestra"], "has another world than first"),
        (["first", "scene-sestra"], "has another vocabulary than first"),
        (["first", "second", "--to", "first"], "first: is there already"),
        (["first", "second", "--to", "file/to"], "cannot be made"),
    ],
)
def test_joining_what_does_not_go_together(capsys, tmp_path, monkeypatch, names, message):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("first", "second")):
        write_random_agent(tmp_path / name, "scene", seed=seed)
    (tmp_path / "file").write_text("in the way")
    status, output, errors = run(capsys, "join", *names, *([] if "--to" in names else ["--to", "joined"]))
    assert (status, output) == (2, "")
    assert message in errors
    assert not (tmp_path / "joined").exists()
