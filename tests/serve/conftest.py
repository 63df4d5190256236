"""The application with agents that have learnt nothing."""

from __future__ import annotations

import pytest
from agents import random_agent
from fastapi import FastAPI
from fastapi.testclient import TestClient

from sestra.serve.app import create_app
from sestra.worlds import WORLDS

collect_ignore = ["conftest.py"]
"""There are no doctests here, and two files of one name are not collected together."""


@pytest.fixture(scope="session")
def app() -> FastAPI:
    return create_app([random_agent(world) for world in WORLDS.names()])


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    """Without the application's start and end, which belong to a server: the tests share the application."""
    return TestClient(app, raise_server_exceptions=False)
