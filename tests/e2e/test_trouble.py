"""What goes wrong, and who must not be left out: odd instructions, a server that goes away, keyboards, phones, screen readers."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from acting import announced, choose_world, expect_state, expected, label, now, said, say
from playwright.sync_api import Browser, Page, Route, expect
from servers import Server

from sestra.worlds import WORLDS


def test_nonsense_is_followed_somehow_and_noted(page: Page):
    say(page, "blorp zxqvw frumious")
    expect(page.locator(".note").first).to_contain_text("does not know “blorp”, “zxqvw”, “frumious”")
    expect(page.locator(".said .unknown")).to_have_text(["blorp", "zxqvw", "frumious"])
    say(page, "throw out the first beaker")


def test_an_empty_instruction_is_asked_for_again(page: Page):
    before = page.url
    for empty in ("", "   "):
        page.get_by_label("Instruction").fill(empty)
        page.get_by_label("Instruction").press("Enter")
        expect(page.get_by_role("alert")).to_have_text("Write an instruction first, or pick one below.")
    assert page.url == before
    say(page, "throw out the first beaker")
    expect(page.get_by_role("alert")).to_have_text("")


def test_an_instruction_without_a_word_is_refused_with_the_reason(page: Page, complaints: list[str]):
    page.get_by_label("Instruction").fill("\u200b")
    page.get_by_label("Instruction").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("no word")
    expect(page.locator(".turn")).to_have_count(0)
    say(page, "throw out the first beaker")
    expected(complaints, "status of 422")


def test_an_instruction_given_too_soon_is_not_lost_silently(page: Page):
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/follow", hold)
    box = page.get_by_label("Instruction")
    box.fill("throw out the last beaker")
    box.press("Enter")
    box.fill("throw out the first beaker")
    box.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("still being followed")
    assert len(held) == 1
    page.unroute("**/api/follow")  # which lets it go on
    expect(page.locator(".said")).to_have_text(["throw out the last beaker"])
    expect(page.get_by_role("alert")).to_have_text("")
    assert box.input_value() == "throw out the first beaker"
    box.press("Enter")
    expect(page.locator(".said")).to_have_text(["throw out the last beaker", "throw out the first beaker"])


def test_ten_thousand_characters_are_too_many_and_stay_to_be_shortened(page: Page):
    box = page.get_by_label("Instruction")
    box.fill("pour it " * 1250)
    box.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("That is 9,999 characters long; at most 1,000 can be read.")
    assert box.input_value() == "pour it " * 1250
    box.fill("pour it " * 120)
    box.press("Enter")
    expect(page.locator(".turn")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    "markup", ["<script>window.hacked = 1</script>", "<img src=x onerror='window.hacked = 1'>", '"><svg onload=alert(1)>']
)
def test_markup_is_only_text(page: Page, markup: str):
    say(page, markup)
    expect(page.locator(".said")).to_have_text(markup)
    assert page.locator(".turn script, .turn img, .inspector img").count() == 0
    page.locator(".step").first.hover()
    assert page.evaluate("window.hacked") is None


def test_the_server_goes_away_and_comes_back(page: Page, server: Server, complaints: list[str]):
    say(page, "throw out the last beaker")
    before = said(page)
    server.stop()
    try:
        page.get_by_label("Instruction").fill("throw out the first beaker")
        page.get_by_label("Instruction").press("Enter")
        expect(page.locator("#connection")).to_contain_text("The server does not answer. Nothing is lost")
        expect(page.get_by_role("alert")).to_contain_text("the instruction stays here")
        assert page.get_by_label("Instruction").input_value() == "throw out the first beaker"
        assert said(page) == before
        page.get_by_label("Step", exact=True).press("Home")  # what is there can still be looked at
        expect(page.locator("#where")).to_have_text("Start")
    finally:
        server.start()
    expect(page.locator("#connection")).to_have_text("The server is back.", timeout=15_000)
    expect(page.locator("#connection")).to_have_text("")
    expect(page.locator("#connection")).to_be_hidden()
    page.get_by_label("Instruction").press("Enter")
    expect(page.locator(".turn")).to_have_count(2)
    assert said(page)["do"] == ["throw out the last beaker", "throw out the first beaker"]
    expected(complaints, "net::ERR_CONNECTION_REFUSED")


def test_the_keyboard_alone_is_enough(page: Page):
    """Only keys that a person has: Tab and Shift+Tab, Enter, arrows, and letters where there is something to write."""
    press = page.keyboard.press

    def focused() -> str:
        return str(
            page.evaluate("""() => {
                const { id, className, tagName } = document.activeElement;
                return id || className.baseVal || className || tagName;
            }""")
        )

    def tab_to(wanted: str, key: str = "Tab") -> None:
        for _ in range(60):
            press(key)
            if wanted in focused().split():
                return
        raise AssertionError(f"{key} does not lead to {wanted}")

    def back_to(wanted: str) -> None:
        tab_to(wanted, "Shift+Tab")

    press("Tab")
    assert focused() == "skip"
    press("Enter")
    assert focused() == "instruction"
    page.keyboard.type("throw out the last beaker")
    press("Enter")
    expect(page.locator(".turn")).to_have_count(1)
    assert focused() == "instruction"

    tab_to("more")
    expect(page.locator("#suggestions .next")).to_have_text("pour the orange beaker into the purple one")
    other = page.locator("#suggestions button").nth(1)
    before = other.inner_text()
    press("Enter")
    expect(other).not_to_have_text(before)
    assert focused() == "more"
    first = page.locator("#suggestions button").first
    for count in (2, 3):  # whoever has chosen a suggestion can choose the next at once
        if count == 2:
            press("Shift+Tab")
        chosen = page.evaluate("document.activeElement.textContent")
        press("Enter")
        expect(page.locator(".said")).to_have_count(count)
        expect(page.locator(".said").last).to_have_text(chosen)
        expect(first).to_be_focused()

    back_to("forth")
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play", timeout=20_000)  # all was played
    assert page.locator("#forth").get_attribute("aria-disabled") == "true"
    back_to("back")
    for _ in range(page.locator(".step").count()):
        press("Enter")
    expect(page.locator("#where")).to_have_text("Start")
    expect(page.locator("#back")).to_be_disabled()
    press("Enter")
    assert focused() == "back"
    tab_to("scrub")
    press("ArrowRight")
    expect(page.locator("#where")).to_contain_text("1 / ")

    tab_to("step")
    expect(page.locator("#caption-0")).to_contain_text("Where it looked")
    press("Enter")
    expect(page.locator(".step").first).to_have_attribute("aria-current", "step")

    back_to("undo")
    for left in (2, 1, 0):
        press("Enter")
        expect(page.locator(".turn")).to_have_count(left)
        assert focused() == "undo"
    expect(page.locator("#undo")).to_be_disabled()
    press("Enter")
    assert focused() == "undo"

    back_to("edit")
    press("Enter")
    tab_to("target")
    press("ArrowRight")
    before, address = now(page), page.url
    press("g")
    page.wait_for_url(lambda url: url != address)
    press("Backspace")
    expect_state(page, before)
    assert focused() == "target"
    for _ in range(60):
        press("Shift+Tab")
        if page.evaluate("document.activeElement.name") == "world":
            break
    press("ArrowRight")
    expect(page.locator("svg.world-scene")).to_be_visible()
    assert page.evaluate("document.activeElement.value") == "scene"


def test_a_step_is_looked_into_by_touch(browser: Browser, server: Server):
    """A tap shows where the agent looked, the next tap what the step did."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(server.address)
    page.locator("#suggestions button").first.wait_for()
    start = label(page)
    say(page, "throw out the last beaker")
    expect(page.locator("#caption-0")).to_have_text("Stops")
    first, second = page.locator(".step").nth(0), page.locator(".step").nth(1)
    first.tap()
    expect(page.locator("#caption-0")).to_contain_text("Where it looked")
    expect(page.locator(".look")).not_to_have_count(0)
    expect(page.locator("#drawing-0 svg")).to_be_in_viewport()
    assert label(page) == start
    first.tap()
    expect(page.locator("#caption-0")).to_contain_text("Takes")
    assert label(page) != start
    second.tap()
    expect(page.locator("#caption-0")).to_contain_text("Where it looked")
    page.get_by_role("button", name="One step back").tap()
    expect(first).to_have_attribute("aria-current", "step")
    context.close()


