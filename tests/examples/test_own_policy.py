"""The example of a policy does what docs/your-own-policy.md says of it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch
from lamps import Lamps, interactions
from lifecycle import BROKEN, EXAMPLES, START

from sestra.data.batch import encode_turns
from sestra.data.vocabulary import Vocabulary
from sestra.learning.config import configure
from sestra.learning.decoding import forced, greedy
from sestra.learning.policies.base import Inputs
from sestra.learning.policies.registry import POLICIES
from sestra.learning.rollout import roll_out
from sestra.worlds.tables import Tables

REFERENCE = f"{EXAMPLES / 'own_policy.py'}:Recurrent"


def test_neither_example_imports_torch_before_it_is_used():
    program = f"""
import sys
from sestra.cli import main
try:
    main(["train", "--policy", {REFERENCE!r}, "--learner", {str(EXAMPLES / "own_learner.py")!r} + ":Margin", "--help"])
finally:
    assert "torch" not in sys.modules, "torch was imported"
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--size INT" in done.stdout
    assert "Size of all vectors. (default: 64)" in done.stdout
    assert "--margin FLOAT" in done.stdout


@torch.no_grad()
def test_a_turn_is_scored_alone_as_it_is_in_a_batch():
    """Whatever words the others have: padding is masked."""
    tables, vocabulary = Tables(Lamps()), Vocabulary(("light", "put", "out", "it", "one", "two", "three", "red", "green"))
    torch.manual_seed(1)
    policy = POLICIES.get(REFERENCE)(size=16).build(tables, vocabulary).eval()
    turns = encode_turns(interactions(4, seed=1), vocabulary, tables)
    assert len(set(turns.lengths.tolist())) > 1
    together = roll_out(policy, tables, turns, 4, greedy)
    for row in range(len(turns)):
        one = turns.select(torch.tensor([row]).numpy())
        alone = roll_out(policy, tables, one, 4, forced(together.actions.T[row : row + 1]))
        length = int(together.lengths[row])
        torch.testing.assert_close(alone.log_probs[:length, 0], together.log_probs[:length, row])


def test_all_tensors_are_on_the_device_of_the_inputs():
    """Torch refuses to mix devices; the device 'meta', which has shapes alone, is one that every machine has."""
    tables, vocabulary = Tables(Lamps()), Vocabulary(("light", "one", "red"))
    policy = POLICIES.get(REFERENCE)(size=8).build(tables, vocabulary).to("meta")
    words, states = torch.ones(2, 5, dtype=torch.long, device="meta"), torch.zeros(2, 3, dtype=torch.long, device="meta")
    lengths = torch.full((2,), 5, device="meta")
    inputs = Inputs(words, lengths, torch.zeros_like(lengths), states.unsqueeze(1), torch.zeros_like(lengths))
    memory, carry = policy.encode(inputs)
    scored = policy.step(memory, carry, states, torch.full((2,), tables.actions, device="meta"), return_attention=True)
    assert (scored.logits.device.type, scored.logits.shape) == ("meta", (2, tables.actions))


def test_it_learns(accuracy_on_lamps):
    flags = {"world": "lamps", "policy": REFERENCE, "size": 32, "epochs": 10, "batch_size": 20, "learning_rate": 0.005, "horizon": 3}
    config = configure(flags)
    assert config.learner_name == "best-action"
    assert accuracy_on_lamps(config) > 90


def test_from_training_to_an_exported_agent(lifecycle):
    exported = lifecycle.check("--policy", REFERENCE, "--size", "8")
    stored = json.loads((lifecycle.folder / "run" / "config.json").read_text())["policy"]
    assert stored == {"name": REFERENCE, "size": 8}
    assert f" # agent A policy (`{REFERENCE}`) for the world *scene*" in " ".join(exported.card.split())
    turns = exported.follow(START, ["the person in red leaves", "he comes back"]).turns
    [attention] = turns[1].steps[0].attention
    assert attention.name == "words"
    assert [weight.label for weight in attention.heads[0]] == ["the", "person", "in", "red", "leaves", "he", "comes", "back"]
    assert sum(weight.weight for weight in attention.heads[0]) <= 1
    lifecycle.used_by_another_process()


def test_a_value_that_makes_no_sense(lifecycle):
    printed = lifecycle.sestra("train", "--world", "scene", "--policy", REFERENCE, "--size", "0", status=2)
    assert "--size 0: expected a whole number from 1 to 10,000" in printed


@pytest.mark.parametrize("reference", BROKEN)
def test_wrong_references(check_broken, reference):
    check_broken(reference, "policy")
