"""Runs as agents: what is written, when it is current, what an export that was killed leaves behind, and which policies are refused."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from lamps import Lamps, interactions
from plain_policy import PlainConfig, PlainPolicy
from small_runs import TINY, start

from sestra import Agent
from sestra.agent import folder as agent_folder
from sestra.agent.calibration import measure
from sestra.agent.folder import is_current
from sestra.data.batch import encode_turns
from sestra.errors import InputError
from sestra.io import to_json
from sestra.learning import checkpoint, graphs
from sestra.learning.config import TrainConfig
from sestra.learning.export import export_run, export_trained, load_weights
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.worlds import WORLDS

CONFIG = TINY.changed(policy=PlainConfig(size=16), epochs=2, execution_horizon=4)


@pytest.fixture(autouse=True)
def lamps(monkeypatch):
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Path:
    """A run with its agent."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(WORLDS._registered, "lamps", Lamps)
        run = start(tmp_path_factory.mktemp("exported") / "run", CONFIG)
        run.run()
        export_run(run.folder)
        return run.folder.path


def test_what_a_run_held_out_calibrates_its_agent(tmp_path):
    run = start(tmp_path / "run", CONFIG)
    run.run()
    export_run(run.folder)
    assert Agent.from_pretrained(run.folder.path).caution == 0
    export_run(run.folder, run.validation)
    agent = Agent.from_pretrained(run.folder.path)
    measured = measure(agent.execute, agent.tables, run.validation, 16)
    assert agent.about.calibration == measured.fit()
    assert agent.caution == agent.about.calibration.caution


@pytest.fixture
def run(exported, tmp_path) -> RunFolder:
    return RunFolder(Path(shutil.copytree(exported, tmp_path / "run")))


def change(run: RunFolder) -> None:
    """As if it had been trained further."""
    tensors, chosen = checkpoint.load(run.model)
    checkpoint.save(run.model, {name: value * 1.5 for name, value in tensors.items()}, {**chosen, "epoch": 2})
    run.write_results([], [])


def test_the_agent_of_a_run(run):
    agent, trained = Agent.from_pretrained(run.path), load_trained(run)
    assert sorted(path.name for path in (run.path / "agent").iterdir()) == ["agent.json", "encode-1.onnx", "step-1.onnx", "vocab.json"]
    assert (agent.name, agent.world.name, agent.vocabulary) == ("run", "lamps", trained.vocabulary)
    assert (agent.about.world, agent.about.horizon, agent.about.verbosity) == ("lamps", 4, 0.15)
    assert agent.training["model"] == checkpoint.checksum(run.model)
    assert agent.training["data"] == {"name": "lamps", "sha256": "0"}
    assert agent.training["parameters"] == sum(parameter.numel() for parameter in trained.policy.parameters())
    assert {name: agent.training[name] for name in trained.training} == json.loads(to_json(trained.training))
    assert TrainConfig.from_json(agent.training["config"], "agent") == CONFIG


def test_it_does_what_the_trained_policy_does(run):
    agent, trained = Agent.from_pretrained(run.path), load_trained(run)
    turns = encode_turns(interactions(20, seed=3, turns=3), trained.vocabulary, trained.tables)
    ours, theirs = agent.execute(turns), trained.execute(turns)
    assert np.array_equal(ours.actions, theirs.actions)
    np.testing.assert_allclose(ours.log_probs[ours.alive], theirs.log_probs[ours.alive], atol=0.01)


def test_a_run_that_was_trained_further_is_not_current(run):
    assert is_current(run.path)
    before = (run.path / "agent" / "encode-1.onnx").read_bytes()
    change(run)
    assert not is_current(run.path)
    with pytest.raises(InputError, match=r"has not been exported yet; export it with: sestra export"):
        Agent.from_pretrained(run.path)
    export_run(run)
    assert is_current(run.path)
    assert Agent.from_pretrained(run.path).training["chosen"]["epoch"] == 2
    assert (run.path / "agent" / "encode-1.onnx").read_bytes() != before


def test_the_same_run_gives_the_same_bytes(run):
    before = {path.name: path.read_bytes() for path in (run.path / "agent").iterdir()}
    export_run(run)
    assert {path.name: path.read_bytes() for path in (run.path / "agent").iterdir()} == before


