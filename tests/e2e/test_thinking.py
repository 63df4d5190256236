"""Seeing an agent think: where the inspector stands, attention while it plays, other agents and ways, what would have followed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from acting import announced, label, now, said, say
from playwright.sync_api import Browser, Page, expect
from servers import Server

BEST, SESTRA, SUPERVISED = "alchemy", "alchemy-sestra", "alchemy-supervised"


@pytest.fixture(scope="module")
def several(browser: Browser) -> Iterator[Server]:
    with Server([BEST, SESTRA, SUPERVISED]) as server:
        yield server


@pytest.fixture
def page(several: Server, open_at: Callable[..., Page]) -> Page:
    return open_at(several)


def played(page: Page) -> None:
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play", timeout=30_000)


@pytest.mark.parametrize("agent", [BEST, SESTRA])
def test_all_of_the_inspector_is_beside_the_stage(several: Server, open_at: Callable[..., Page], agent: str):
    page = open_at(several, f"#world=alchemy&state=1:g 2:_ 3:oo 4:_ 5:yy 6:p 7:rr&agent={agent}")
    page.set_viewport_size({"width": 1280, "height": 800})
    for instruction in ("throw out the last beaker", "pour the orange beaker into the purple one"):
        say(page, instruction)
        played(page)
    stage, inspector = page.locator("#stage").bounding_box(), page.locator("#inspector").bounding_box()
    last = page.locator("#attended .cells").last.bounding_box()
    assert stage
    assert inspector
    assert last
    assert inspector["x"] >= stage["x"] + stage["width"]
    assert inspector["y"] <= stage["y"]
    assert last["y"] + last["height"] <= 800
    assert page.evaluate("scrollY") == 0
    page.set_viewport_size({"width": 375, "height": 800})
    stage, inspector, story = (page.locator(each).bounding_box() for each in ("#stage", "#inspector", ".story"))
    assert stage
    assert inspector
    assert story
    assert stage["y"] + stage["height"] <= inspector["y"] < story["y"]


def test_attention_is_drawn_on_words_and_objects_while_actions_play(page: Page):
    page.evaluate("""() => {
        window.seen = [];
        const all = (selector) => [...document.querySelectorAll(selector)];
        const weights = () => all("#heard-0 .cell").map((cell) => Number(cell.style.getPropertyValue("--weight")));
        const look = () => {
            if (all("#play.on").length) window.seen.push([all("#drawing-0 .look").length, Math.max(...weights())]);
            requestAnimationFrame(look);
        };
        look();
    }""")
    say(page, "throw out the last beaker")
    played(page)
    seen = page.evaluate("window.seen")
    assert any(objects == 7 and word > 0.1 for objects, word in seen)
    expect(page.locator("#drawing-0 .look")).to_have_count(0)  # at the end the state is shown alone


def test_heads_apart_with_boundaries_between_turns(page: Page):
    for instruction in ("throw out the last beaker", "pour the orange beaker into the purple one"):
        say(page, instruction)
        played(page)
    merged = page.locator("#attended .over-words .head")
    expect(merged).to_have_count(1)
    expect(merged.locator(".boundary")).to_have_text(["1", "2"])
    page.get_by_label("Heads apart").check()
    assert merged.count() > 1
    for head in merged.all():
        expect(head.locator(".boundary")).to_have_text(["1", "2"])


@pytest.mark.parametrize("width", [1280, 700])
def test_a_step_that_is_pointed_at_stays_under_the_pointer(page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 800})
    for instruction in ("throw out the last beaker", "do it with the frist one", "zxqvw it"):
        say(page, instruction)
        played(page)
    steps = page.locator(".step")
    for number in range(steps.count()):  # the highest of them has been shown afterwards
        steps.nth(number).dispatch_event("pointerenter", {"pointerType": "mouse"})
        steps.nth(number).dispatch_event("pointerleave", {"pointerType": "mouse"})
    places = set()
    for number in range(steps.count()):
        steps.nth(number).dispatch_event("pointerenter", {"pointerType": "mouse"})
        places.add(page.evaluate("document.querySelector('.story').getBoundingClientRect().top + scrollY"))
        steps.nth(number).dispatch_event("pointerleave", {"pointerType": "mouse"})
        places.add(page.evaluate("document.querySelector('.story').getBoundingClientRect().top + scrollY"))
    assert len(places) == 1


def test_pointing_at_a_step_moves_the_slider(page: Page):
    say(page, "throw out the last beaker")
    played(page)
    page.locator(".step").first.hover()
    expect(page.locator("#scrub")).to_have_value("1")
    page.locator("#scrub").hover()
    expect(page.locator("#scrub")).to_have_value("3")


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_an_alternative_shows_what_would_have_followed(page: Page, by: str):
    say(page, "throw out the last beaker")
    played(page)
    end, did = now(page), page.locator(".step").all_inner_texts()
    first = page.locator(".step").first
    first.click()
    other = page.locator("button.choice").nth(1)
    words = other.inner_text()
    if by == "mouse":
        other.click()
    else:
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+Tab")
        expect(first).to_be_focused()
        for _ in range(30):
            page.keyboard.press("Shift+Tab")
            if page.evaluate("document.activeElement.textContent") == words:
                break
        page.keyboard.press("Enter")
    expect(page.locator(".instead")).to_contain_text(f"What would have followed “{words}”")
    line = page.locator(".step[data-line='2']")
    expect(line.first).to_contain_text(words)
    assert "What would have followed." in announced(page)
    assert now(page) == end  # the interaction itself is as it was
    page.get_by_role("button", name="Back to what it did").click()
    expect(page.locator(".instead")).to_have_count(0)
    assert page.locator(".step").all_inner_texts() == did


def test_another_agent_and_another_way_follow_the_interaction_again(page: Page):
    say(page, "throw out the last beaker")
    expect(page.locator("#agent option")).to_have_text(["alchemy (best)", SESTRA, SUPERVISED])
    for name in (SESTRA, SUPERVISED):
        page.get_by_role("combobox", name="Agent", exact=True).select_option(name)
        page.wait_for_url(f"**agent={name}**")
        expect(page.locator("#about")).to_contain_text(name)
    for how in ("sample", "beam"):
        page.get_by_label("How actions are chosen").select_option(how)
        page.wait_for_url(f"**how={how}**")
    assert said(page)["do"] == ["throw out the last beaker"]
    expect(page.locator(".turn")).to_have_count(1)


def test_two_agents_side_by_side(page: Page, tmp_path: Path):
    page.get_by_label("Compare with another agent").select_option(SESTRA)
    expect(page.locator("#side-1")).to_be_visible()
    say(page, "throw out the last beaker")
    played(page)
    for side, name in enumerate((BEST, SESTRA)):
        expect(page.locator(f"#name-{side}")).to_have_text(name)
        expect(page.locator(f"#drawing-{side} svg")).to_have_attribute("aria-label", label(page))
    expect(page.locator(".whose")).to_have_text([BEST, SESTRA])
    page.locator(".step[data-line='1']").first.hover()
    expect(page.locator("#whose")).to_have_text(f", {SESTRA}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as JSON").click()
    download.value.save_as(tmp_path / "trace.json")
    steps = json.loads((tmp_path / "trace.json").read_text())["turns"][0]["steps"]
    assert [step["action"] for step in steps] == ["pop 7", "pop 7", "stop"]  # the formal actions


def test_words_are_on_the_page_and_formal_actions_in_tooltips(page: Page):
    say(page, "throw out the last beaker")
    played(page)
    expect(page.locator(".step").first).to_have_text("takes a unit out of beaker 7")
    assert (page.locator(".step").first.get_attribute("title") or "").startswith("pop 7 (")
    page.locator(".step").first.click()
    expect(page.locator(".choice.taken")).to_have_attribute("title", "pop 7")
    assert "pop" not in page.locator("main").inner_text().split()


def test_no_probability_stands_where_the_agent_was_kept_from_acting(page: Page):
    say(page, "blorp frumious")
    played(page)
    expect(page.locator(".step")).to_have_text(["does nothing"])
    assert "%" not in (page.locator(".step").get_attribute("title") or "")
    expect(page.locator("#inspector")).not_to_contain_text("%")
    expect(page.locator("#choices")).to_contain_text("kept from acting")
    expect(page.locator("#attended")).to_be_hidden()
