"""Whole interactions, as a person has them."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from acting import announced, choose_world, expect_state, expected, label, now, said, say
from playwright.sync_api import BrowserContext, Page, expect

from sestra import Agent
from sestra.agent.trace import Word
from sestra.data.examples import phrases_of
from sestra.drawing import draw_strip_svg, draw_svg
from sestra.drawing.attention_rows import TITLES
from sestra.worlds import WORLDS, get_world

STATES = {
    "alchemy": "1:go 2:_ 3:p 4:_ 5:yy 6:b 7:rrr",
    "scene": "1:__ 2:rb 3:__ 4:__ 5:g_ 6:__ 7:yo 8:__ 9:p_ 10:_r",
    "tangrams": "1:4 2:0 3:3 4:1",
}
MISSPELT = {
    "alchemy": ["throw out the frist beaker", "now the fifht one"],
    "scene": ["the frist person takes off his hat", "he moves one space to the rihgt"],
    "tangrams": ["remove the frist figure", "remove the secnd one"],
}
GETS_ALL_RIGHT = ("alchemy", "scene")
"""Where the agent does what the example's instructions ask for; elsewhere the page must show what it does instead."""


@pytest.mark.parametrize("world", WORLDS.names())
def test_a_whole_interaction(page: Page, tmp_path: Path, world: str):
    choose_world(page, world)
    page.get_by_label("Start from an example").select_option(index=1)
    example = phrases_of(get_world(world)).examples[0]
    start, turns = example.start, example.turns
    assert said(page) == {"world": [world], "state": [start]}
    instructions = [instruction for instruction, _ in turns]
    ends = [goal for _, goal in turns]
    if world not in GETS_ALL_RIGHT:
        ends = [turn.end for turn in Agent.from_pretrained(world).follow(start, instructions).turns]
    for number, (instruction, end) in enumerate(zip(instructions, ends, strict=True), start=1):
        suggested = page.locator("#suggestions .next")
        expect(suggested).to_have_text(instruction)
        suggested.click()
        expect(page.locator(".turn")).to_have_count(number)
        assert now(page) == end
    expect(page.locator(".said")).to_have_text(instructions)
    last = page.locator(".step").count()
    expect(page.locator("#where")).to_have_text(f"{last} / {last}", timeout=20_000)  # all was played
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download as JSON").click()
    saved.value.save_as(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert (trace["world"], trace["start"], trace["final_state"]) == (world, start, ends[-1])
    assert [turn["end"] for turn in trace["turns"]] == ends
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download as SVG").click()
    saved.value.save_as(tmp_path / "trace.svg")
    parse = get_world(world).parse
    frames = [("", start), *zip(instructions, ends, strict=True)]
    assert (tmp_path / "trace.svg").read_text() == draw_strip_svg(get_world(world), [(words, parse(state)) for words, state in frames])


def test_every_action_is_shown_and_announced_in_words(page: Page):
    say(page, "throw out the last beaker")
    steps = page.locator(".step")
    expect(page.locator("#where")).to_have_text(f"{steps.count()} / {steps.count()}")
    words = [label.rsplit(",", 1)[0] for label in steps.evaluate_all("steps => steps.map(step => step.getAttribute('aria-label'))")]
    assert announced(page)[-len(words) :] == [f"{one[0].upper()}{one[1:]}." for one in words]
    expect(page.locator("#caption-0")).to_have_text("Stops")


def test_the_first_action_is_there_within_a_tenth_of_a_second(page: Page):
    measure = """() => new Promise((resolve) => {
        const begun = performance.now();
        const seen = new MutationObserver(() => {
            seen.disconnect();
            requestAnimationFrame(() => resolve(performance.now() - begun));
        });
        seen.observe(document.getElementById("announcer"), { childList: true });
        document.getElementById("form").requestSubmit();
    })"""

    def taken() -> float:
        page.get_by_label("Instruction").fill("throw out the last beaker")
        milliseconds = float(page.evaluate(measure))
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".turn")).to_have_count(0)
        return milliseconds

    taken()  # the first is slower, whatever it is
    medians: list[float] = []
    while len(medians) < 4 and not any(median < 100 for median in medians):
        page.wait_for_timeout(1000 * len(medians))  # the machine may be busy with something else
        medians.append(statistics.median(taken() for _ in range(5)))
    assert min(medians) < 100, medians


