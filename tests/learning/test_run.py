"""Training from Python: the same run as the command line's, callbacks, and mistakes that are found before an epoch is trained."""

from __future__ import annotations

import pytest
from lamps import Lamps, interactions

import sestra
from sestra.errors import InputError
from sestra.learning.policies.attention_config import AttentionConfig

SMALL = {"policy": AttentionConfig(embedding=4, hidden=6), "epochs": 3, "batch_size": 10, "horizon": 3}


def test_train_stop_evaluate_follow(tmp_path):
    seen = []

    def stop(record):
        seen.append(record["epoch"])
        return len(seen) == 2

    run = sestra.train(Lamps, interactions(30, seed=1), out=tmp_path / "run", callbacks=[stop], **SMALL)
    assert seen == [1, 2] == [record["epoch"] for record in run.history]
    assert run.best in run.history
    assert run.evaluate("dev", interactions(10, seed=2))["counts"]["inst"][1] == 20
    assert run.agent().follow("1:_ 2:_ 3:r", ["light one red"]).turns
    with pytest.raises(InputError, match="give evaluate its data"):
        run.evaluate("dev")


def test_records_have_the_seconds_that_the_metrics_lack(tmp_path):
    seen = []
    run = sestra.train(Lamps, interactions(30, seed=1), out=tmp_path / "run", callbacks=[seen.append], **SMALL | {"learner": "sestra"})
    assert run.history == seen
    assert all(record["seconds"] > 0 for record in seen)
    assert "seconds" not in (tmp_path / "run" / "metrics.jsonl").read_text()


class StopAfterBatch(sestra.Callback):
    """Asks the run to stop after its first batch."""

    def on_train_begin(self, trainer, notices):
        self.trainer = trainer

    def on_batch_end(self, done, total, objective):
        self.trainer.stop_requested = True


def test_stopped_within_an_epoch_and_resumed(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    sestra.train(Lamps, interactions(30, seed=1), out=whole, **SMALL)
    run = sestra.train(Lamps, interactions(30, seed=1), out=parts, callbacks=[StopAfterBatch()], **SMALL)
    assert run.history == []
    assert [path.name for path in run.folder.checkpoints()] == ["epoch-0000-batch-1.safetensors"]
    assert not (parts / "agent").exists()
    sestra.train(data=interactions(30, seed=1), out=parts, resume=True)
    assert (parts / "metrics.jsonl").read_bytes() == (whole / "metrics.jsonl").read_bytes()
    assert (parts / "agent").exists()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"optimiser": "sgd"}, "optimiser"),
        ({"speed": 3}, "no such setting"),
        ({"device": "cuda"}, "runs on the CPU alone"),
        ({"device": "toaster"}, "not a device"),
        ({"data": [("light one red",)]}, r"data\[0\] is"),
        ({"callbacks": [3]}, "neither a function"),
        ({"checkpoint_minutes": -1}, "--checkpoint-minutes -1"),
    ],
)
def test_what_is_wrong_is_found_before_the_first_epoch(tmp_path, changes, complaint):
    given = {"data": interactions(10, seed=1), **SMALL, **changes}
    with pytest.raises(InputError, match=complaint):
        sestra.train(Lamps, out=tmp_path / "run", **given)
    assert not (tmp_path / "run").exists()
