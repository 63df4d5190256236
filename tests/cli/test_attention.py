"""``sestra attention``, and the figures for attentions of any name."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from agents import STATES, obedient_agent, random_agent, write_random_agent
from commands import run
from lamps import Lamps

from sestra import pretrained
from sestra.agent import Agent
from sestra.agent.trace import Attention, Step, Trace, Turn, Weight, Word
from sestra.drawing.attention import attention_picture
from sestra.drawing.attention_rows import MAX_ROWS, TITLES
from sestra.drawing.shapes import Label, Picture
from sestra.errors import InputError
from sestra.worlds import WORLDS, get_world

STATE = STATES["alchemy"]
INSTRUCTIONS = ("throw out the first beaker", "pour the sixth beaker into the last one", "it turns brown")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_random_agent(tmp_path_factory.mktemp("agents") / "alchemy", seed=0)  # one that acts on each of the instructions


def texts(picture: Picture) -> list[str]:
    return [shape.text for shape in picture.shapes if isinstance(shape, Label)]


def inside(picture: Picture) -> bool:
    """Whether nothing sticks out of the picture."""
    bounds = [shape.bounds() for shape in picture.shapes]
    return all(left >= 0 and top >= 0 and right <= picture.width and bottom <= picture.height for left, top, right, bottom in bounds)


def test_attention_writes_svg_and_png(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path):
    svg, png = tmp_path / "a.svg", tmp_path / "a.PNG"
    for path in (svg, png):
        status, out, err = run(capsys, "attention", "--agent", folder, "--state", STATE, *INSTRUCTIONS, "--out", path)
        assert (status, out, err) == (0, f"{path}: attention while following “it turns brown” written\n", "")
    words = [element.text for element in ElementTree.fromstring(svg.read_text()).iter() if element.text]
    for text in ("“it turns brown”", "This instruction", "Earlier instructions", "turn 1", "turn 2", "brown", "sixth"):
        assert text in words
    assert {"push", "pop"} & {*words}
    assert png.read_bytes().startswith(b"\x89PNG")


def test_what_was_said_does_not_command_the_terminal(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path):
    status, out, err = run(
        capsys, "attention", "--agent", folder, "--state", STATE, "\x1b[31mred\x07 out\nof it", "--out", tmp_path / "a.svg"
    )
    assert (status, err) == (0, "")
    assert out == f"{tmp_path / 'a.svg'}: attention while following “�[31mred� out of it” written\n"


def test_attention_of_an_earlier_turn_does_not_depend_on_later_ones(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path):
    for name, instructions, turn in (("a.svg", INSTRUCTIONS, ["--turn", "2"]), ("b.svg", INSTRUCTIONS[:2], [])):
        arguments = ["--agent", folder, "--state", STATE, *instructions, *turn, "--out", tmp_path / name]
        assert run(capsys, "attention", *arguments)[0] == 0
    assert (tmp_path / "a.svg").read_text() == (tmp_path / "b.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--state", STATE, "throw", "--turn", "9", "--out", "a.svg"], "--turn 9: expected a whole number from 1 to 1"),
        (["--state", STATE, "throw", "--out", "a.jpeg"], "--out a.jpeg: cannot tell what kind of picture to write"),
        (["--state", STATE, "throw", "--out", "absent/a.svg"], "absent/a.svg: cannot be written"),
        (["--state", STATE, "throw", "--out", "absent/a.png"], "absent/a.png: cannot be written"),
        (["throw", "--out", "a.svg"], "no state to begin from"),
        (["--state", STATE, "throw"], "--out"),
    ],
)
def test_attention_refuses_nonsense(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], expected: str
):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "attention", "--agent", folder, *arguments)
    assert (status, out) == (2, "")
    assert expected in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("world", STATES)
def test_every_world_and_turn_has_a_figure(world: str):
    trace = random_agent(world).follow(STATES[world], ("throw it out", "then it goes to the left", "do it again"))
    for number, turn in enumerate(trace.turns, start=1):
        picture = attention_picture(get_world(world), trace, number)
        assert inside(picture)
        assert picture.description.count("Action ") == len(turn.steps)
        earlier = any(before.understood for before in trace.turns[: number - 1])
        assert texts(picture).count("There are none yet.") == (not earlier)  # earlier instructions


@pytest.mark.parametrize("name", pretrained.names())
def test_every_attention_of_the_package_has_a_title(name: str):
    agent = Agent.from_pretrained(name)
    trace = agent.follow(STATES[agent.world.name], ["remove the first one", "move it to the left", "swap the last two"])
    names = {attended.name for attended in trace.turns[1].steps[0].attention}
    assert names <= set(TITLES)
    assert {TITLES[name] for name in names} <= set(texts(attention_picture(agent.world, trace, 2)))


def test_other_policies_attentions_are_drawn_under_their_own_names(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(WORLDS._registered, Lamps.name, Lamps)
    trace = obedient_agent().follow("1:_ 2:_ 3:r", ["light1r light2g", "out3"])
    picture = attention_picture(Lamps(), trace, 2)
    shown = texts(picture)
    assert {"Obeyed", "turn 1", "turn 2", "light1r", "out3", "100%"} <= set(shown)
    assert "Action 1, out 3: obeyed: out3 (100%)" in picture.description


def made(attended: list[list[Attention]], words: int = 3) -> Trace:
    """A turn with these attentions, a list a step."""
    steps = tuple(Step("stop", 1.0, (), tuple(each), STATE) for each in attended)
    return Trace(
        "alchemy", STATE, (Turn("x", tuple(Word(f"w{place}", "x", True) for place in range(words)), STATE, STATE, True, (), steps),)
    )


def test_objects_that_come_and_go_keep_their_rows():
    now = Attention("state", "objects", ((Weight("1", 0.25), Weight("2", 0.75)), (Weight("1", 0.5), Weight("2", 0.5))))
    then = Attention("state", "objects", ((Weight("2", 1.0),), (Weight("2", 1.0),)))
    picture = attention_picture(get_world("alchemy"), made([[now], [then]]), 1)
    shown = texts(picture)
    assert (shown.count("25%"), shown.count("75%"), shown.count("50%"), shown.count("100%")) == (1, 1, 2, 2)
    assert shown.count("·") == 2
    assert {"head 1", "head 2"} <= set(shown)


@pytest.mark.parametrize(("steps", "blocks_in_a_row"), [(1, 4), (5, 2), (20, 1)])
def test_heads_stand_below_each_other_where_they_are_too_wide(steps: int, blocks_in_a_row: int):
    attended = Attention("objects", "objects", ((Weight("1", 0.4), Weight("2", 0.6)),) * 4)
    picture = attention_picture(get_world("alchemy"), made([[attended]] * steps), 1)
    heads = [shape for shape in picture.shapes if isinstance(shape, Label) and shape.text.startswith("head ")]
    assert [head.text for head in heads] == ["head 1", "head 2", "head 3", "head 4"]
    assert sum(head.y == heads[0].y for head in heads) == blocks_in_a_row
    assert texts(picture).count("60%") == 4 * steps
    assert inside(picture)


def test_what_lay_on_no_word_has_a_row():
    previous = Attention("previous", "words", ((Weight("a", 0.2), Weight("a", 0.1)),))
    picture = attention_picture(get_world("alchemy"), made([[previous]]), 1)
    assert {"20%", "10%", "70%", "(no word)"} <= set(texts(picture))


def test_many_words_share_a_row():
    weights = tuple(Weight(f"w{place}", 0.9 if place == 300 else 0.1 / 499) for place in range(500))
    picture = attention_picture(get_world("alchemy"), made([[Attention("current", "words", (weights,))]], words=500), 1)
    shown = texts(picture)
    assert {"w300", "90%", f"({500 - MAX_ROWS + 1} other words)", "9%"} <= set(shown)
    assert inside(picture)


def test_a_turn_without_attention_has_no_figure():
    with pytest.raises(InputError, match="the agent gave no attention weights in turn 1"):
        attention_picture(get_world("alchemy"), made([[]]), 1)
    with pytest.raises(InputError, match="there is no turn 2"):
        attention_picture(get_world("alchemy"), made([[]]), 2)
