"""Each class of errors, by an example of it; and the page that shows them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from agents import random_agent, write_random_agent
from commands import run

from sestra.agent.evaluation import evaluate
from sestra.analysis.analyze import Analysis, analyse
from sestra.analysis.changes import analysis_of
from sestra.analysis.errors import Case, ErrorClass, classify
from sestra.analysis.page import spread, write_page
from sestra.analysis.references import find
from sestra.data.batch import encode_turns
from sestra.data.synthetic import generate
from sestra.worlds import WORLDS, get_world
from sestra.worlds.tables import compile_world


def case(world, instruction, goal, *path, history=(), stopped=True):
    parse = get_world(world).parse
    states = tuple(map(parse, history))
    earlier = tuple(f"instruction {number}" for number in range(len(states)))
    return Case(
        "id", len(states), (*earlier, instruction), (*states, parse(path[0])), parse(goal), tuple(map(parse, path)), (), stopped,
        tuple(find(analysis_of(get_world(world)).language, instruction, len(states))),
    )  # fmt: skip


def beakers(*units):
    return " ".join(f"{number}:{unit}" for number, unit in enumerate((*units, *"_______")[:7], start=1))


def stage(*people):
    return " ".join(f"{number}:{person}" for number, person in enumerate((*people, *["__"] * 10)[:10], start=1))


LEFT, MIDDLE, RIGHT = stage("r_"), stage("__", "r_"), stage("__", "__", "r_")


@pytest.mark.parametrize(
    ("expected", "world", "instruction", "goal", "path", "settings"),
    [
        ("WRONG_OBJECT", "alchemy", "drain one of the green", beakers("g", "g"), [beakers("gg", "g"), beakers("gg", "_")], {}),
        ("WRONG_OBJECT", "alchemy", "pour red into it", beakers("ggr", "g"), [beakers("gg", "g", "r"), beakers("gg", "gr")], {}),
        ("WRONG_OBJECT", "tangrams", "remove the first", "1:1 2:2", ["1:0 2:1 3:2", "1:0 2:1"], {}),
        ("WRONG_OBJECT", "scene", "he leaves", stage("__", "r_"), [stage("b_", "r_"), stage("b_")], {}),
        ("WRONG_AMOUNT", "alchemy", "drain two", beakers("g"), [beakers("ggg"), beakers("gg")], {}),
        ("WRONG_AMOUNT", "alchemy", "drain one", beakers("gg"), [beakers("ggg"), beakers("gg"), beakers("g")], {}),
        ("WRONG_AMOUNT", "scene", "the man moves left", LEFT, [MIDDLE, RIGHT], {}),
        ("WRONG_AMOUNT", "scene", "he moves right", MIDDLE, [LEFT, RIGHT], {"history": [MIDDLE]}),
        ("STOPPED_EARLY", "alchemy", "pour green into red", beakers("_", "rg"), [beakers("g", "r"), beakers("_", "r")], {}),
        ("STOPPED_EARLY", "alchemy", "mix it", beakers("bb"), [beakers("gr"), beakers("gr")], {}),  # did nothing at all
        ("RAN_ON", "alchemy", "empty green", beakers("_", "r"), [beakers("g", "r"), beakers("_", "r"), beakers("_", "rr")], {}),
        ("RAN_ON", "alchemy", "empty green", beakers("_", "r"), [beakers("g", "r"), beakers("g", "_")], {"stopped": False}),
        ("EARLIER_STATE", "tangrams", "put it back", "1:0 2:1", ["1:0", "1:0 2:2"], {"history": ["1:0 2:1"]}),
        ("EARLIER_STATE", "scene", "he moves back", MIDDLE, [LEFT, RIGHT], {"history": [MIDDLE]}),
        ("EARLIER_STATE", "alchemy", "undo that", beakers("gg"), [beakers("g"), beakers("g")], {"history": [beakers("gg")]}),
        ("OTHER", "alchemy", "mix it", beakers("bb"), [beakers("gr"), beakers("grg")], {}),
    ],
)
def test_the_class_of_an_error(expected, world, instruction, goal, path, settings):
    assert classify(compile_world(get_world(world)), case(world, instruction, goal, *path, **settings)) is ErrorClass[expected]


@pytest.mark.parametrize("world", WORLDS.names())
def test_every_generated_turn_changes_something_and_nothing_changes_nothing(world):
    known = analysis_of(get_world(world))
    for interaction in generate(world, 30, seed=3):
        for _, start, goal in interaction.turns():
            assert known.changes(start, goal)
            assert known.changed(start, goal)
            assert not known.changes(start, start)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(random_agent("scene"), generate("scene", 30, seed=2))


@pytest.mark.parametrize("world", WORLDS.names())
def test_is_right_as_often_as_evaluation_says(world):
    agent, interactions = random_agent(world), generate(world, 20, seed=4)
    turns = encode_turns(interactions, agent.vocabulary, agent.tables)
    expected = evaluate(agent.execute, agent.tables, turns, batch_size=32).inst
    found = analyse(agent, interactions)
    assert found.accuracies()["all instructions"] == expected
    assert sum(found.classes().values()) == expected.trials - expected.successes
    assert [(case.interaction, case.turn) for case in found.cases] == [(each.id, turn) for each in interactions for turn in range(5)]
    for each in found.cases:
        state = each.start
        for action in each.actions:
            state = agent.world.apply(state, agent.world.parse_action(action))
        assert state == each.reached


def test_first_turns_and_the_others_are_all(analysis):
    accuracy = analysis.accuracies()
    parts = [accuracy[name].trials for name in ("first of an interaction", "later, no reference", "with a reference")]
    assert sum(parts) == accuracy["all instructions"].trials == 150


def test_spread_takes_from_everywhere():
    assert spread(range(100), 4) == [0, 25, 50, 75]
    assert spread(range(3), 50) == [0, 1, 2]
    assert spread([], 50) == []


class Page(HTMLParser):
    VOID = ("meta", "rect", "ellipse", "path", "polygon")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_asks_for_nothing(analysis):
    text = write_page(analysis, "Errors", "generated dev", 12)
    page = Page(text)
    assert not page.open
    assert page.tags.count("article") == min(12, len(analysis.wrong))
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    links = [value for name, value in page.attributes if name in ("href", "src", "action")]
    ids = [value for name, value in page.attributes if name == "id"]
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    assert not any(name.startswith("on") or name == "style" for name, _ in page.attributes)
    assert set(re.findall(r"https?://[^\"' ]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert "@import" not in text
    assert "url(" not in text


def test_the_page_escapes_what_it_shows(analysis):
    nasty = Case("<b>", 1, ("<script>x</script>", '"><img src=x>'), (analysis.cases[0].start,) * 2, analysis.cases[0].goal,
                 (analysis.cases[0].start,), (), True, ())  # fmt: skip
    text = write_page(Analysis(analysis.tables, [nasty], 1), "<i>title</i>", "<i>", 50)
    page = Page(text)
    assert not {"script", "img", "b", "i"} & set(page.tags)
    assert "&lt;script&gt;x&lt;/script&gt;" in text


@pytest.fixture
def exported(tmp_path):
    return write_random_agent(tmp_path / "agent", "tangrams")


def test_the_command_prints_tables_and_writes_the_page(capsys, no_scone, exported, tmp_path):
    status, out, _ = run(capsys, "analyze", exported, "--page", tmp_path / "errors.html", "--errors", "3")
    assert status == 0
    assert "needs an earlier state" in out
    assert "impossible multi-turn reference" in out
    assert "76.0" in out  # the paper's share of references resolved
    assert "later, no reference" in out
    assert Page((tmp_path / "errors.html").read_text()).tags.count("article") == 3


def test_the_command_prints_json(capsys, no_scone, exported):
    import json

    status, out, _ = run(capsys, "analyze", exported, "--json")
    report = json.loads(out)
    assert status == 0
    assert report["world"] == "tangrams"
    assert report["data"]["name"] == "generated dev"
    assert report["errors"]["total"] == sum(number for name, number in report["errors"].items() if name != "total")
    assert report["accuracy"]["all instructions"]["of"] == report["instructions"] == 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "expected the folder of an agent or of a run"),
        (["{exported}", "--page", "errors.txt"], "ends in .html"),
        (["{exported}", "--errors", "0"], "from 1 to 10,000"),
        (["{exported}", "--split", "test"], "no split 'test'"),
        (["{exported}", "--page", "/nowhere/errors.html"], "cannot be written"),
    ],
)
def test_wrong_input_is_explained(capsys, no_scone, exported, arguments, message):
    status, _, err = run(capsys, "analyze", *(argument.format(exported=exported) for argument in arguments))
    assert status == 2
    assert message in err