def test_nothing_is_read_out_twice(page: Page):
    """One region tells of the steps; the others speak of problems, and stand there before they have something to say."""
    live = page.locator("[aria-live], [role=status], [role=alert], [role=log], output")
    assert live.evaluate_all("regions => regions.map(region => region.id)") == ["connection", "problem", "announcer"]
    assert live.evaluate_all("regions => regions.every(region => region.checkVisibility())")
    say(page, "throw out the last beaker")
    expect(page.locator("#caption-0")).to_have_text("Stops")
    count = len(announced(page))
    page.get_by_label("Step", exact=True).press("ArrowLeft")  # which says its value itself
    expect(page.get_by_label("Step", exact=True)).to_have_attribute("aria-valuetext", re.compile("^Step 2 of 3:"))
    assert len(announced(page)) == count


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("world", WORLDS.names())
def test_all_fits_and_is_legible(browser: Browser, server: Server, world: str, scheme: str):
    """At a phone's width nothing sticks out; every text has the contrast of WCAG 2, level AA; every control has a name."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme, reduced_motion="reduce", has_touch=True)
    page = context.new_page()
    page.goto(server.address)
    choose_world(page, world)
    say(page, "take the frist one awya zxqvw")
    page.get_by_role("button", name="Edit the state").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("document.getAnimations().length") == 0
    assert page.evaluate(UNNAMED) == []
    assert page.evaluate(ILLEGIBLE) == []
    context.close()


UNNAMED = """() => [...document.querySelectorAll("button, input, select, a, [tabindex], [role=button]")].filter((control) => {
    const labels = [...(control.labels ?? [])].map((label) => label.textContent).join("");
    return !(control.getAttribute("aria-label") || labels || control.textContent).trim();
}).map((control) => control.outerHTML)"""

ILLEGIBLE = """() => {
    const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
    const over = ([r, g, b, a], under) => [r, g, b].map((each, index) => each * a + under[index] * (1 - a));
    const light = (colour) => {
        const linear = (each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
        const [r, g, b] = colour.map((each) => linear(each / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
        if (!element) return [255, 255, 255];
        const colour = parse(getComputedStyle(element).backgroundColor);
        return colour[3] === 1 ? colour.slice(0, 3) : over(colour, behind(element.parentElement));
    };
    const poor = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        const skipped = element.closest("svg, .unseen, script, noscript, select, [aria-disabled=true]");
        if (!texts.currentNode.data.trim() || skipped || !element.checkVisibility()) continue;
        const back = behind(element);
        const ink = light(over(parse(getComputedStyle(element).color), back));
        const [dark, bright] = [ink, light(back)].sort((a, b) => a - b);
        const contrast = (bright + 0.05) / (dark + 0.05);
        if (contrast < 4.5) poor.push(`${contrast.toFixed(2)} ${texts.currentNode.data.trim()}`);
    }
    return poor;
}"""


def test_movement_is_left_out_for_those_who_ask(browser: Browser, server: Server):
    for motion, moves in (("no-preference", True), ("reduce", False)):
        context = browser.new_context(reduced_motion=motion)
        page = context.new_page()
        page.goto(server.address)
        page.locator("#suggestions button").first.wait_for()
        page.evaluate("""() => {
            window.moved = 0;
            const animate = Element.prototype.animate;
            Element.prototype.animate = function (...given) { window.moved += 1; return animate.apply(this, given); };
        }""")
        say(page, "throw out the last beaker")
        expect(page.locator("#caption-0")).to_have_text("Stops")
        assert (page.evaluate("window.moved") > 0) is moves
        assert any(each.startswith("Takes") for each in announced(page))
        context.close()


def test_the_page_works_in_a_tab_that_was_left_alone(open_page: Callable[[str], Page]):
    """Two tabs do not get in each other's way."""
    one, other = open_page(""), open_page("")
    say(one, "throw out the last beaker")
    say(other, "throw out the first beaker")
    say(one, "throw out the first beaker")
    assert said(one)["do"] == ["throw out the last beaker", "throw out the first beaker"]
    assert said(other)["do"] == ["throw out the first beaker"]
