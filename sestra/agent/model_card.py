"""The metadata of a model card, by which the Hugging Face hub finds agents and shows their figures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from sestra.data.download import SHA256
from sestra.metrics import METRICS, from_record, tenths

LABELS = {"inst": "single instructions", "utts3": "first three instructions", "utts5": "whole interactions"}
"""What the metrics count."""
TASK = "reinforcement-learning"
"""Of the hub's tasks the nearest one."""


def metadata(name: str, world: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    """The hub's fields, of an agent with the figures that 'sestra evaluate' wrote."""
    data = figures["data"]
    scone = SHA256.get(data["name"]) == data["sha256"]
    split = re.sub(r"\.tsv$", "", data["name"])
    dataset = {"type": "scone", "name": "SCONE"} if scone else {"type": re.sub(r"\W+", "-", split), "name": data["name"]}
    metrics = [
        {"type": "accuracy", "name": f"{METRICS[metric]} ({label})", "value": float(tenths(accuracy.percent))}
        for metric, label in LABELS.items()
        if (accuracy := from_record(figures, metric))
    ]
    result = {
        "task": {"type": TASK, "name": "Instruction following"},
        "dataset": {**dataset, "config": world, "split": split.removeprefix(f"{world}-")},
        "metrics": metrics,
    }
    return {
        "license": "mit",
        "language": ["en"],
        "library_name": "sestra",
        "pipeline_tag": TASK,
        "tags": ["instruction-following", TASK, world],
        **({"datasets": ["scone"]} if scone else {}),
        "model-index": [{"name": name, "results": [result] if metrics else []}],
    }


def front_matter(fields: Mapping[str, Any]) -> str:
    """The fields as YAML between two lines of dashes, each field's value as JSON, which YAML includes.

    >>> print(front_matter({"license": "mit", "tags": ["é"]}), end="")
    ---
    license: "mit"
    tags: ["\\U000000e9"]
    ---
    """
    lines = "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())
    plain = re.sub(r"[^\n -~]", lambda found: f"\\U{ord(found[0]):08x}", lines)  # YAML takes some characters only like this
    return f"---\n{plain}---\n"
