"""The metadata of model cards, read as the hub reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sestra.agent.model_card import front_matter, metadata
from sestra.metrics import Accuracy, to_record

RESULTS = Path(__file__).parents[2] / "results" / "agents"
ACCURACIES = {"inst": Accuracy(500, 1000), "utts3": Accuracy(80, 200), "utts5": Accuracy(61, 200)}


def figures(name: str = "lamps-dev.tsv", sha256: str = "", **accuracies: Accuracy) -> dict[str, object]:
    return {**to_record({**ACCURACIES, **accuracies}), "data": {"name": name, "sha256": sha256}}


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_the_figures_of_the_shipped_agents(path):
    hub = pytest.importorskip("huggingface_hub", reason="needs the extra: pip install '.[hub]'")
    record = json.loads(path.read_text(encoding="utf-8"))
    card = hub.ModelCard(front_matter(metadata(path.stem, record["world"], record)) + "\n# An agent\n")
    assert (card.text, card.data.license, card.data.library_name) == ("\n# An agent\n", "mit", "sestra")
    assert (card.data.pipeline_tag, card.data.datasets, card.data.language) == ("reinforcement-learning", ["scone"], ["en"])
    assert record["world"] in card.data.tags
    assert card.data.model_name == path.stem
    results = {result.metric_name.partition(" ")[0]: result for result in card.data.eval_results}
    for paper, metric in (("Inst", "inst"), ("3utts", "utts3"), ("5utts", "utts5")):
        found = results.pop(paper)
        assert found.metric_value == pytest.approx(record[metric], abs=0.051)
        assert (found.dataset_type, found.dataset_config, found.dataset_split) == ("scone", record["world"], "dev")
    assert not results


def test_other_data_is_not_called_scone():
    for name in ("lamps-dev.tsv", "alchemy-dev.tsv"):  # the second is not the release's
        fields = metadata("mine", name.partition("-")[0], figures(name))
        assert "datasets" not in fields
        [result] = fields["model-index"][0]["results"]
        assert (result["dataset"]["name"], result["dataset"]["split"]) == (name, "dev")


def test_a_metric_without_trials_is_left_out():
    [result] = metadata("mine", "lamps", figures(utts5=Accuracy(0, 0)))["model-index"][0]["results"]
    assert [metric["value"] for metric in result["metrics"]] == [50.0, 40.0]
    nothing = Accuracy(0, 0)
    assert metadata("mine", "lamps", figures(inst=nothing, utts3=nothing, utts5=nothing))["model-index"][0]["results"] == []


@pytest.mark.parametrize("name", ["mine", 'a "b": #c', "---", "é…\u2028\x7f\x85\x07\t", "🧪", "{}[]&*!|>%@`'", "yes", "1e3", "\\n"])
def test_any_name_can_be_read_back(name):
    yaml = pytest.importorskip("yaml")
    text = front_matter(metadata(name, "lamps", figures()))
    opened, inside, closed = text.split("---\n")
    assert (opened, closed) == ("", "")
    assert yaml.safe_load(inside) == metadata(name, "lamps", figures())
