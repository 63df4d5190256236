"""How long a state may be follows from its world."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from lamps import Lamps
from refusals import assert_refused
from small_networks import random_network

from sestra.agent import Agent
from sestra.agent import folder as agent_folder
from sestra.agent.folder import About
from sestra.agent.limits import max_state_length
from sestra.data.vocabulary import Vocabulary
from sestra.serve.app import create_app
from sestra.worlds import WORLDS, get_world
from sestra.worlds.tables import compile_world


class ManyLamps(Lamps):
    """A state has 1,789 characters."""

    name = "many-lamps"
    slots = 300


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setitem(WORLDS._registered, "many-lamps", ManyLamps)
    tables, vocabulary = compile_world(get_world("many-lamps")), Vocabulary(("light", "one", "red"))
    agent_folder.write(
        tmp_path / "many", About("many-lamps", 8, 0.1), vocabulary, [random_network(tables, len(vocabulary), seed=1)], "# A\n"
    )
    return TestClient(create_app([Agent.from_pretrained(tmp_path / "many")]), raise_server_exceptions=False)


def test_a_state_of_a_large_world_is_served(client: TestClient):
    state = ManyLamps().format(("r",) * 300)
    assert len(state) == max_state_length(get_world("many-lamps")) > 1_000
    answer = client.post("/api/follow", json={"world": "many-lamps", "state": state, "history": [], "instruction": "light one red"})
    assert answer.status_code == 200, answer.text
    assert client.get("/api/worlds").json()["limits"]["state"] == len(state)
    longer = {"world": "many-lamps", "state": state + "r", "history": [], "instruction": "light one red"}
    assert_refused(client.post("/api/follow", json=longer))
