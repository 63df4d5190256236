"""The interface of a run that is watched: while it goes on, when it has ended, and where there is nothing to watch."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from agents import random_agent
from fastapi.testclient import TestClient
from lamps import Lamps, interactions

import sestra
from sestra.agent import run_examples
from sestra.cli.serve import own_agent
from sestra.errors import InputError
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.serve.app import create_app
from sestra.serve.watch import WatchedRun

SMALL = {"policy": AttentionConfig(embedding=4, hidden=6), "epochs": 3, "batch_size": 10, "horizon": 3, "validation_fraction": 0.2}
DATA = interactions(30, seed=1)


class StopIn(sestra.Callback):
    """Asks the run to stop within an epoch, as a signal does."""

    def __init__(self, epoch):
        self.epoch = epoch

    def on_train_begin(self, trainer, notices):
        self.trainer = trainer

    def on_batch_end(self, done, total, objective):
        self.trainer.stop_requested = self.trainer.progress.epoch + 1 == self.epoch


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Path:
    """A run of which two epochs have ended."""
    out = tmp_path_factory.mktemp("runs") / "lamps"
    sestra.train(Lamps, DATA, out=out, callbacks=[StopIn(3)], **SMALL)
    return out


@pytest.fixture
def run(begun: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(begun, tmp_path / "lamps"))


def client_of(run: Path, *agents) -> TestClient:
    return TestClient(create_app(list(agents), watched=WatchedRun(run)), raise_server_exceptions=False)


def test_the_page_of_a_run_follows_it_to_its_end(run: Path):
    client = client_of(run)
    shown = client.get("/api/run").json()
    assert (shown["name"], shown["world"], shown["policy"], shown["learner"]) == ("lamps", "lamps", "attention", "sestra")
    assert (shown["epochs"], shown["finished"], len(shown["records"]), len(shown["tasks"])) == (3, False, 2, 5)
    assert [each["epoch"] for each in shown["followed"]] == [0, 1, 2]
    assert own_agent(WatchedRun(run)) == []
    sestra.train(data=DATA, out=run, resume=True)
    shown = client.get("/api/run").json()
    assert (shown["finished"], len(shown["records"]), [each["epoch"] for each in shown["followed"]]) == (True, 3, [0, 1, 2, 3])
    assert shown["selected"] == sestra.Run(run).best["epoch"]
    assert shown["idle"] < 600
    [agent] = own_agent(WatchedRun(run))
    assert agent.name == "lamps"


def test_the_states_of_an_epoch_are_those_that_its_actions_lead_to(run: Path):
    client = client_of(run)
    shown, world = client.get("/api/run").json(), Lamps()
    for listed in shown["followed"]:
        turns = client.get(f"/api/run/{listed['epoch']}").json()["turns"]
        assert [turn["right"] for turn in turns] == listed["right"]
        for task, turn in zip(shown["tasks"], turns, strict=True):
            state = world.parse(task["start"])
            for step in turn["steps"]:
                state = world.apply(state, world.parse_action(step["action"]))
                assert step["state"] == world.format(state)
                assert step["words"].startswith(("slot", "stops"))
            assert turn["stopped"] == (turn["steps"][-1]["action"] == "stop")
            assert turn["right"] == (turn["stopped"] and turn["end"] == task["goal"])


def test_a_turn_is_right_only_where_it_stopped_in_the_goal(run: Path):
    """The file as if a model had done the first task rightly, and the second without coming to an end."""
    kept = run_examples.read(run)
    assert kept is not None
    world, actions = Lamps(), []
    for task in kept.tasks:
        start, goal = world.parse(task.start), world.parse(task.goal)
        [slot] = [number for number in range(3) if start[number] != goal[number]]
        actions.append([f"out {slot + 1}" if goal[slot] == "_" else f"light {slot + 1} {goal[slot]}", "stop"])
    actions[1].pop()
    actions[2].pop(0)
    epoch = run_examples.Epoch(2, tuple(map(tuple, actions)), tuple((0.5,) * len(each) for each in actions))
    run_examples.write(run, kept.with_epoch(epoch))
    assert client_of(run).get("/api/run").json()["followed"][-1] == {"epoch": 2, "right": [True, False, False, True, True]}


def test_an_epoch_that_nothing_is_stored_of_is_refused(run: Path):
    client = client_of(run)
    for epoch in ("7", "-1", "x", str(10**30)):
        answer = client.get(f"/api/run/{epoch}")
        assert answer.status_code == 422
        assert answer.json()["problems"][0]["where"].endswith("epoch")


def test_without_an_agent_the_first_page_is_the_run_s(run: Path):
    alone, beside = client_of(run), client_of(run, random_agent("tangrams"))
    assert "Watch it learn" in alone.get("/").text
    assert (alone.get("/api/worlds").json()["worlds"], beside.get("/api/worlds").json()["watched"]) == ([], "lamps")
    assert "Watch it learn" not in beside.get("/").text
    for client in (alone, beside):
        assert "Watch it learn" in client.get("/watch.html").text
        state = client.get("/api/run").json()["tasks"][0]["start"]
        assert client.get("/api/drawing", params={"world": "lamps"}).status_code == 200
        frames = {"world": "lamps", "frames": [{"state": state, "since": state}]}
        assert client.post("/api/frames", json=frames).status_code == 200
        refused = client.post("/api/follow", json={"world": "lamps", "state": state, "instruction": "light one red"})
        assert refused.status_code == 422


def test_nothing_is_watched_unless_it_was_asked_for(client: TestClient):
    assert client.get("/api/run").status_code == 404
    assert client.get("/api/worlds").json()["watched"] is None


def test_a_run_of_an_earlier_version_has_its_curves_alone(run: Path):
    (run / run_examples.NAME).unlink()
    shown = client_of(run).get("/api/run").json()
    assert (shown["tasks"], shown["followed"], shown["epochs"], len(shown["records"])) == ([], [], None, 2)
    (run / "metrics.jsonl").unlink()  # as before the first epoch has ended
    assert client_of(run).get("/api/run").json()["records"] == []


def test_what_is_no_run_or_is_damaged_is_refused_with_the_place(run: Path, tmp_path: Path):
    with pytest.raises(InputError, match=re.escape(f"--watch {tmp_path}: is not the folder of a run")):
        WatchedRun(tmp_path)
    (run / "metrics.jsonl").write_text("{")
    answer = client_of(run).get("/api/run")
    assert answer.status_code == 422
    assert "metrics.jsonl" in answer.json()["reason"]
    (run / "config.json").write_text(json.dumps({"world": 3}))
    with pytest.raises(InputError, match=r"config\.json: names no world"):
        WatchedRun(run)
    (run / "config.json").write_text(json.dumps({"world": f"{run}/evil.py:World"}))
    (run / "evil.py").write_text("raise SystemExit")
    with pytest.raises(InputError, match="world"):
        WatchedRun(run)