@pytest.mark.parametrize("write", range(1, 6))
@pytest.mark.parametrize("again", [False, True], ids=["first", "over another"])
def test_a_killed_export_leaves_no_agent_and_can_be_repeated(run, write, again):
    """Killed before each of its files is in its place; ``again`` means that there was an agent of an earlier epoch."""
    expected = {path.name: path.read_bytes() for path in (run.path / "agent").iterdir()}
    if again:
        about = run.path / "agent" / "agent.json"
        about.write_text(about.read_text().replace(checkpoint.checksum(run.model), "0" * 64))
    else:
        shutil.rmtree(run.path / "agent")
    pid = os.fork()
    if not pid:
        try:
            move, count = Path.replace, [0]

            def doomed(self: Path, target: Path) -> Path:
                count[0] += 1
                if count[0] == write:
                    os.kill(os.getpid(), signal.SIGKILL)
                return move(self, target)

            Path.replace = doomed  # type: ignore[method-assign]
            export_run(run)
        finally:
            os._exit(0)
    killed = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    assert killed == (write <= 4), "four files"
    if killed:
        assert not (run.path / "agent" / "agent.json").exists()
        assert not is_current(run.path)
        with pytest.raises(InputError, match="has not been exported yet"):
            agent_folder.find(run.path)
        export_run(run)
    assert {path.name: path.read_bytes() for path in (run.path / "agent").iterdir()} == expected


def test_what_is_not_an_agent_is_not_replaced(run):
    agent_folder.read(run.path / "agent")
    (run.path / "agent" / "agent.json").unlink()
    (run.path / "agent" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is there already and is no agent"):
        export_run(run)
    assert (run.path / "agent" / "thesis.tex").read_text() == "years of work"


def test_a_run_without_a_model(tmp_path):
    run = start(tmp_path / "run", CONFIG)
    with pytest.raises(InputError, match="train at least one epoch"):
        export_run(run.folder)
    assert not (tmp_path / "run" / "agent").exists()


# Weights.


def test_weights_of_an_agent_in_a_policy(run):
    trained = load_trained(run)
    policy = PlainConfig(size=16).build(trained.tables, trained.vocabulary)
    load_weights(policy, str(run.path))
    expected = trained.policy.half().float().state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in policy.state_dict().items())
    assert policy.training


def test_weights_of_a_shipped_agent_can_be_read_back():
    """What the attention policy prepares from its weights is computed by the graphs, which hold the weights themselves."""
    contents = agent_folder.read(agent_folder.find("tangrams-sestra"))
    config = TrainConfig.from_json(contents.about.training["config"], "tangrams-sestra")
    load_weights(config.build_policy(contents.tables, contents.vocabulary), "tangrams-sestra")  # which compares what both give


@pytest.mark.parametrize("policy", [PlainConfig(size=8), AttentionConfig(embedding=8, hidden=4), AttentionConfig(embedding=16, hidden=4)])
def test_weights_of_another_structure(run, policy):
    trained = load_trained(run)
    with pytest.raises(InputError, match="its network has another structure than the policy"):
        load_weights(policy.build(trained.tables, trained.vocabulary), str(run.path))


# Policies that depend on more than they are given.


class Random(PlainPolicy):
    def step(self, memory, carry, states, previous, *, return_attention=False):
        step = super().step(memory, carry, states, previous)
        return step._replace(logits=step.logits + random.random())


class Counting(PlainPolicy):
    calls = 0

    def step(self, memory, carry, states, previous, *, return_attention=False):
        step = super().step(memory, carry, states, previous)
        self.calls += 1
        return step._replace(logits=step.logits * self.calls)


class Dropping(PlainPolicy):
    """Drops out even when it does not train."""

    def step(self, memory, carry, states, previous, *, return_attention=False):
        step = super().step(memory, carry, states, previous)
        return step._replace(logits=torch.nn.functional.dropout(step.logits, 0.5, training=True))


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (Random, r"its exported graphs give other numbers than it does \(by up to .*does what it computes depend on anything but the"),
        (Counting, "its exported graphs give other numbers than it does"),
        (Dropping, "policy: cannot be exported|which no agent needs|give other numbers"),
    ],
)
def test_a_policy_that_depends_on_more_than_it_is_given_is_refused(run, monkeypatch, kind, complaint):
    trained = load_trained(run)
    policy = kind(trained.tables, trained.vocabulary, 16)
    monkeypatch.setattr(graphs, "_TRACED", {})
    with pytest.raises(InputError, match=complaint):
        export_trained(replace(trained, policy=policy))
