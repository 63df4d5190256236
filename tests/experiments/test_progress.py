"""The live table, without Ray: a view looks into the folders of runs."""

from __future__ import annotations

import io
import json
import re
import time
from types import SimpleNamespace

import pytest
from rich.console import Console

from sestra.experiments.grid import trials
from sestra.experiments.progress import View
from sestra.experiments.trials import NOTE, Outcome


def write(folder, epochs: int) -> None:
    folder.mkdir()
    lines = [{"epoch": n, "inst": 50.0 + n, "utts3": None, "utts5": 20.0 + n} for n in range(1, epochs + 1)]
    (folder / "metrics.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "times.json").write_text(json.dumps([60.0 * n for n in range(1, epochs + 1)]))


def view_of(tmp_path, *, terminal: bool) -> tuple[View, SimpleNamespace, io.StringIO]:
    running, waiting, ended = trials(["scene"], ["sestra", "supervised", "policy-gradient"], 1)
    text = io.StringIO()
    view = View(Console(file=text, force_terminal=terminal, width=100, height=40), tmp_path, time.time() + 600)
    for trial in (running, waiting, ended):
        view.add(trial)
    write(tmp_path / running.name, 3)
    write(tmp_path / waiting.name, 1)
    write(tmp_path / ended.name, 2)
    (tmp_path / running.name / NOTE).write_text("{}")
    view.ended(Outcome(ended.name, "ended"))
    failures = {running.name: 1, waiting.name: 0}
    return view, SimpleNamespace(attempts={1: running, 2: waiting}, failures=failures, complaints=["scene-sestra-1: it died"]), text


def test_table(tmp_path):
    view, pool, text = view_of(tmp_path, terminal=True)
    with view:
        view.refresh(pool)
    shown = "\n".join(plain(text.getvalue()))
    epochs = view.rows["scene-sestra-1"].trial.config.optimisation.epochs
    assert "scene-sestra-1: it died" in shown
    rows = {
        line.split("│")[1].strip(): [part.strip() for part in line.split("│")[2:-1]] for line in shown.splitlines() if line.count("│") > 5
    }
    assert rows["scene-sestra-1"][:6] == ["running, failed 1×", f"3/{epochs}", "53.0", "–", "23.0", "3 min"]
    minutes = epochs - 3
    assert rows["scene-sestra-1"][6] == (f"{minutes} min" if minutes > 1 else "60 s")
    assert rows["scene-supervised-1"][0] == "waiting"
    assert rows["scene-policy-gradient-1"][0] == "ended"
    assert list(rows) == ["scene-sestra-1", "scene-policy-gradient-1", "scene-supervised-1"]
    assert "1 running · 1 ended · 1 waiting" in shown
    assert "of the budget left" in shown


def test_interrupt_says_how_to_continue(tmp_path):
    view, _, text = view_of(tmp_path, terminal=False)
    with pytest.raises(KeyboardInterrupt), view:
        raise KeyboardInterrupt
    assert text.getvalue().endswith("Stopped; give the same command again to continue from each run's last epoch.\n")


def plain(text: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).splitlines()


def test_lines_where_there_is_no_terminal(tmp_path):
    view, pool, text = view_of(tmp_path, terminal=False)
    with view:
        view.refresh(pool)
        view.refresh(pool)
        with (tmp_path / "scene-sestra-1" / "metrics.jsonl").open("a") as file:
            file.write(json.dumps({"epoch": 4, "inst": 60.0, "utts3": 40.0, "utts5": 30.0}) + "\n")
        view.refresh(pool)
    epochs = view.rows["scene-sestra-1"].trial.config.optimisation.epochs
    assert text.getvalue().splitlines() == [
        "scene-policy-gradient-1: ended after epoch 2  Inst 52.0  3utts –  5utts 22.0",
        "scene-sestra-1: it died",
        f"scene-sestra-1: epoch 4 of {epochs}  Inst 60.0  3utts 40.0  5utts 30.0",
    ]