def test_scrubbing_and_looking_at_a_step(page: Page):
    say(page, "throw out the last beaker")
    steps = page.locator(".step")
    count = steps.count()
    expect(page.locator("#where")).to_have_text(f"{count} / {count}")
    drawing = page.locator("#drawing-0 svg")
    end = drawing.get_attribute("aria-label")
    page.get_by_label("Step", exact=True).press("Home")
    expect(page.locator("#where")).to_have_text("Start")
    start = drawing.get_attribute("aria-label")
    page.get_by_role("button", name="One step on").click()
    expect(steps.nth(0)).to_have_attribute("aria-current", "step")
    page.get_by_role("button", name="One step back").click()
    assert drawing.get_attribute("aria-label") == start
    page.get_by_role("button", name="Play").click()
    expect(page.locator("#where")).to_have_text(f"{count} / {count}")
    assert drawing.get_attribute("aria-label") == end
    steps.nth(0).hover()
    expect(page.locator("#caption-0")).to_contain_text("Where it looked before it")
    assert drawing.get_attribute("aria-label") == start
    expect(page.locator(".look")).not_to_have_count(0)
    panel = page.get_by_label("Why the agent took this step")
    expect(panel.locator(".taken")).to_have_count(1)
    assert panel.locator(".choices li").count() > 1
    expect(panel.locator(".over-words .cell").first).to_be_visible()
    page.mouse.move(0, 0)
    expect(page.locator(".look")).to_have_count(0)
    assert drawing.get_attribute("aria-label") == end


@pytest.mark.parametrize("world", WORLDS.names())
def test_what_was_looked_at_is_named_and_marked(page: Page, world: str):
    """In words and not by a policy's own names; words that were read as others are marked in this and in earlier instructions."""
    choose_world(page, world)
    page.get_by_label("Start from an example").select_option(index=1)
    for instruction in (*MISSPELT[world], "zxqvw it"):
        say(page, instruction)
    turn = Agent.from_pretrained(world).follow(said(page)["state"][0], MISSPELT[world]).turns[1]
    assert turn.understood
    read = {(word.text, f"{word.text}, read as “{word.read_as}”") for text in MISSPELT[world] for word in words(world, text)}
    names = [attended.name for attended in turn.steps[0].attention]
    page.locator(".turn").nth(1).locator(".step").first.hover()
    expect(page.locator("#caption-0")).to_contain_text("Where it looked", timeout=20_000)
    titles = page.locator(".attended h3").all_inner_texts()
    assert sorted(titles) == sorted(TITLES[name] for name in names)
    over_words = page.locator(".over-words .respelt")
    notes = over_words.evaluate_all("cells => cells.map(cell => [cell.textContent, cell.title.split(':')[0]])")
    assert {tuple(note) for note in notes} == read
    weights = [attended for attended in turn.steps[0].attention if attended.name in ("objects", "state")]
    assert len(weights) == 1
    heads = weights[0].heads
    means = [sum(head[place].weight for head in heads) / len(heads) for place in range(len(heads[0]))]
    drawn = page.locator(".look").evaluate_all("looks => looks.map(look => (Number(look.getAttribute('fill-opacity')) - 0.04) / 0.5)")
    assert drawn == pytest.approx(means, abs=1e-3)
    expect(page.locator(".turn").nth(2).locator(".unknown")).to_have_text("zxqvw")


def words(world: str, instruction: str) -> list[Word]:
    """Those that are read as others."""
    read = Agent.from_pretrained(world)._parser.speller.read(instruction)[0]
    return [word for word in read if word.known and word.text != word.read_as]


def test_undo_takes_back_turns_and_starts(page: Page):
    first = now(page)
    say(page, "throw out the last beaker")
    second = now(page)
    say(page, "throw out the first beaker")
    undo = page.get_by_role("button", name="Undo")
    undo.click()
    expect(page.locator(".turn")).to_have_count(1)
    assert now(page) == second
    undo.click()
    assert (page.locator(".turn").count(), now(page)) == (0, first)
    expect(undo).to_be_disabled()
    page.get_by_role("button", name="Random state").click()
    expect(undo).to_be_enabled()
    undo.click()
    assert now(page) == first
    choose_world(page, page.locator("#worlds input").last.get_attribute("value") or "")
    undo.click()
    expect(page.locator("svg.world-alchemy")).to_be_visible()
    assert now(page) == first


@pytest.mark.parametrize(
    ("world", "brush", "place", "keys", "after"),
    [
        ("alchemy", "orange", 2, "r", "1:go 2:or 3:p 4:_ 5:yy 6:b 7:rrr"),
        ("alchemy", "take out", 7, "Backspace", "1:go 2:_ 3:p 4:_ 5:yy 6:b 7:r"),
        ("scene", "green shirt", 1, "Shift+Y", "1:gy 2:rb 3:__ 4:__ 5:g_ 6:__ 7:yo 8:__ 9:p_ 10:_r"),
        ("scene", "take away", 2, "Backspace", "1:__ 2:__ 3:__ 4:__ 5:g_ 6:__ 7:yo 8:__ 9:p_ 10:_r"),
        ("tangrams", "boat", 1, "0", "1:0 2:2 3:4 4:3 5:1"),
        ("tangrams", "take away", 1, "Delete", "1:3 2:1"),
    ],
)
def test_editing_by_click_and_by_key(open_page: Callable[[str], Page], world: str, brush: str, place: int, keys: str, after: str):
    page = open_page(f"#world={world}&state={STATES[world]}")
    page.get_by_role("button", name="Edit the state").click()
    page.get_by_role("radio", name=brush).check(force=True)
    target = page.locator(".target").nth(place - 1)
    target.click()
    target.press(keys)
    expect_state(page, after)
    drawn = label(page)
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    assert now(page) == STATES[world]
    assert label(page) == label(open_page(f"#world={world}&state={STATES[world]}")) != drawn
    assert drawn == label(open_page(f"#world={world}&state={after}"))


