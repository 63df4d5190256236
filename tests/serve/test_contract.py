"""The interface keeps what its OpenAPI document promises, whatever is sent to it."""

from __future__ import annotations

import pytest
import schemathesis
from agents import random_agent
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

from sestra.serve.app import create_app
from sestra.worlds import WORLDS

DESCRIBED = create_app([]).openapi()
OPERATIONS = [(path, method) for path, methods in DESCRIBED["paths"].items() for method in methods]
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_no_request_breaks_the_server(app: FastAPI, path: str, method: str, mode: GenerationMode):
    if mode is GenerationMode.NEGATIVE and not _can_be_wrong(DESCRIBED["paths"][path][method]):
        pytest.skip("there is nothing to get wrong")
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)

    @settings(max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(schema[path][method].as_strategy(generation_mode=mode))
    def check(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS)

    check()


def _can_be_wrong(operation: dict[str, object]) -> bool:
    return "requestBody" in operation or "parameters" in operation


STATES = st.one_of(st.sampled_from(["1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_", "1:0 2:1", "", "1:__"]), st.text(max_size=30))


@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(world=st.sampled_from([*WORLDS.names(), "?"]), states=st.lists(STATES, min_size=1, max_size=3), words=st.text(max_size=60))
def test_no_text_breaks_the_server(client: TestClient, world: str, states: list[str], words: str):
    history = [{"state": state, "instruction": words[::-1]} for state in states[1:]]
    answer = client.post("/api/follow", json={"world": world, "state": states[0], "history": history, "instruction": words})
    assert answer.status_code in {200, 422}
    assert answer.json()


def test_the_document_is_the_same_with_and_without_agents():
    assert create_app([random_agent("tangrams")]).openapi() == DESCRIBED
