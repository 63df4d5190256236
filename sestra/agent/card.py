"""The model card of an agent: what it is, what it was trained on and how good it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from sestra.agent import folder as agent_folder
from sestra.agent.folder import Contents
from sestra.agent.model_card import LABELS, front_matter, metadata
from sestra.errors import InputError
from sestra.io import read_json
from sestra.metrics import from_record


def export_with_card(source: Path, to: Path, results: Path) -> None:
    """Copy an agent, with a card that has the figures that 'sestra evaluate' wrote."""
    contents, name = agent_folder.read(source), source.parent if source.name == agent_folder.IN_RUN else source
    if not results.exists():
        raise InputError(f"{results}: no such file; evaluate the agent with 'sestra evaluate {name} --out {results}' first")
    figures, training = read_json(results), contents.about.training
    if not isinstance(figures, dict) or any(figures.get(key) != training.get(what) for key, what in SAME.items()):
        raise InputError(f"{results}: are not this agent's results; evaluate it with 'sestra evaluate {name} --out {results}' first")
    try:
        description = card(to.resolve().name, contents, figures)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{results}: lacks a figure ({error!r}); evaluate the agent anew with 'sestra evaluate {name}'") from error
    agent_folder.write(to, contents.about, contents.vocabulary, contents.networks, description)


WIDTH = 118
SAME = {"training": "chosen", "config": "config"}
"""What a record of results and an agent must agree in: the record's name for it, and the agent's."""


def card(name: str, contents: Contents, figures: Mapping[str, Any]) -> str:
    about, training = contents.about, contents.about.training
    config, chosen = training["config"], training["chosen"]
    alone = {"learner": training["learner"], "seed": training["seed"], **chosen}
    members = [f"learner `{each['learner']}`, seed {each['seed']}, epoch {each['epoch']}" for each in chosen.get("members", [alone])]
    origin = members[0]
    if len(members) > 1:
        origin = f"{len(members)} runs that decide by the mean of their probabilities ({'; '.join(members)})"
    rows = "\n".join(
        f"| {label} | {' | '.join(accuracy.columns[:2])} |" for key, label in LABELS.items() if (accuracy := from_record(figures, key))
    )
    generated = config["data"]["generated"]
    beside = f", beside {generated:,} interactions that sestra's grammar wrote" if generated else ""
    distilled = f", distilled from `{Path(config['teacher']).name}`" if config["teacher"] else ""
    what = (
        f"A policy (`{config['policy']['name']}`) for the world *{contents.tables.world.name}*, trained on `{training['data']['name']}` "
        f"from start and goal states alone{beside}{distilled}: preset `{config['preset']}`, {origin}. It has "
        f"{training['parameters']:,} parameters, stored in half precision, and knows {len(contents.vocabulary.words)} words. "
        f"It takes at most {about.horizon} actions per instruction."
    )
    return f"""{front_matter(metadata(name, contents.tables.world.name, figures))}
# {name}

{fill(what, WIDTH)}

Accuracy on `{figures["data"]["name"]}` in percent, the model chosen on a held-out part of train:

| | accuracy | 95% interval |
|---|---|---|
{rows}

It knows the words and phrasings of its training data and no others; every other word is treated as unknown.
"""
