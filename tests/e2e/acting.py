"""What a person does on the page, and sees there."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect


def said(page: Page) -> dict[str, list[str]]:
    """What the address says of the interaction: world, state, do, end."""
    return parse_qs(urlsplit(page.url).fragment, keep_blank_values=True)


def now(page: Page) -> str:
    """The state that the interaction has come to."""
    fields = said(page)
    return fields.get("end", fields["state"])[0]


def expect_state(page: Page, state: str) -> None:
    """Wait until the interaction has come to the state."""
    page.wait_for_function(
        "state => { const said = new URLSearchParams(location.hash.slice(1)); return (said.get('end') ?? said.get('state')) === state; }",
        arg=state,
    )


def choose_world(page: Page, world: str) -> None:
    page.get_by_role("radio", name=world.capitalize()).check(force=True)
    expect(page.locator(f"svg.world-{world}")).to_be_visible()
    expect(page.locator("#suggestions .next")).to_be_visible()


def say(page: Page, instruction: str) -> None:
    """Type it, press Enter, and see it among the turns."""
    turns = page.locator(".turn").count()
    page.get_by_label("Instruction").fill(instruction)
    page.get_by_label("Instruction").press("Enter")
    expect(page.locator(".turn")).to_have_count(turns + 1)


def expected(complaints: list[str], text: str) -> None:
    """Take away the complaints that the test has provoked, of which there is at least one; all others stay."""
    assert any(text in complaint for complaint in complaints), complaints
    complaints[:] = [complaint for complaint in complaints if text not in complaint]


def label(page: Page) -> str:
    """The drawn state in words."""
    return page.locator("#drawing-0 svg").get_attribute("aria-label") or ""


def announced(page: Page) -> list[str]:
    return page.locator("#announcer p").all_inner_texts()
