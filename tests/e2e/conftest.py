"""A real browser, and a real server as a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from servers import Server

from sestra import pretrained
from sestra.worlds import WORLDS

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
GIVEN = "SESTRA_E2E_AGENTS"
REQUIRED = "SESTRA_REQUIRE_BROWSER"
"""Set where these tests must not be skipped."""

collect_ignore = ["conftest.py"]
"""There are no doctests here, and two files of one name are not collected together."""


def skip(reason: str) -> NoReturn:
    if os.environ.get(REQUIRED):
        pytest.fail(f"{reason}; {REQUIRED} is set, so that this is no reason to skip")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def agents() -> list[str]:
    shipped = [name for name in WORLDS.names() if name in pretrained.names()]
    if len(shipped) == len(WORLDS.names()):
        return shipped
    if os.environ.get(GIVEN):
        return os.environ[GIVEN].split(os.pathsep)
    missing = ", ".join(sorted(set(WORLDS.names()) - set(shipped)))
    skip(f"needs trained agents, and none ship for {missing}; name folders in {GIVEN}, with {os.pathsep!r} between them")


@pytest.fixture(scope="session")
def server(agents: list[str], browser: Browser) -> Iterator[Server]:
    with Server(agents) as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        skip(f"needs Chromium at {CHROMIUM}: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1200, "height": 900}, permissions=["clipboard-read", "clipboard-write"])
    context.set_default_timeout(10_000)
    yield context
    context.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser complained about; a test that provokes some takes away just these."""
    return []


@pytest.fixture
def open_at(context: BrowserContext, complaints: list[str]) -> Iterator[Callable[..., Page]]:
    """Opens a page of a server; at the end nothing was asked of anyone else, and nothing went wrong unseen."""
    elsewhere: list[str] = []

    def opened(server: Server, rest: str = "", ready: str = "#suggestions button") -> Page:
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith((server.address, "blob:")) else elsewhere.append(request.url))
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.goto(server.address + rest)
        page.locator(ready).first.wait_for()
        return page

    yield opened
    assert elsewhere == []
    assert complaints == []


@pytest.fixture
def open_page(server: Server, open_at: Callable[..., Page]) -> Callable[[str], Page]:
    """Opens the page of the shipped agents at a fragment."""
    return lambda fragment="": open_at(server, fragment)


@pytest.fixture
def page(open_page: Callable[[str], Page]) -> Page:
    return open_page("")
