"""From runs to the figure: every learner is trained for a moment, and the figure is drawn from the records of what it observed."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import pytest
from commands import run

from sestra.data import scone
from sestra.data.download import SHA256
from sestra.data.synthetic import generate
from sestra.experiments.grid import LEARNERS, SYSTEMS, trials
from sestra.experiments.records import read_all
from sestra.experiments.trials import Conditions, Job, work_on
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.worlds import get_world


@pytest.mark.usefixtures("no_export")
def test_every_learner_is_recorded_with_its_observations_and_drawn(capsys, monkeypatch, tmp_path):
    for split, count, seed in (("train", 12, 1), ("dev", 4, 2)):
        scone.write(tmp_path / f"tangrams-{split}.tsv", get_world("tangrams"), generate("tangrams", count, seed=seed))
    small = {"epochs": 2, "policy": AttentionConfig(embedding=4, hidden=6)}
    common = Conditions(tmp_path / "runs", tmp_path)
    results = tmp_path / "results"
    results.mkdir()
    for trial in trials(("tangrams",), ("learners",), 1, "paper"):
        job = Job.of(type(trial)(trial.name, trial.config.changed(**small), trial.system), common, common.load("tangrams")[1])
        record = work_on(job).record
        assert all(count > 0 for count in record["curve"]["observations"]), trial.name
        for data in (record["train"], record["splits"]["dev"]["data"]):
            monkeypatch.setitem(SHA256, data["name"], data["sha256"])  # as if it were SCONE, whose runs alone are drawn
        (results / f"{trial.name}.json").write_text(json.dumps(record))

    observed = {one["system"]: sum(one["curve"]["observations"]) for one in read_all(results)}
    assert {*observed} == {*LEARNERS}
    assert observed["sestra"] > 10 * observed["contextual-bandit"] > 0
    flags = ["--results", results, "--analyses", tmp_path / "none", "--out", tmp_path / "RESULTS.md", "--images", tmp_path / "images"]
    assert run(capsys, "paper", "report", *flags)[0] == 0
    drawn = (tmp_path / "images" / "observations.svg").read_text()
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    table = (tmp_path / "RESULTS.md").read_text().partition("## Learners and what they observe")[2].partition("\n## ")[0]
    for system in LEARNERS:
        assert f"| tangrams | paper | {SYSTEMS[system].label} | 1 | 2 | {observed[system]:,} |" in table
