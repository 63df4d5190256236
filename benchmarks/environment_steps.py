"""How far SESTRA comes with as many environment steps as ``examples/ppo.py`` takes.

    python benchmarks/environment_steps.py --steps 150000 --out results/sestra-steps.json

The data is the same: the generated training interactions of Tangrams; of them a part is held out for the selection of the epoch. The steps
are the actions of all sampled executions.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import sestra
from sestra.data.synthetic import splits

WORLD = "tangrams"


def measure(steps: int) -> dict[str, Any]:
    made = splits(WORLD)
    instructions = 0
    taken = 0.0

    def stop(record: dict[str, Any]) -> bool:
        nonlocal taken
        taken += record["actions"] * instructions
        return bool(taken >= steps)

    class Count(sestra.Callback):
        def on_train_begin(self, trainer: Any, notices: Any) -> None:
            nonlocal instructions
            del notices
            instructions = len(trainer.train)

    with tempfile.TemporaryDirectory() as folder:
        run = sestra.train(WORLD, made["train"], learner="sestra", out=Path(folder) / "run", callbacks=[Count(), stop])
        found = run.evaluate(data=made["dev"])
        return {"steps": round(taken), "epochs": len(run.history), "seconds": round(run.history[-1]["seconds"]), "dev_inst": found["inst"]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    record = measure(options.steps)
    print(record)
    if options.out:
        options.out.write_text(json.dumps(record) + "\n", encoding="utf-8")
