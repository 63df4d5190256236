"""Patterns make checks that are sound, the same for the same seed, and whose outcome is compared with the expected state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sestra.agent import Agent
from sestra.analysis.checks.page import write_page
from sestra.analysis.checks.patterns import Capability, Patterns, Situation, need
from sestra.analysis.checks.run import Outcome, run_checks
from sestra.cli import main
from sestra.worlds import WORLDS, get_world
from sestra.worlds.alchemy.situations import drain, pour
from sestra.worlds.tables import compile_world
from sestra.worlds.tangrams.situations import move

HORIZON = 20
"""The most actions that shipped agents take."""


@pytest.fixture(scope="module")
def agent() -> Agent:
    return Agent.from_pretrained("tangrams")


@pytest.mark.parametrize("name", WORLDS.names())
def test_every_check_is_sound(name):
    world = get_world(name)
    tables, found = compile_world(world), world.checks()
    assert found is not None
    for capability in found.capabilities:
        assert sum(len(patterns.sentences) for patterns in capability.patterns) >= 10, capability.name
        for check in capability.checks(world, seed=3, each=2):
            assert "{" not in check.sentence
            assert len(check.states) == len(check.instructions)
            assert all(before != after for before, after in zip(check.states, check.states[1:], strict=False)), check
            assert (check.goal != check.start) == check.followable, check
            assert (len(set(check.readings) - {check.start}) > 1) == (check.kind == "ambiguous"), check
            for goal in (check.goal, *check.readings):
                now, wanted = (tables.encode([world.parse(state)]) for state in (check.start, goal))
                assert tables.steps_to_go(now, wanted)[0] < HORIZON, check


@pytest.mark.parametrize("name", WORLDS.names())
def test_the_seed_decides(name):
    world = get_world(name)
    found = world.checks()
    assert found is not None
    one, same, other = (list(found.capabilities[0].checks(world, seed, each=2)) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_the_order_of_layers_is_reversed_by_pouring():
    beakers = ("go", "r", "", "", "", "", "")
    assert pour(beakers, 0, 1) == ("", "rog", "", "", "", "", "")
    assert pour(beakers, 0, 2, 1) == ("g", "r", "o", "", "", "", "")
    assert drain(beakers, 0, 1)[0] == "g"


def test_a_moved_figure_stands_where_it_was_moved_to():
    assert move("01234", 0, 2) == "12034"
    assert move("01234", 4, 0) == "40123"


def test_a_pattern_that_nothing_fits_is_an_error():
    def draw(_):
        need(False)
        return Situation((("0",),), ("",), {})

    with pytest.raises(RuntimeError, match="odd: remove it"):
        list(Capability("odd", (Patterns(draw, ("remove it",)),)).checks(get_world("tangrams"), 0, 1))


def test_passed_means_that_the_expected_state_was_reached(agent):
    report = run_checks(agent, only=("place", "negation"), each=2)
    assert report.sentences == ()
    for outcome in report.patterns:
        assert outcome.passed == (outcome.turn.end == outcome.check.goal)
        assert outcome.check.followable or outcome.passed == (outcome.turn.end == outcome.turn.start)
    assert report.capabilities(followable=True)["place"].percent > 80
    counted = report.capabilities(followable=False)["negation"]
    failed = [outcome for outcome in report.failures() if outcome.check.capability == "negation"]
    assert counted.trials - counted.successes == len(failed)


def test_failures_of_the_reported_half_are_shown_only_on_demand(agent):
    report = run_checks(agent, each=1)
    halves = [{outcome.check.half for outcome in report.failures(show_report=show)} for show in (False, True)]
    assert halves == [{None, "tune"}, {None, "tune", "report"}]
    hidden = {"".join(outcome.check.instructions) for outcome in report.sentences if outcome.check.half == "report"}
    shown: list[Outcome] = report.failures()
    assert not hidden & {"".join(outcome.check.instructions) for outcome in shown if outcome.check.half}
    assert report.half("report")["followable"].trials == 45


def test_the_page_escapes_and_shows_failures(agent):
    report = run_checks(agent, only=("unknown deed",), each=1)
    page = write_page(report, agent.world, "Checks of <b>", 2)
    assert "Checks of &lt;b&gt;" in page
    assert page.count("<article>") == 2
    assert "<script" not in page


def test_the_command(capsys, tmp_path: Path):
    page = tmp_path / "checks.html"
    assert main(["check", "tangrams", "--capability", "moves", "--json", "--examples", "1", "--page", str(page)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed["capabilities"]) == ["moves"]
    assert len(printed["failures"]) == 1
    assert "moves" in page.read_text()
    assert main(["check", "tangrams", "--capability", "flying"]) == 2
    assert "--capability flying: is not a capability of tangrams; expected some of place, " in capsys.readouterr().err
    assert main(["check", "tangrams", "--page", "checks.txt"]) == 2
