"""A trained policy as a small folder that other machines can use: weights, vocabulary, configuration and a model card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sestra.errors import InputError
from sestra.io import make_folder, read_json, to_json, write_json, write_text
from sestra.learning import checkpoint
from sestra.learning.config import TrainConfig
from sestra.learning.model_card import LABELS, front_matter, metadata
from sestra.learning.run_folder import RunFolder, Trained, load_trained
from sestra.metrics import from_record


def export_run(run: RunFolder, to: Path, results: Path) -> None:
    """Write the run's policy with a model card; each file appears whole or not at all."""
    trained = load_trained(run)
    if not results.exists():
        raise InputError(f"{results}: no such file; evaluate the run with 'sestra evaluate {run.path}' first")
    figures = read_json(results)
    same = (
        isinstance(figures, dict)
        and figures.get("training") == json.loads(to_json(trained.chosen))
        and TrainConfig.from_json(figures.get("config"), f"{results}: config") == trained.config
    )
    if not same:
        raise InputError(f"{results}: are not this run's results; evaluate it with 'sestra evaluate {run.path}' first")
    try:
        description = card(to.resolve().name, trained, run.source().name, figures)
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{results}: lacks a figure ({error!r}); evaluate the run anew with 'sestra evaluate {run.path}'") from error
    write_agent(trained, to, description)


def write_agent(trained: Trained, to: Path, description: str) -> None:
    """The policy in half precision as a folder that ``load_trained`` reads, with its card if there is one."""
    if not RunFolder(to).exported:
        raise InputError(f"{to}: is the folder of a run, which this would overwrite; choose another one (with --to on the command line)")
    make_folder(to, "choose another folder (with --to on the command line)")
    if not description:
        (to / "CARD.md").unlink(missing_ok=True)  # that of another policy
    checkpoint.save(RunFolder(to).model, {name: tensor.half() for name, tensor in trained.policy.state_dict().items()}, trained.chosen)
    write_json(to / "vocab.json", list(trained.vocabulary.words))
    if description:
        write_text(to / "CARD.md", description)
    write_json(to / "config.json", trained.config.to_json())


def read_card(folder: RunFolder) -> str:
    """The card in an exported folder; empty if there is none, as in a run's."""
    try:
        return (folder.path / "CARD.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{folder.path / 'CARD.md'}: cannot be read ({error}); the file is damaged, use another one") from error


def card(name: str, trained: Trained, source: str, figures: dict[str, Any]) -> str:
    """The model card: metadata, what the policy is, what it was trained on and how good it is."""
    config, chosen = trained.config, trained.chosen
    alone = {"learner": config.learner_name, "seed": config.seed, **chosen}
    members = [f"learner `{each['learner']}`, seed {each['seed']}, epoch {each['epoch']}" for each in chosen.get("members", [alone])]
    origin = (
        members[0] if len(members) == 1 else f"{len(members)} runs that decide by the mean of their probabilities ({'; '.join(members)})"
    )
    parameters = sum(parameter.numel() for parameter in trained.policy.parameters())
    rows = "\n".join(
        f"| {label} | {' | '.join(accuracy.columns[:2])} |" for key, label in LABELS.items() if (accuracy := from_record(figures, key))
    )
    beside = f", beside {config.data.generated:,} interactions that sestra's grammar wrote" if config.data.generated else ""
    distilled = f", distilled from `{Path(config.teacher).name}`" if config.teacher else ""
    kind = (type(config.policy).__doc__ or config.policy_name).partition("\n")[0].rstrip(".")
    fields = metadata(name, trained.tables.world.name, figures)
    return f"""{front_matter(fields)}
# {name}

{kind} for the world *{trained.tables.world.name}*, trained on `{source}` from start and goal states
alone{beside}{distilled}: preset `{config.preset}`, {origin}.
It has {parameters:,} parameters, stored in half precision, and knows {len(trained.vocabulary.words)} words.

Accuracy on `{figures["data"]["name"]}` in percent, the model chosen on a held-out part of train:

| | accuracy | 95% interval |
|---|---|---|
{rows}

It knows the words and phrasings of its training data and no others; every other word is treated as unknown.
"""
