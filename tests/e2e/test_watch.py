"""Watching a run: the page shows what it did so far, and what it does next without being loaded again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from acting import announced
from lamps import Lamps, interactions
from playwright.sync_api import Browser, Page, expect
from servers import Server
from test_trouble import ILLEGIBLE, UNNAMED

import sestra
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.worlds import WORLDS

SMALL = {"policy": AttentionConfig(embedding=4, hidden=6), "epochs": 4, "batch_size": 10, "horizon": 3, "validation_fraction": 0.2}
DATA = interactions(30, seed=1)


class StopIn(sestra.Callback):
    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def on_train_begin(self, trainer, notices):
        self.trainer = trainer

    def on_batch_end(self, done: int, total: int, objective: float) -> None:
        self.trainer.stop_requested = self.trainer.progress.epoch + 1 == self.epoch


@pytest.fixture
def run(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of which two epochs have ended; its world is found where it is defined, whatever name other tests gave it."""
    monkeypatch.setattr(WORLDS, "_registered", {})
    monkeypatch.setattr(WORLDS, "_references", {})
    sestra.train(Lamps, DATA, out=tmp_path / "lamps", callbacks=[StopIn(3)], **SMALL)
    return tmp_path / "lamps"


def test_a_run_that_goes_on(run: Path, open_at: Callable[..., Page], browser: Browser):
    with Server([], "--watch", str(run)) as server:
        page = open_at(server, "watch.html", ".task")
        expect(page.locator("#status")).to_contain_text("2 of at most 4 epochs have ended.")
        expect(page.locator(".task")).to_have_count(5)
        expect(page.locator("#which")).to_have_text("epoch 2")
        expect(page.locator(".task").first.locator("svg")).to_have_count(2)
        expect(page.locator(".task").first.locator(".mark")).to_have_count(3)

        page.locator("#scrub").press("Home")
        expect(page.locator("#which")).to_have_text("before training")
        expect(page.locator("#scrub")).to_have_attribute("aria-valuetext", "Before training")
        expect(page.locator("#newest")).not_to_be_checked()
        page.get_by_role("button", name="One epoch on").click()
        expect(page.locator("#which")).to_have_text("epoch 1")
        page.get_by_role("button", name="Play the epochs").click()
        expect(page.locator("#which")).to_have_text("epoch 2")
        expect(page.locator("#newest")).to_be_checked()

        sestra.train(data=DATA, out=run, resume=True)
        expect(page.locator("#status")).to_contain_text("It has ended after 4 epochs.", timeout=20_000)
        expect(page.locator("#which")).to_have_text("epoch 4")
        expect(page.locator(".task").first.locator(".mark")).to_have_count(5)
        assert any(text.startswith("It has ended") for text in announced(page))
        page.get_by_text("All figures").click()
        expect(page.locator("#table tbody tr")).to_have_count(4)
        svg = page.locator(".chart svg").first
        assert "Instructions: " in (svg.get_attribute("aria-label") or "")
        box = svg.bounding_box()
        assert box
        svg.click(position={"x": box["width"] * 0.14, "y": box["height"] / 2})  # near the chart's left end
        expect(page.locator("#which")).to_have_text("before training")

        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": 375, "height": 800}, color_scheme=scheme)
            small = context.new_page()
            small.goto(server.address)  # without an agent it is the first page
            small.locator(".task").nth(4).wait_for()
            assert small.evaluate("document.documentElement.scrollWidth") <= 375
            assert small.evaluate(UNNAMED) == []
            assert small.evaluate(ILLEGIBLE) == []
            context.close()


def test_a_run_beside_an_agent(run: Path, open_at: Callable[..., Page]):
    with Server(["tangrams"], "--watch", str(run)) as server:
        page = open_at(server)
        page.get_by_role("link", name="Watch lamps learn").click()
        page.locator(".task").first.wait_for()
        page.get_by_role("link", name="Give instructions").click()
        page.locator("svg.world-tangrams").wait_for()
