"""What goes wrong, and who must not be left out: odd instructions, a server that goes away, keyboards, phones, screen readers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from acting import announced, choose_world, now, said, say
from playwright.sync_api import Browser, Page, expect
from servers import Server

from sestra.worlds import WORLDS

pytestmark = pytest.mark.xdist_group("browser")


def test_nonsense_is_followed_somehow_and_noted(page: Page):
    say(page, "blorp zxqvw frumious")
    expect(page.locator(".note").first).to_be_visible()
    expect(page.locator(".unknown, .respelt").first).to_be_visible()
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
    expect(page.get_by_role("alert")).not_to_have_text("")
    expect(page.locator(".turn")).to_have_count(0)
    complaints.clear()  # the browser reports the refusal
    say(page, "throw out the first beaker")


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
    expect(page.locator("#connection")).to_be_hidden()
    page.get_by_label("Instruction").press("Enter")
    expect(page.locator(".turn")).to_have_count(2)
    assert said(page)["do"] == ["throw out the last beaker", "throw out the first beaker"]
    complaints.clear()  # the browser reports the refused connections


def test_the_keyboard_alone_is_enough(page: Page):
    def focused() -> str:
        return str(
            page.evaluate("() => { const { id, className } = document.activeElement; return id || className.baseVal || className; }")
        )

    def tab_to(wanted: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if wanted in focused():
                return
        raise AssertionError(f"the Tab key does not lead to {wanted}")

    page.keyboard.press("Tab")
    assert focused() == "skip"
    page.keyboard.press("Enter")
    assert focused() == "instruction"
    page.keyboard.type("throw out the last beaker")
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_count(1)
    assert focused() == "instruction"
    tab_to("step")
    expect(page.locator("#caption")).to_contain_text("Where it looked")
    page.keyboard.press("Enter")
    expect(page.locator(".step").first).to_have_attribute("aria-current", "step")
    page.locator("body").evaluate("body => document.activeElement.blur()")
    tab_to("examples")
    tab_to("edit")
    page.keyboard.press("Enter")
    tab_to("target")
    page.keyboard.press("ArrowRight")
    before = now(page)
    page.keyboard.press("g")
    assert now(page) != before
    page.keyboard.press("Backspace")
    assert now(page) == before
    page.get_by_role("radio", name="Alchemy").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("svg.world-scene")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("world", WORLDS)
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
        const skipped = element.closest("svg, .unseen, script, noscript, select, :disabled");
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
        expect(page.locator("#caption")).to_have_text("Stops")
        assert (page.evaluate("window.moved") > 0) is moves
        assert any(each.startswith("Takes") for each in announced(page))
        context.close()


def test_the_page_works_in_a_tab_that_was_left_alone(open_page: Callable[[str], Page]):
    """Two tabs do not get in each other's way."""
    one, other = open_page(""), open_page("")
    say(one, "throw out the last beaker")
    say(other, "throw out the first beaker")
    assert said(one)["do"] != said(other)["do"]
