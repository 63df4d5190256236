"""``sestra evaluate`` and ``sestra export`` as a user types them, on a small run."""

from __future__ import annotations

import dataclasses
import json

import pytest
from commands import run

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
        assert "neither the folder of a run" in errors
        assert run(capsys, "export", nothing, "--to", tmp_path / "to")[0] == 2
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.json", "config.json"])
def test_evaluating_a_damaged_run(capsys, small_data, copied_run, name):
    content = (copied_run / name).read_bytes()
    (copied_run / name).write_bytes(content[: len(content) // 2])
    status, _, errors = run(capsys, "evaluate", copied_run, "--data", small_data)
    assert status == 2
    assert name in errors
    assert not (copied_run / "results.json").exists()


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


def test_exporting_what_is_exported_already(capsys, tmp_path):
    status, _, errors = run(capsys, "export", "alchemy", "--to", tmp_path / "to")
    assert status == 2
    assert "alchemy: is exported already" in errors
    assert not (tmp_path / "to").exists()
