"""What an agent does not understand, as a person sees it, and how one click carries on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from acting import expect_state, now, said, say
from playwright.sync_api import Browser, Page, expect
from servers import Server

STATE = "1:g 2:_ 3:gg 4:_ 5:y 6:oo 7:_"


@pytest.fixture(scope="module")
def careful(browser: Browser) -> Iterator[Server]:
    """A server whose agent has to be all but certain."""
    with Server(["alchemy"], "--caution", "0.9999") as server:
        yield server


@pytest.fixture
def page(careful: Server, open_at: Callable[..., Page]) -> Page:
    return open_at(careful, f"#world=alchemy&state={STATE.replace(' ', '+')}")


def test_one_click_carries_on(page: Page, careful: Server, open_at: Callable[..., Page]):
    say(page, "throw out the green one")
    last = page.locator(".turn").last
    expect(last.locator(".step")).to_have_text(["does nothing"])
    expect(last.locator(".note").first).to_be_visible()
    assert now(page) == STATE
    readings = last.locator(".readings button")
    expect(readings.first).to_have_text("beaker 1: empty")
    readings.first.click()
    expect_state(page, "1:_ 2:_ 3:gg 4:_ 5:y 6:oo 7:_")
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator(".readings")).to_have_count(0)
    expect(page.locator(".step")).to_have_text(["takes a unit out of beaker 1", "stops"])
    assert said(page)["as"] == ["1,pop 1,stop"]
    again = open_at(careful, page.url.removeprefix(careful.address))
    expect_state(again, "1:_ 2:_ 3:gg 4:_ 5:y 6:oo 7:_")
    expect(again.locator("#problem")).to_be_empty()


def test_readings_are_offered_for_the_last_instruction_alone(page: Page):
    say(page, "throw out the green one")
    say(page, "empty the yellow one")
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".turn").first.locator(".readings")).to_have_count(0)


def test_undo_brings_the_readings_back(page: Page):
    say(page, "throw out the green one")
    page.locator(".readings button").first.click()
    expect(page.locator(".readings")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".readings button").first).to_be_visible()
    assert now(page) == STATE
