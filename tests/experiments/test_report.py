"""Tables and figures from records."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from commands import run
from fake import record

from sestra.data.download import SHA256
from sestra.errors import InputError
from sestra.experiments.aggregate import cell, extrapolate, groups, kind_of
from sestra.experiments.analyses import analysis_lines, read_analyses
from sestra.experiments.figures import learning_curves, observations
from sestra.experiments.grid import LEARNERS, OF_PAPER, SYSTEMS, WORLDS_OF_PAPER
from sestra.experiments.records import read_all
from sestra.experiments.report import report
from sestra.experiments.verdicts import compare, reproduced


def text_of(found: list[dict], **options: str) -> str:
    return "\n".join(report(found, "results/paper", **options))


def write(folder: Path, *found: dict) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for one in found:
        (folder / f"{one['name']}.json").write_text(json.dumps(one))
    return folder


def row(text: str, heading: str, label: str) -> list[str]:
    section = text.partition(f"### {heading}\n")[2].partition("\n#")[0]
    [line] = [line for line in section.splitlines() if line.startswith(f"| {label}")]
    return [part.strip() for part in line.strip("|").split("|")]


def test_without_runs_every_cell_is_pending():
    text = text_of([])
    assert text.count("*pending*") == 3 * (3 * 8 * 3) + 3 * 8 * 2 + 3 * 7
    assert row(text, "Alchemy", "SESTRA")[2] == "92.1<br>91.5 ± 1.4"
    assert "No run has finished yet" in text


def test_best_by_validation_mean_and_interval():
    three = [record("scene", "sestra", seed) for seed in (1, 2, 3)]
    for one, validation, dev in zip(three, (50.0, 70.0, 60.0), (132, 122, 124), strict=True):
        one["validation"]["utts5"] = validation
        one["splits"]["dev"]["counts"]["utts5"] = [dev, 200]
    cells = row(text_of(three), "Scene", "SESTRA")
    assert cells[1] == "3"
    assert cells[-1] == "**61.0** [54.1, 67.5]<br>63.0 ± 2.6", "the run that validation chooses, not the best on dev"


def test_ties_in_whole_interactions_are_broken_by_single_instructions():
    two = [record("scene", "sestra", seed) for seed in (1, 2)]
    for one, inst, dev in zip(two, (80.0, 81.0), (100, 120), strict=True):
        one["validation"] |= {"utts5": 60.0, "inst": inst}
        one["splits"]["dev"]["counts"]["utts5"] = [dev, 200]
    assert row(text_of(two), "Scene", "SESTRA")[-1].startswith("**60.0** ")


@pytest.mark.parametrize(("counts", "shown"), [([896, 995], "90.1"), ([9_004_999, 10_000_000], "90.0"), ([1, 400], "0.3")])
def test_halves_are_rounded_up_from_counts(counts, shown):
    one = record("tangrams", "sestra")
    one["splits"]["dev"]["counts"]["inst"] = counts
    text = text_of([one])
    assert row(text, "Tangrams", "SESTRA")[3].startswith(f"**{shown}** [")
    [line] = [line for line in text.splitlines() if line.startswith("| tangrams-sestra-1 ")]
    assert line.split(" | ")[7].startswith(f"{shown} / ")


def test_generated_data_is_kept_out_of_the_tables():
    generated = record("scene", "sestra", generated=True)
    other = record("scene", "supervised")
    other["splits"]["dev"]["data"]["sha256"] = "1" * 64
    assert [kind_of(one) for one in (generated, other, record("scene", "sestra"))] == ["generated", "other", "scone"]
    text = text_of([generated, other])
    assert row(text, "Scene", "SESTRA")[-1] == row(text, "Scene", "Supervised")[-1] == "*pending*"
    assert "## On generated interactions" in text
    assert "## On other data" in text


def test_other_settings_are_never_averaged():
    found = [record("scene", "sestra", 1), record("scene", "sestra", 2, epochs=7), record("scene", "sestra", 3, epochs=7)]
    assert [group.seeds for group in groups(found, "scene", "sestra", "default")] == [1, 2]
    assert cell(found, "scene", "sestra").records == (found[0],)
    text = text_of(found)
    usual = SYSTEMS["sestra"].config("scene", 1).optimisation.epochs
    assert row(text, "Scene", "SESTRA")[1] == "1"
    assert f"| scene | SESTRA | default, but epochs is 7, not {usual} | 2 |" in text
    alone = text_of(found[1:])
    assert row(alone, "Scene", "SESTRA, other settings<sup>1</sup>")[1] == "2"
    assert f"1. scene, SESTRA: epochs is 7, not {usual}" in alone


def test_runs_that_were_ended_early_are_kept_apart_and_marked():
    whole, early = record("scene", "sestra", 1), record("scene", "sestra", 2)
    early |= {"flat": 10, "ended": "no better for 10 epochs"}
    assert [group.seeds for group in groups([whole, early], "scene", "sestra", "default")] == [1, 1]
    text = text_of([early])
    assert "1. scene, SESTRA: plateau is 10, not 0" in text


def test_presets_have_tables_of_their_own():
    found = [record("scene", "sestra"), *(record("scene", "sestra", preset=preset) for preset in ("paper", "authors"))]
    text = text_of(found)
    assert "## Dev, preset `default`" in text
    assert "## Dev, preset `paper`" in text
    assert "## Dev, preset `authors`" in text


def test_test_split_where_it_is_at_hand():
    assert "The test split was not available" in text_of([record("scene", "sestra")])
    one = record("scene", "sestra")
    one["splits"]["test"] = one["splits"]["dev"]
    text = text_of([one]).partition("## Test, preset `default`")[2]
    assert row(text, "Scene", "SESTRA")[2] == "87.1"
    assert "previous instructions" not in text.partition("\n## ")[0], "Table 3 has no ablations"


def test_notes_are_taken_over():
    assert "\n## Notes\n\nScene is hard.\n" in text_of([], notes="Scene is hard.\n\n") + "\n"


def test_order():
    systems = ("sestra", "policy-gradient", "supervised")
    found = [record(world, system, preset="paper") for world in WORLDS_OF_PAPER for system in systems]
    for one in found:
        if (one["world"], one["system"]) == ("tangrams", "policy-gradient"):
            one["splits"]["dev"]["counts"]["utts5"] = [198, 199]
    verdicts = {(line[0], line[1]): line[-1] for line in compare(found, "paper")}
    assert verdicts["alchemy", "PolicyGradient"] == "the same"
    assert verdicts["alchemy", "Supervised"] == "no clear difference in either"
    assert verdicts["tangrams", "PolicyGradient"] == "clear in ours only"
    assert verdicts["scene", "ContextualBandit"] == ""


def test_only_comparable_settings_are_judged():
    """In the default preset policy gradient has other settings than SESTRA, an ablation has the same; a shorter run is not of the grid."""
    found = [record("scene", system) for system in ("sestra", "policy-gradient", "supervised", "without-states")]
    found.append(record("scene", "without-initial-state", epochs=7))
    verdicts = {line[1]: line[-1] for line in compare(found, "default") if line[0] == "scene"}
    assert verdicts["PolicyGradient"].startswith("not comparable: other ")
    assert "other epochs" in verdicts["PolicyGradient"]
    assert verdicts["Supervised"].startswith("not comparable: other ")
    assert verdicts["− current and initial state"] == "the same"
    assert verdicts["− initial state"].startswith("not comparable: epochs is 7, not ")
    assert verdicts["− current state"] == ""


def test_rows_that_are_reproduced():
    exact, worse = record("scene", "sestra", preset="paper"), record("scene", "supervised", preset="paper")
    exact["splits"]["dev"]["counts"] = {"inst": [831, 990], "utts3": [136, 198], "utts5": [111, 198]}  # 83.9, 68.7, 56.1
    worse["splits"]["dev"]["counts"] = {"inst": [844, 990], "utts3": [144, 198], "utts5": [90, 198]}
    short = record("scene", "policy-gradient", preset="authors", epochs=3)
    lines = {line[1]: line[2:] for line in reproduced([exact, worse, short]) if line[0] == "scene"}
    assert lines["SESTRA"] == ["**yes** (1 seed)", "*pending*"]
    assert lines["Supervised"][0] == "**no** (1 seed): 5utts 45.5 is lower than 60.6"
    assert lines["PolicyGradient"][1] == "not comparable: epochs is 3, not 200"
    assert len(list(reproduced([]))) == 3 * len(OF_PAPER)


def test_learners_by_their_observations():
    assert observations([record("scene", "sestra", preset="paper")]) is None, "one is no comparison"
    found = [record("tangrams", system, preset="paper") for system in LEARNERS]
    found += [record("alchemy", system, preset="paper") for system in ("sestra", "lols")]
    figure = observations(found)
    [axes] = figure.axes
    assert axes.get_title().startswith("Tangrams")
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert {*lines} == {SYSTEMS[system].label for system in LEARNERS}
    assert lines["SESTRA"].get_xdata()[1] == 2 * lines["SESTRA"].get_xdata()[0], "observations add up over epochs"
    older = found[0]["curve"]
    older["observations"] = [None, *older["observations"][1:]]  # a run that began before they were counted
    assert SYSTEMS[LEARNERS[0]].label not in {line.get_label() for line in observations(found).axes[0].get_lines()}
    assert "| tangrams | paper | LOLS | 1 | 200 | 200,000 |" in text_of(found).partition("what they observe")[2]
    assert SYSTEMS[LEARNERS[0]].label not in text_of(found).partition("what they observe")[2].partition("\n## ")[0]


def test_learners_of_the_reading_that_has_most():
    found = [record("scene", system, preset="authors") for system in ("sestra", "lols", "dagger")]
    found += [record("scene", system, preset="paper") for system in ("sestra", "lols")]
    assert observations(found).axes[0].get_title() == "Scene, the paper's network, the settings of the authors' program"


def test_extrapolation():
    assert extrapolate([]) is None
    found = [record("scene", "sestra"), record("scene", "supervised")]
    found[0]["seconds"], found[1]["seconds"] = 100.0, 200.0
    cost = extrapolate(found)
    assert cost.runs == 96
    of_scene = 5 * 100 + 5 * 200 + (2 * 5 + 4 * 3) * 150
    assert cost.seconds == pytest.approx(of_scene + 2 * 32 * 150)


def test_extrapolation_from_runs_that_were_cut_short():
    short, whole = record("scene", "policy-gradient", epochs=8), record("scene", "policy-gradient")
    short["seconds"], whole["seconds"] = 80.0, 10.0 * whole["epochs"]
    assert extrapolate([short]).seconds == pytest.approx(extrapolate([whole]).seconds)
    short["ended"] = "patience ran out"
    assert extrapolate([short]).seconds == pytest.approx(96 * 80.0)


def test_the_committed_report_is_that_of_the_committed_results():
    root = Path(__file__).parents[2]
    notes = (root / "results" / "paper" / "notes.md").read_text(encoding="utf-8")
    found, analyses = read_all(root / "results" / "paper"), read_analyses(root / "results" / "analysis")
    assert [one["agent"] for one in analyses] == [f"{world}{which}" for world in WORLDS_OF_PAPER for which in ("-sestra", "")]
    expected = "\n".join(report(found, "results/paper", notes, analyses)).rstrip() + "\n"
    assert (root / "results" / "RESULTS.md").read_text(encoding="utf-8") == expected, "run 'sestra paper report'"


def test_command_writes_the_same_files_again(capsys, tmp_path):
    found = [record(world, system) for world in WORLDS_OF_PAPER for system in SYSTEMS]
    found += [record(world, system, preset=name) for world in WORLDS_OF_PAPER for system in OF_PAPER for name in ("paper", "authors")]
    results = write(tmp_path / "results" / "paper", *found)
    (tmp_path / "analysis").mkdir()
    (tmp_path / "analysis" / "scene.json").write_text(json.dumps(ANALYSIS))
    flags = [
        "paper",
        "report",
        "--results",
        results,
        "--analyses",
        tmp_path / "analysis",
        "--out",
        tmp_path / "out" / "RESULTS.md",
        "--images",
        tmp_path / "images",
    ]
    status, output, _ = run(capsys, *flags)
    assert status == 0
    assert output.startswith(f"{len(found)} finished runs: wrote ")
    first = {path: path.read_bytes() for path in tmp_path.glob("images/*")}
    names = ("learning-curves", "learners", "accuracy-by-turn", "parameters", "observations")
    assert {path.name for path in first} == {f"{name}.svg" for name in names}
    for content in first.values():
        assert ElementTree.fromstring(content).tag.endswith("svg")
    assert run(capsys, *flags)[0] == 0
    assert {path: path.read_bytes() for path in first} == first
    text = (tmp_path / "out" / "RESULTS.md").read_text()
    assert "*pending*" not in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert re.fullmatch(r"\|.*\|", line)


ANALYSIS = {
    "agent": "scene", "world": "scene", "data": {"name": "scene-dev.tsv", "sha256": SHA256["scene-dev.tsv"]},
    "references_per_interaction": 2.26,
    "references_by_age": {"ages": ["1"], "coreference, object": [5, 4, 3, 2, 1], "ellipsis, object": [0, 0, 0, 0, 0]},
    "resolved": {"found by the program": {"right": 3, "of": 4}},
    "causes": {"labels_doubted": True, "state reference": 3, "other": 1},
    "paper": {
        "references_per_interaction": 2.4, "references_by_age": {"coreference, object": [44, 16, 5, 3]}, "resolved": 88.7,
        "causes": {"state reference": 13},
    },
}  # fmt: skip
AGREED = {"both": 9, "program": 1, "person": 0, "neither": 5, "precision": 0.9, "recall": 1.0, "kappa": 0.857}


def test_references_and_errors_beside_the_papers():
    text = "\n".join(analysis_lines([ANALYSIS]))
    assert "| scene | coreference, object | 5 / 4 / 3 / 2 | – | 44 / 16 / 5 / 3 |" in text
    assert "ellipsis, object" not in text, "neither has any"
    assert "| scene | references per interaction | 2.3 | – | 2.4 |" in text
    assert "| `scene` | 75.0 [30.1, 95.4] | – | 88.7 |" in text
    assert "| `scene` | 4 | 3 (75%) | 1 (25%) |\n| the paper, scene | 50 | 13 (26%) | 37 (74%) |" in text
    assert "The program and a person" not in text
    agreed = ANALYSIS | {"agreement": {"held out": {"refers back": AGREED}}}
    assert "| scene | 0.90 / 1.00 (9 of 10 / 9); κ 0.86 | – | – | – | – |" in "\n".join(analysis_lines([agreed]))
    assert list(analysis_lines([])) == []


def test_analyses_of_other_data_are_left_out_and_older_files_refused(tmp_path):
    (tmp_path / "other.json").write_text(json.dumps(ANALYSIS | {"data": {"name": "mine.tsv", "sha256": "0" * 64}}))
    (tmp_path / "own.json").write_text(json.dumps(ANALYSIS | {"paper": None}))
    assert read_analyses(tmp_path) == []
    assert read_analyses(tmp_path / "nowhere") == []
    (tmp_path / "old.json").write_text(json.dumps({name: value for name, value in ANALYSIS.items() if name != "causes"}))
    with pytest.raises(InputError, match=r"old\.json: lacks 'causes'; write it again with: sestra analyze old"):
        read_analyses(tmp_path)


def test_learning_curves_say_with_which_settings():
    ours, papers = record("scene", "sestra", warm_up_fraction=0.5), record("scene", "sestra", preset="paper")
    titles = [axes.get_title() for axes in learning_curves([ours, papers]).axes]
    assert (
        " ".join(titles[1].split()) == "ours: 1 run our default settings, with 20 epochs of warm-up, but warm_up_fraction is 0.5, not 0.25"
    )
    assert titles[2] == "ours: 1 run\nthe paper's settings"


def test_command_with_nothing(capsys, tmp_path):
    status, _, errors = run(capsys, "paper", "report", "--results", tmp_path, "--out", tmp_path / "R.md", "--images", tmp_path / "images")
    assert status == 2
    assert "holds no finished run's results" in errors
    assert not list(tmp_path.iterdir())


def test_damaged_result_is_named(capsys, tmp_path):
    (tmp_path / "scene-sestra-1.json").write_text("{}")
    status, _, errors = run(capsys, "paper", "report", "--results", tmp_path, "--out", tmp_path / "R.md", "--no-figures")
    assert status == 2
    assert "scene-sestra-1.json: has no name" in errors
    assert not (tmp_path / "R.md").exists()


def test_list(capsys, no_scone, tmp_path):
    write(tmp_path / "results", record("scene", "sestra", generated=True), record("scene", "supervised", generated=True, epochs=3))
    flags = ["--worlds", "scene", "--seeds", "1", "--runs", tmp_path / "runs", "--results", tmp_path / "results"]
    status, output, _ = run(capsys, "paper", "list", *flags)
    assert status == 0
    assert "8 runs, 2 finished" in output
    assert "SCONE was not found" in output
    status, output, _ = run(capsys, "paper", "list", *flags, "--json")
    states = {one["name"]: one["state"] for one in json.loads(output)["runs"]}
    assert states["scene-supervised-1-generated"].startswith("finished after epoch 3, with other settings: epochs is 3, not ")
    assert states["scene-policy-gradient-1-generated"] == "pending"


def test_parts_of_the_object_policy():
    assert "ablation of the object policy" not in text_of([record("scene", "sestra")])
    found = [record("scene", "objects-brief", seed) for seed in (1, 2)] + [record("scene", "objects-without-ranks")]
    for one, inst, utts5 in zip(found, (180, 182, 176), (140, 144, 137), strict=True):
        one["splits"]["dev"]["counts"] |= {"inst": [inst, 200], "utts5": [utts5, 200]}
    section = text_of(found).partition("ablation of the object policy")[2].partition("\n## ")[0]
    assert "| object policy, three epochs of train | *pending* |  | 90.5 / 71.0 |  | *pending* |  |" in section
    assert "| − counting similar objects | *pending* |  | 88.0 / 68.5 | −2.5 | *pending* |  |" in section
    assert "| − what number words have in common | *pending* |  | – |  | – |  |" in section
