"""Sweeps: what flags mean, and that they run and continue."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from commands import run
from optuna.distributions import FloatDistribution, IntDistribution

from sestra.errors import InputError
from sestra.experiments.progress import duration, parse_budget
from sestra.experiments.sweep import Proposals, Repeats, checked, grid, kinds, parse, settings, split_fixed
from sestra.learning.learners.registry import LEARNERS
from sestra.learning.learners.supervised import Supervised
from sestra.learning.policies.objects.config import ObjectConfig
from sestra.learning.policies.registry import POLICIES

KNOWN = settings(kinds())
SMALL = ["--world", "lamps", "--epochs", "2", "--hidden", "6", "--embedding", "4"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("entropy", "0.03,0.07, 0.1", [0.03, 0.07, 0.1]),
        ("horizon", "5", [5]),
        ("horizon", "3..7", IntDistribution(3, 7)),
        ("learning_rate", "1e-4..1e-2:log", FloatDistribution(1e-4, 1e-2, log=True)),
        ("learner", "sestra,supervised", ["sestra", "supervised"]),
        ("rename_symbols", "true,False", [True, False]),
        ("world", "scene", ["scene"]),
    ],
)
def test_values(name, text, expected):
    assert parse(name, text, KNOWN[name]) == expected


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("entropy", "a lot", "--entropy 'a lot': expected numbers"),
        ("entropy", "0.1,", "--entropy '': expected numbers"),
        ("entropy", "nan", "expected a finite number"),
        ("entropy", "0.1,0.10", "is there twice"),
        ("horizon", "2.5", "--horizon '2.5': expected whole numbers"),
        ("horizon", "7..3", "expected a smaller number before a larger one"),
        ("entropy", "0..1:log", "both above 0"),
        ("preset", "sesame", "expected some of default, paper, authors"),
        ("warm_up_fraction", "1..x", "--warm-up-fraction 'x'"),
        ("rename_symbols", "maybe", "expected true, false or true,false"),
    ],
)
def test_wrong_values(name, text, complaint):
    with pytest.raises(InputError) as error:
        parse(name, text, KNOWN[name])
    assert complaint in str(error.value)


def test_a_cross_validation_needs_nothing_to_compare():
    [combination] = grid({"world": "scene"}, {}, Repeats([1, 2], range(1, 6)))
    assert [trial.name for trial in combination.trials[:6]] == [*(f"scene-1-fold-{fold}" for fold in range(1, 6)), "scene-2-fold-1"]
    assert [(trial.config.seed, trial.config.data.fold) for trial in combination.trials[4:6]] == [(1, 5), (2, 1)]
    with pytest.raises(InputError, match="nothing to compare"):
        grid({"world": "scene"}, {}, Repeats([1, 2]))


def test_a_teacher_is_looked_for_before_the_first_run():
    assert checked({"world": "scene", "teacher": "scene"}).teacher == "scene"
    with pytest.raises(InputError, match="nobody: is no agent"):
        checked({"world": "scene", "teacher": "nobody"})


def test_settings_are_those_of_a_run():
    names = set(KNOWN)
    assert {"world", "entropy", "hidden", "layers", "previous_instructions"} <= names
    assert not {"version", "data", "rollout"} & names
    assert checked({"world": "scene"}) == checked({"world": "scene", "preset": "default"})
    assert checked({"world": "scene", "policy": "objects", "layers": 3}).policy == ObjectConfig(layers=3)
    assert checked({"world": "scene", "learner": "supervised"}).optimisation.optimiser == "adam"
    with pytest.raises(InputError, match="--layers: the policy 'attention' has no such setting"):
        checked({"world": "scene", "layers": 3})


def test_grid_of_combinations():
    fixed, varied = split_fixed({"world": "scene", "entropy": "0.03,0.1", "horizon": "4,5,6", "epochs": "9"}, KNOWN)
    assert fixed == {"world": "scene", "epochs": 9}
    combinations = grid(fixed, varied, Repeats(range(1, 4)))
    assert len(combinations) == 6
    names = [trial.name for combination in combinations for trial in combination.trials]
    assert len(set(names)) == 18
    assert names[0] == "scene-entropy=0.03-horizon=4-1"
    assert combinations[-1].trials[2].config == checked({"world": "scene", "entropy": 0.1, "horizon": 6, "epochs": 9, "seed": 3})
    with pytest.raises(InputError, match="a range needs --search optuna"):
        grid(*split_fixed({"entropy": "0..1"}, KNOWN), Repeats([1]))


def test_proposals_learn():
    """Optuna finds the top of a parabola better than chance, and is told what was proposed before."""
    varied = {"entropy": FloatDistribution(0.0, 1.0), "horizon": [3, 4]}
    proposals = Proposals(varied, 1)
    proposals.proposed(0, {"entropy": 0.5, "horizon": 3})
    proposals.tell(0, -0.04)
    values = []
    for number in range(1, 30):
        values.append(proposals.propose(number))
        proposals.tell(number, None if number == 5 else -((values[-1]["entropy"] - 0.3) ** 2))
    assert min(abs(one["entropy"] - 0.3) for one in values) < 0.02
    assert len({one["entropy"] for one in values}) > 20
    assert {one["horizon"] for one in values} == {3, 4}


def test_budgets_and_durations():
    budgets = {"90m": 5400, "1h30m": 5400, "45s": 45, "0.5h": 1800, "1h0m1s": 3601}
    assert {text: parse_budget(text) for text in budgets} == budgets
    assert [duration(seconds) for seconds in (9.6, 99, 100, 5940, 11100)] == ["10 s", "99 s", "2 min", "99 min", "3 h 05"]


@pytest.mark.slow
def test_sweep_runs_and_continues(capsys, started_ray, data, tmp_path):
    flags = ["sweep", *SMALL, "--entropy", "0.03,0.3", "--seeds", "2", "--data", data, "--out", tmp_path]
    status, output, _ = run(capsys, *flags)
    assert status == 0
    assert "entropy" in output
    assert output.count("2 of 2") == 2
    before = (tmp_path / "sweep.json").read_text()
    status, output, _ = run(capsys, *flags, "--json")
    assert status == 0
    lines = json.loads(output)["combinations"]
    assert sorted(line["values"]["entropy"] for line in lines) == [0.03, 0.3]
    assert lines[0]["score"] >= lines[1]["score"]
    assert (tmp_path / "sweep.json").read_text() == before
    assert json.loads((tmp_path / "lamps-entropy=0.3-2" / "config.json").read_text())["learner"]["entropy"] == 0.3
    status, _, errors = run(capsys, *flags, "--batch-size", "7")
    assert status == 1
    assert "holds a run with other settings (batch_size is 64, not 7)" in errors


@dataclass(frozen=True)
class Narrow:
    """A policy of this module: workers know it only because it is sent to them."""

    width: int = 4

    def build(self, tables, vocabulary):
        from sestra.learning.policies.attention import AttentionPolicy
        from sestra.learning.policies.attention_config import AttentionConfig

        return AttentionPolicy(AttentionConfig(self.width, self.width), tables, vocabulary)


@dataclass(frozen=True)
class Patient(Supervised):
    """A learner of this module."""

    factor: float = 0.5


@pytest.mark.slow
def test_registered_plug_ins_reach_the_workers(capsys, started_ray, data, tmp_path, monkeypatch):
    for registry, name, item in ((POLICIES, "narrow", Narrow), (LEARNERS, "patient", Patient)):
        monkeypatch.setattr(registry, "_registered", {})
        registry.register(name, item)
    flags = ["--world", "lamps", "--policy", "narrow", "--learner", "patient", "--width", "4,6", "--factor", "0.3", "--epochs", "1"]
    status, output, errors = run(capsys, "sweep", *flags, "--data", data, "--out", tmp_path, "--json")
    assert status == 0, errors
    assert sorted(line["values"]["width"] for line in json.loads(output)["combinations"]) == [4, 6]
    stored = json.loads((tmp_path / "lamps-width=6-1" / "config.json").read_text())
    assert (stored["policy"], stored["learner"]) == ({"name": "narrow", "width": 6}, {"name": "patient", "factor": 0.3})


@pytest.mark.slow
def test_optuna_stops_and_continues(capsys, started_ray, data, tmp_path):
    flags = ["sweep", *SMALL, "--entropy", "0.01..0.5:log", "--data", data, "--out", tmp_path, "--search", "optuna"]
    assert run(capsys, *flags, "--trials", "2", "--json")[0] == 0
    first = json.loads((tmp_path / "sweep.json").read_text())["combinations"]
    assert len(first) == 2
    assert run(capsys, *flags, "--trials", "3", "--json")[0] == 0
    written = json.loads((tmp_path / "sweep.json").read_text())["combinations"]
    assert written[:2] == first
    assert len({one["values"]["entropy"] for one in written}) == 3
    assert all(0.01 <= one["values"]["entropy"] <= 0.5 for one in written)
    status, _, errors = run(capsys, *flags, "--trials", "3", "--max-grad-norm", "1")
    assert status == 2
    assert "holds a sweep with other flags" in errors


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--search", "optuna"], "nothing to search"),
        (["--entropy", "0..1"], "a range needs --search optuna"),
        (["--entropy", "1,-1"], "--entropy -1.0: expected a number from 0"),
        (["--seed", "3"], "say how many with --seeds"),
        (["--seeds", "0"], "--seeds 0"),
        (["--trials", "0"], "--trials 0"),
        (["--world", "mars", "--entropy", "0.1,0.2"], "unknown world 'mars'"),
        ([], "nothing to compare"),
    ],
)
def test_wrong_flags_of_sweeps(capsys, data, tmp_path, flags, complaint):
    status, _, errors = run(capsys, "sweep", *SMALL, "--data", data, "--out", tmp_path / "out", *flags)
    assert status == 2
    assert complaint in errors
    assert not (tmp_path / "out").exists()


def test_help_names_every_setting(capsys):
    status, output, _ = run(capsys, "sweep", "--help")
    assert status == 0
    for name in KNOWN:
        assert f"--{name.replace('_', '-')} VALUE" in output
    assert "Weight (lambda) of the policy's entropy" in " ".join(output.replace("│", "").split())