@pytest.mark.parametrize("world", WORLDS.names())
def test_the_drawing_is_the_package_s(open_page: Callable[[str], Page], world: str):
    """The same shapes in the same colours, whoever draws them."""
    page = open_page(f"#world={world}&state={STATES[world]}")
    ours = page.locator("#drawing-0 svg *:is(rect, ellipse, polygon, path, text)").evaluate_all(
        "shapes => shapes.map(shape => [shape.tagName, shape.getAttribute('fill'), shape.getAttribute('stroke'), shape.textContent])"
    )
    drawing = ElementTree.fromstring(draw_svg(get_world(world), get_world(world).parse(STATES[world])))
    shapes = [(each.tag.split("}")[1], each.get("fill"), each.get("stroke"), each.text or "") for each in drawing if each.get("fill")]
    assert Counter(map(tuple, ours)) == Counter(shapes[1:])  # but for the card, which is the page's


def test_a_link_restores_the_interaction(page: Page, context: BrowserContext, open_page: Callable[[str], Page]):
    instructions = ["throw out the last beaker", "mix the “green” one & 100% of it", "yelow, <b>?</b> #1=2"]
    for instruction in instructions:
        say(page, instruction)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    other = context.new_page()
    other.goto(link)
    expect(other.locator(".said")).to_have_text(instructions)
    assert now(other) == now(page)
    assert other.locator(".step").all_inner_texts() == page.locator(".step").all_inner_texts()
    other.get_by_role("button", name="Undo").click()
    expect(other.locator(".turn")).to_have_count(2)
    other.reload()
    expect(other.locator(".turn")).to_have_count(2)


def test_a_link_opened_in_a_page_in_use_is_undone_turn_by_turn(page: Page):
    say(page, "throw out the last beaker")
    before = said(page)
    instructions = ["throw out the first beaker", "mix the third one", "throw it out"]
    asked = "&".join(f"do={instruction}" for instruction in instructions)
    page.goto(f"{page.url.split('#')[0]}#world=alchemy&state={STATES['alchemy']}&{asked}")
    expect(page.locator(".said")).to_have_text(instructions)
    undo = page.get_by_role("button", name="Undo")
    for left in (2, 1, 0):
        undo.click()
        expect(page.locator(".said")).to_have_text(instructions[:left])
        expect(page.locator("#suggestions .next")).to_have_text(instructions[left])
        assert said(page)["state"] == [STATES["alchemy"]]
    undo.click()
    expect(page.locator(".said")).to_have_text(["throw out the last beaker"])
    assert said(page) == before
    undo.click()
    expect(undo).to_be_disabled()


WRONG_LINKS = [
    ("#nonsense", "no agent for"),
    ("#world=__proto__&state=x", "no agent for"),
    ("#world=alchemy", "state is not one of Alchemy"),
    ("#world=alchemy&state=1:g", "state is not one of Alchemy"),
    ("#world=alchemy&state=<img src=x onerror=alert(1)>", "state is not one of Alchemy"),
    ("#world=alchemy&state=1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:_&end=what", "state is not one of Alchemy"),
    ("#world=alchemy&state=1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:_&do=", "is empty or longer"),
    ("#world=alchemy&state=1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:_&do=" + "x" * 1001, "is empty or longer"),
    ("#world=alchemy&state=1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:_" + "&do=x" * 60, "more than 51 instructions"),
    ("#world=alchemy&state=1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:_&do=throw it out&end=1:rrrr 2:_ 3:_ 4:_ 5:_ 6:_ 7:_", "another state"),
    ("#" + "%" * 300, "no agent for"),
]


def test_a_link_is_not_believed(open_page: Callable[[str], Page], complaints: list[str]):
    page = open_page(WRONG_LINKS[0][0])
    for fragment, message in WRONG_LINKS:
        page.goto(page.url.split("#")[0] + fragment)  # another fragment of the same page
        expect(page.locator("#problem")).to_contain_text(message)
        page.get_by_label("Instruction").fill("what is wrong is said until something else is")
        expect(page.locator("#problem")).to_have_text("")
    say(page, "throw out the first beaker")
    expected(complaints, "status of 422")


def test_a_link_with_markup_shows_it_as_text(open_page: Callable[[str], Page]):
    page = open_page("#world=alchemy&state=1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:_&do=<script>alert(1)</script>")
    expect(page.locator(".said")).to_have_text("<script>alert(1)</script>")
