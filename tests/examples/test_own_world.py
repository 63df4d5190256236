"""The warehouse: a grid with a grammar, from its rules to an agent."""

from __future__ import annotations

import json
from random import Random

import pytest
from commands import run
from lifecycle import EXAMPLES

from sestra.data.synthetic import generate
from sestra.drawing import describe, draw_svg, draw_terminal
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world

WAREHOUSE = f"{EXAMPLES / 'own_world' / 'world.py'}:Warehouse"
SMALL = ["--epochs", "1", "--size", "8", "--embedding", "4", "--heads", "1", "--layers", "1", "--execution-horizon", "8"]


@pytest.fixture
def world():
    return get_world(WAREHOUSE)


def test_each_file_is_short():
    lines = {path.name: len(path.read_text().splitlines()) for path in (EXAMPLES / "own_world").glob("*.py")}
    assert set(lines) == {"__init__.py", "world.py", "grammar.py"}
    assert max(lines.values()) < 80


def test_the_grammar_has_some_twenty_patterns_that_the_horizon_allows(world):
    tables, said = compile_world(world), set()
    for interaction in generate(world, 400, seed=1):
        for instruction, start, goal in interaction.turns():
            assert start != goal, instruction
            assert tables.steps_to_go(tables.encode([start]), tables.encode([goal]))[0] < world.settings.horizon, instruction
            said.add(" ".join(word for word in instruction.split() if word in VERBS))
    assert said >= {"clear", "fill", "swap", "exchange", "push", "move one shelf", "replace", "stock", "bring", "undo", "no more"}


VERBS = ["clear", "fill", "swap", "exchange", "push", "move", "one", "shelf", "replace", "stock", "bring", "undo", "no", "more"]


def test_it_is_drawn_as_a_grid(world):
    state = generate(world, 1, seed=1)[0].states[0]
    rows = [line for line in draw_terminal(world, state).plain.splitlines() if line.startswith("┌")]
    assert [row.count("┌") for row in rows] == [5, 5, 5, 5]
    assert "(row 4, column" in describe(world, tuple(Random(1).choice(world.contents[1:]) for _ in range(20)))
    assert draw_svg(world, state).count("<rect") >= 20


def test_it_is_trained_evaluated_and_followed(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for split, count in (("train", 12), ("dev", 4)):
        status, _, errors = run(capsys, "data", "generate", "--world", WAREHOUSE, "--count", str(count), "--out", f"warehouse-{split}.tsv")
        assert status == 0, errors
    train = ["--world", WAREHOUSE, "--policy", "objects", "--data", ".", "--out", "run", *SMALL]
    assert run(capsys, "train", *train)[0] == 0
    assert run(capsys, "evaluate", "run", "--data", ".")[0] == 0
    state = get_world(WAREHOUSE).format(("_",) * 19 + ("tea",))
    status, output, _ = run(capsys, "run", "--agent", "run", "--state", state, "--json", "clear row 4")
    assert status == 0
    assert json.loads(output)["world"] == "warehouse"
