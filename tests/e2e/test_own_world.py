"""A world of the user's own, without a drawing, a grammar or phrases; and one that is a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from acting import expect_state, label, now, said, say
from agents import write_random_agent
from lamps import Lamps, interactions
from playwright.sync_api import Browser, Page, expect
from servers import ROOT, Server
from small_networks import random_network

from sestra.agent import folder as agent_folder
from sestra.agent.folder import About
from sestra.data.vocabulary import Vocabulary
from sestra.worlds.tables import compile_world

LAMPS = f"{ROOT / 'tests' / 'lamps.py'}:Lamps"
WAREHOUSE = f"{ROOT / 'examples' / 'own_world' / 'world.py'}:Warehouse"
DATA = interactions(20, seed=1)


@pytest.fixture(scope="module")
def own(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Agents with random weights, as training exports them: the first with some of its training instructions."""
    folder = tmp_path_factory.mktemp("agents")
    tables, vocabulary = compile_world(Lamps()), Vocabulary.of((text for each in DATA for text in each.instructions), at_least=1)
    stored = tuple({"state": Lamps().format(each.states[0] or ()), "instructions": list(each.instructions)} for each in DATA)
    about = About(LAMPS, 4, 0.1, {}, examples=stored)
    agent_folder.write(folder / "lamps", about, vocabulary, [random_network(tables, len(vocabulary), seed=0)])
    write_random_agent(folder / "warehouse", WAREHOUSE)
    with Server([str(folder / "lamps"), str(folder / "warehouse")], "--caution", "0") as server:
        yield server


@pytest.fixture
def page(own: Server, open_at: Callable[..., Page]) -> Page:
    return open_at(own)


def choose(page: Page, title: str) -> None:
    page.get_by_role("radio", name=title).check(force=True)
    expect(page.locator(f"svg.world-{title.lower()}")).to_be_visible()


def test_boxes_with_numbers_examples_and_suggestions_of_the_training_data(page: Page):
    expect(page.locator("#drawing-0 svg")).to_be_visible()
    assert label(page).startswith("Lamps.")
    expect(page.locator("#drawing-0 .numbers text")).to_have_text(["1", "2", "3"])
    examples = page.locator("#examples option").all_inner_texts()
    assert len(examples) > 1
    known = {text for each in DATA for text in each.instructions}
    offered = page.locator("#suggestions button:not(.more)").all_inner_texts()
    assert offered
    assert set(offered) <= known


def test_a_whole_interaction(page: Page, tmp_path: Path):
    begun = said(page)["state"][0]
    for count in range(1, 6):
        page.locator("#suggestions button").first.click()
        expect(page.locator(".turn")).to_have_count(count)
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play", timeout=30_000)
    assert said(page)["state"] == [begun]
    world, state, words = Lamps(), Lamps().parse(begun), []
    for step in page.locator(".step").all():
        formal = (step.get_attribute("title") or "").split(" (")[0]
        state = world.apply(state, world.parse_action(formal))
        words.append(step.inner_text())
        expected = ("stops", "does nothing") if formal == "stop" else f"slot {formal.split()[1]}: "
        assert words[-1].startswith(expected)  # an agent that stops at once has understood nothing
    assert any(text.startswith("slot ") for text in words)
    assert now(page) == world.format(state)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as SVG").click()
    download.value.save_as(tmp_path / "strip.svg")
    assert (tmp_path / "strip.svg").read_text().startswith("<svg")


def test_random_states_and_editing_with_the_contents_as_brushes(page: Page):
    states = set()
    for count in range(1, 7):
        page.get_by_role("button", name="Random state").click()
        expect(page.locator("#announcer p", has_text="A random state.")).to_have_count(count)
        states.add(now(page))
    assert len(states) > 1
    page.get_by_role("button", name="Edit the state").click()
    expect(page.locator("#brushes .swatch")).to_have_text(["×empty", "Rr", "Gg"])
    for brush, content in (("r", "r"), ("empty", "_"), ("g", "g")):
        page.get_by_role("radio", name=brush, exact=True).check(force=True)
        page.locator(".target").nth(1).click()
        expect_state(page, " ".join(f"2:{content}" if field.startswith("2:") else field for field in now(page).split()))
    page.locator(".target").nth(1).press("Backspace")
    expect(page.locator(".target").nth(1)).to_have_attribute("aria-label", "Slot 2: empty")


def test_a_grid_is_drawn_in_rows_and_columns(page: Page):
    choose(page, "Warehouse")
    page.get_by_role("button", name="Edit the state").click()
    targets = page.locator(".target")
    expect(targets).to_have_count(20)
    boxes = [target.bounding_box() for target in targets.all()]
    assert len({round(box["x"]) for box in boxes if box}) == 5
    assert len({round(box["y"]) for box in boxes if box}) == 4
    assert "row " in label(page)
    targets.nth(6).focus()
    page.keyboard.press("ArrowDown")
    expect(targets.nth(11)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(targets.nth(7)).to_be_focused()
    say(page, "clear row 1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("world", ["Lamps", "Warehouse"])
def test_nothing_sticks_out_of_a_phone(own: Server, browser: Browser, world: str, scheme: str):
    context = browser.new_context(viewport={"width": 375, "height": 800}, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(own.address)
    choose(page, world)
    page.get_by_role("button", name="Edit the state").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    context.close()
