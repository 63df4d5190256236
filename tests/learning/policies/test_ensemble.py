"""Runs joined: the mean of their probabilities decides, and the folder is used as a run's is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from commands import run
from lamps import Lamps, interactions
from sestra.learning.policies.ensemble import Ensemble

from sestra import Agent
from sestra.agent import agent as following
from sestra.agent.trace import Turn
from sestra.data import scone
from sestra.data.batch import encode_turns
from sestra.io import read_json
from sestra.learning import speculative
from sestra.learning.decoding import forced, sampled
from sestra.learning.policies.base import SpeculativeDecoding
from sestra.learning.policies.objects.policy import ObjectPolicy
from sestra.learning.rollout import roll_out
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.worlds import WORLDS

SIZES = {"attention": ["--embedding", "4", "--hidden", "6"], "objects": ["--embedding", "4", "--size", "8", "--heads", "2"]}


@pytest.fixture(autouse=True)
def lamps(monkeypatch):
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Two runs of each network, with different seeds."""
    base = tmp_path_factory.mktemp("runs")
    for split, seed in (("train", 1), ("dev", 2)):
        scone.write(base / f"lamps-{split}.tsv", Lamps(), interactions(20, seed=seed, turns=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(WORLDS._registered, "lamps", Lamps)
        from sestra.cli import main

        for network, sizes in SIZES.items():
            for seed in "12":
                flags = ["--world", "lamps", "--policy", network, "--seed", seed, "--epochs", "1", *sizes, "--data", str(base)]
                assert main(["train", *flags, "--out", str(base / f"{network}-{seed}")]) == 0
    return base


@pytest.mark.parametrize("network", SIZES)
def test_the_mean_of_the_probabilities_decides(capsys, runs, tmp_path, network):
    members = [runs / f"{network}-{seed}" for seed in "12"]
    status, output, _ = run(capsys, "join", *members, "--to", tmp_path / "both")
    assert status == 0
    assert "2 runs joined" in output
    joined = load_trained(RunFolder(tmp_path / "both"))
    turns = encode_turns(interactions(30, seed=3, turns=3), joined.vocabulary, joined.tables)
    with torch.no_grad():
        together = roll_out(joined.policy, joined.tables, turns, 5, sampled(torch.Generator().manual_seed(1)))
        each = [roll_out(load_trained(RunFolder(member)).policy, joined.tables, turns, 5, forced(together.actions.T)) for member in members]
    mean = torch.stack([one.log_probs.exp() for one in each]).mean(0)
    alive = together.alive
    assert not alive.all(), "some have ended before others"
    assert torch.allclose(together.log_probs.exp()[alive], mean[alive], atol=1e-6)
    assert not torch.allclose(each[0].log_probs[alive], each[1].log_probs[alive], atol=1e-3)


def test_used_measured_and_exported_as_a_run_is(capsys, runs, tmp_path):
    both, agent = tmp_path / "both", tmp_path / "agent"
    assert run(capsys, "join", runs / "objects-1", runs / "objects-2", "--to", both)[0] == 0
    assert run(capsys, "evaluate", both, "--data", runs)[0] == 0
    assert [member["seed"] for member in read_json(both / "results.json")["training"]["members"]] == [1, 2]
    assert run(capsys, "export", both, "--to", agent)[0] == 0
    members = "; ".join(f"learner `best-action`, seed {seed}, epoch 1" for seed in (1, 2))
    assert f"2 runs that decide by the mean of their probabilities ({members})" in (agent / "CARD.md").read_text()
    trace = Agent.from_pretrained(agent).follow("1:r 2:_ 3:_", ["light the second lamp"])
    assert [each.name for each in trace.turns[0].steps[0].attention] == ["words", "changes", "objects"]


@pytest.mark.parametrize("horizon", [2, 20])
def test_a_draft_of_the_first_is_corrected_where_all_together_would_have_done_something_else(capsys, runs, tmp_path, monkeypatch, horizon):
    assert run(capsys, "join", runs / "objects-1", runs / "objects-2", "--to", tmp_path / "both")[0] == 0
    agent, plain = (Agent.from_pretrained(tmp_path / "both") for _ in range(2))
    monkeypatch.setattr(plain._policy, "drafter", lambda: None)
    policies = []

    def counted(policy, *arguments, **settings):
        policies.append(type(policy))
        return roll_out(policy, *arguments, **settings)

    monkeypatch.setattr(following, "roll_out", counted)
    monkeypatch.setattr(speculative, "roll_out", counted)
    several = [(agent.world.format(each.states[0]), [*each.instructions, "gibberish"]) for each in interactions(10, seed=3, turns=3)]
    drafted = [agent.follow(*each, horizon=horizon) for each in several]
    drafts, corrected = policies.count(ObjectPolicy), policies.count(Ensemble)
    assert drafts == 4 * len(several)
    assert 0 < corrected < drafts
    for mine, theirs in zip(drafted, [plain.follow(*each, horizon=horizon) for each in several], strict=True):
        assert [step.action for turn in mine.turns for step in turn.steps] == [step.action for turn in theirs.turns for step in turn.steps]
        for one, other in zip(mine.turns, theirs.turns, strict=True):
            assert one.stopped == other.stopped
            assert one.end == other.end
            assert [step.probability for step in one.steps] == pytest.approx([step.probability for step in other.steps], abs=1e-5)
            for mean, together in zip(weights(one), weights(other), strict=True):
                assert mean == pytest.approx(together, abs=1e-4)
    policies.clear()
    agent.follow(*several[0], how="sample")
    agent.follow(*several[0], how="beam")
    agent.follow_many(several[:2])
    assert set(policies) == {Ensemble}


def weights(turn: Turn) -> list[list[float]]:
    """Of each step, all that was looked at."""
    return [[weight.weight for each in step.attention for head in each.heads for weight in head] for step in turn.steps]


def test_there_is_no_draft_of_policies_whose_steps_depend_on_each_other(capsys, runs, tmp_path):
    assert run(capsys, "join", runs / "attention-1", runs / "attention-2", "--to", tmp_path / "both")[0] == 0
    assert load_trained(RunFolder(tmp_path / "both")).policy.drafter() is None
    assert not isinstance(load_trained(RunFolder(runs / "objects-1")).policy, SpeculativeDecoding)


def test_what_does_not_belong_together(capsys, runs, tmp_path):
    to = tmp_path / "both"
    alone = run(capsys, "join", runs / "objects-1", "--to", to)
    twice = run(capsys, "join", runs / "objects-1", runs / "objects-1", "--to", to)
    shipped = run(capsys, "join", "alchemy", "scene", "--to", to)
    networks = run(capsys, "join", runs / "objects-1", runs / "attention-1", "--to", to)
    shutil.copytree(runs / "objects-2", tmp_path / "other")
    (tmp_path / "other" / "data.json").write_text('{"name": "elsewhere.tsv", "sha256": "123"}')
    data = run(capsys, "join", runs / "objects-1", tmp_path / "other", "--to", to)
    missing = run(capsys, "join", runs / "objects-1", tmp_path / "nowhere", "--to", to)
    complaints = {
        "expected two or more runs": (alone, twice), "is an exported policy": (shipped,), "has another policy": (networks,),
        "was trained on other data": (data,), "neither the folder of a run": (missing,),
    }  # fmt: skip
    for complaint, (status, _, errors) in [(text, each) for text, several in complaints.items() for each in several]:
        assert status == 2
        assert complaint in errors
    assert not to.exists()
    assert run(capsys, "join", runs / "objects-1", runs / "objects-2", "--to", to)[0] == 0
    again = run(capsys, "join", runs / "objects-1", to, "--to", tmp_path / "three")
    assert again[0] == 2
    assert "is an ensemble" in again[2]
    over = run(capsys, "join", runs / "objects-1", runs / "objects-2", "--to", to)
    assert over[0] == 2
    assert "is there already" in over[2]
    resumed = run(capsys, "train", "--resume", "--out", to)
    assert resumed[0] == 2
    assert "holds no run to resume" in resumed[2]


def test_figures_of_another_policy_are_not_put_on_the_card(capsys, runs, tmp_path):
    both = tmp_path / "both"
    assert run(capsys, "join", runs / "objects-1", runs / "objects-2", "--to", both)[0] == 0
    assert run(capsys, "evaluate", runs / "objects-1", "--data", runs, "--out", tmp_path / "results.json")[0] == 0
    status, _, errors = run(capsys, "export", both, "--to", tmp_path / "agent", "--results", tmp_path / "results.json")
    assert status == 2
    assert "are not this run's results" in errors
    assert not (tmp_path / "agent").exists()
