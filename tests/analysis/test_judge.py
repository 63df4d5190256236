"""Labels are disputed where all networks of an ensemble, each alone, end in the same other state; errors then have that cause."""

from __future__ import annotations

import pytest
from agents import random_agent, write_random_agent
from commands import run

from sestra.agent.evaluation import evaluate
from sestra.analysis.analyze import analyse
from sestra.analysis.errors import Case, cause, resolved
from sestra.analysis.judge import disputed, find_judge
from sestra.analysis.paper import Cause
from sestra.analysis.references import Reference
from sestra.data.batch import encode_turns
from sestra.data.synthetic import generate
from sestra.errors import InputError
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world

IT = Reference("coreference", "object", "it", 1)
BACK = Reference("coreference", "position", "back", 1)


def beakers(*units):
    return " ".join(f"{number}:{unit}" for number, unit in enumerate((*units, *"_______")[:7], start=1))


def case(world, start, goal, reached, *references):
    parse = get_world(world).parse
    return Case("id", 1, ("a", "b"), (parse(goal), parse(start)), parse(goal), (parse(start), parse(reached)), (), True, references)


@pytest.mark.parametrize(
    ("expected", "doubted", "one"),
    [
        (Cause.LABEL, True, case("alchemy", beakers("gg", "r"), beakers("g", "r"), beakers("gg", "_"), IT)),
        (Cause.IMPOSSIBLE, False, case("tangrams", "1:0", "1:0 2:1", "1:0 2:2", IT)),
        (Cause.IMPOSSIBLE, False, case("alchemy", beakers("g"), beakers("gg"), beakers("g"), BACK)),
        (Cause.MULTI_TURN, False, case("alchemy", beakers("gg", "r"), beakers("g", "r"), beakers("gg", "_"), IT)),
        (Cause.STATE, False, case("alchemy", beakers("gg", "r"), beakers("g", "r"), beakers("gg", "_"))),
        (Cause.OTHER, False, case("alchemy", beakers("gg", "r"), beakers("g", "r"), beakers("_", "r"), IT)),
        (Cause.OTHER, False, case("alchemy", beakers("gg", "r"), beakers("g", "r"), beakers("_", "r"))),
    ],
)
def test_the_cause_of_an_error(expected, doubted, one):
    world = "tangrams" if len(one.goal) == 1 else "alchemy"
    assert cause(compile_world(get_world(world)), one, disputed=doubted) is expected


def test_an_object_is_resolved_if_it_is_changed_and_a_place_if_all_is_right():
    tables = compile_world(get_world("alchemy"))
    too_much = case("alchemy", beakers("ggg"), beakers("gg"), beakers("g"), IT, BACK)
    assert [resolved(tables, too_much, each) for each in too_much.references] == [True, False]
    right = case("alchemy", beakers("ggg"), beakers("gg"), beakers("gg"), BACK)
    assert resolved(tables, right, BACK)


def test_members_are_the_networks_one_by_one():
    ensemble, interactions = random_agent("tangrams", networks=3), generate("tangrams", 10, seed=3)
    turns = encode_turns(interactions, ensemble.vocabulary, ensemble.tables)
    first, *others = [evaluate(each.execute, each.tables, turns, batch_size=32).reached for each in ensemble.members()]
    assert len(others) == 2
    alone = random_agent("tangrams", networks=1)  # its only network is the ensemble's first
    assert (evaluate(alone.execute, alone.tables, turns, batch_size=32).reached == first).all()
    assert not all((other == first).all() for other in others)


def test_a_label_is_disputed_if_all_agree_on_another_state():
    ensemble, interactions = random_agent("tangrams", networks=3), generate("tangrams", 20, seed=3)
    members = ensemble.members()
    errors = [{(one.interaction, one.turn): one.reached for one in analyse(each, interactions).cases if not one.right} for each in members]
    agreed = {place for place, state in errors[0].items() if all(other.get(place) == state for other in errors)}
    assert disputed(members, interactions) == agreed
    assert disputed(members[:1], interactions) == {*errors[0]}
    assert disputed([members[0], members[0]], interactions) == {*errors[0]}


def test_the_causes_of_all_errors_are_counted():
    agent, interactions = random_agent("scene"), generate("scene", 20, seed=5)
    everything = frozenset((each.id, turn) for each in interactions for turn in range(5))
    plain, doubted = analyse(agent, interactions), analyse(agent, interactions, everything)
    assert sum(plain.causes().values()) == len(plain.wrong)
    assert plain.causes()[Cause.LABEL] == 0
    assert doubted.causes()[Cause.LABEL] == len(doubted.wrong)
    assert not plain.to_json()["causes"]["labels_doubted"]


def test_the_judge_is_an_ensemble_for_the_same_world(tmp_path):
    agent = random_agent("tangrams")
    assert [judge.name for judge in find_judge(agent, None)] == ["tangrams", "tangrams-sestra", "tangrams-supervised"]
    with pytest.raises(InputError, match="has one network"):
        find_judge(agent, str(write_random_agent(tmp_path / "one", "tangrams")))
    with pytest.raises(InputError, match="is an agent for scene; expected one for tangrams"):
        find_judge(agent, "scene")


def test_the_command_takes_a_judge(capsys, no_scone, tmp_path):
    agent, judge = write_random_agent(tmp_path / "agent", "tangrams"), write_random_agent(tmp_path / "judge", "tangrams", networks=2)
    status, out, _ = run(capsys, "analyze", agent, "--judge", judge)
    assert status == 0
    assert "paper, of 50" in out
