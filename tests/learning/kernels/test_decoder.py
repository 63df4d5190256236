"""The decoder's gradient for a whole execution at once: the same as autograd's, which goes back through each step."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from sestra.learning.kernels.decoder import Keys, Weights, decoder_hidden_states, lstm, step
from sestra.learning.policies.state_encoder import SlotEncoder, state_encoder
from sestra.worlds import WORLDS, get_world
from sestra.worlds.tables import compile_world

BATCH, HIDDEN, WORD, JOINED = 3, 4, 6, 9


def random(*shape: int, seed: int = 0, grad: bool = True) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).requires_grad_(grad)


@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize(
    "rows", [[[0, 1, 2]], [[0, 1, 2]] * 2, [[0, 1, 2]] * 5, [[0, 1, 2], [0, 2], [0, 2], [2]], [[0, 1, 2], [0, 1, 2], [1]]], ids=str
)
@pytest.mark.parametrize(
    ("shared", "own"),
    [([(7, WORD, 1), (3, 2, 2)], [(3, 2, 2)]), ([(7, WORD, 1)], []), ([], [(3, 2, 2)]), ([(3, 2, 2)], [(3, 2, 2)])],
    ids=["full", "no states", "current state alone", "no previous instructions"],
)
def test_gradient_equals_autograds(shared, own, rows, dropout):
    """Each set of keys is given by its number of keys, their size and the number of heads; executions leave when they have ended."""
    rows = [torch.tensor(each) for each in rows]
    counts = [len(each) for each in rows]
    contexts = sum(size * heads for _, size, heads in (*shared, *own))
    sizes = [(WORD, HIDDEN), (contexts, HIDDEN + WORD), (JOINED, WORD + contexts), (4 * HIDDEN, JOINED + HIDDEN), (4 * HIDDEN,)]
    weights = Weights(*(random(*shape, seed=seed) for seed, shape in enumerate(sizes)))
    mask = torch.zeros(BATCH, 1, 4, dtype=torch.float64)
    mask[0, 0, 2:] = -torch.inf
    current = random(BATCH, 4, WORD, seed=10)
    shared_keys = [random(BATCH, keys, size, seed=20 + place) for place, (keys, size, _) in enumerate(shared)]
    own_keys = [random(sum(counts), keys, size, seed=30 + place) for place, (keys, size, _) in enumerate(own)]
    actions = random(sum(counts), JOINED, seed=40)
    first = random(BATCH, 4 * HIDDEN, seed=50)
    leaves = [first, *weights, actions, current, *shared_keys, *own_keys]
    weighing = random(sum(counts), HIDDEN, seed=60, grad=False)
    begin_cell = torch.zeros(BATCH, HIDDEN, dtype=torch.float64)

    def run():
        generator = torch.Generator().manual_seed(1)

        def drop(values):
            if not dropout:
                return values, None
            kept = torch.empty_like(values).bernoulli_(0.6, generator=generator) / 0.6
            return values * kept, kept

        begin = lstm(first, begin_cell)
        hidden, cell, traces = begin.hidden, begin.cell, []
        for number, left in enumerate(rows):
            if number:
                places = torch.searchsorted(rows[number - 1], left)
                hidden, cell = hidden[places], cell[places]
            others = [(Keys(keys[left], None), heads) for keys, (_, _, heads) in zip(shared_keys, shared, strict=True)]
            others += [(Keys(keys.split(counts)[number], None), heads) for keys, (_, _, heads) in zip(own_keys, own, strict=True)]
            traces.append(step(weights, Keys(current[left], mask[left]), others, actions.split(counts)[number], hidden, cell, drop))
            hidden, cell = traces[-1].update.hidden, traces[-1].update.cell
        return traces

    def gradients(hidden):
        return torch.autograd.grad((hidden * weighing).sin().sum(), leaves)

    traces = run()
    plain = torch.cat([trace.update.hidden for trace in traces])
    expected = gradients(plain)
    with torch.no_grad():
        unrecorded = run()
    found = decoder_hidden_states(unrecorded, rows, weights, current, shared_keys, own_keys, actions, lstm(first, begin_cell))
    torch.testing.assert_close(found, plain)
    for number, (mine, theirs) in enumerate(zip(gradients(found), expected, strict=True)):
        torch.testing.assert_close(mine, theirs, msg=lambda text, number=number: f"input {number}: {text}")
        assert theirs.any(), f"input {number}: has no part in the hidden states"


def test_unrolled_cell_equals_torchs():
    """Torch orders the gates input, forget, candidate, output; here the candidate comes last."""
    size, inputs = 3, 2
    reference = nn.LSTMCell(inputs, size, dtype=torch.float64)
    order = torch.cat([torch.arange(2 * size), torch.arange(3 * size, 4 * size), torch.arange(2 * size, 3 * size)])
    weight = torch.cat([reference.weight_ih, reference.weight_hh], 1).detach()[order].requires_grad_()
    bias = (reference.bias_ih + reference.bias_hh).detach()[order].requires_grad_()
    hidden = cell = other_hidden = other_cell = torch.zeros(4, size, dtype=torch.float64)
    total = other_total = torch.zeros((), dtype=torch.float64)
    for number in range(4):
        x = random(4, inputs, seed=number, grad=False)
        update = lstm(torch.cat([x, hidden], -1) @ weight.T + bias, cell)
        hidden, cell = update.hidden, update.cell
        other_hidden, other_cell = reference(x, (other_hidden, other_cell))
        torch.testing.assert_close((hidden, cell), (other_hidden, other_cell))
        total, other_total = total + hidden.exp().sum(), other_total + other_hidden.exp().sum()
    total.backward()
    other_total.backward()
    torch.testing.assert_close(weight.grad, torch.cat([reference.weight_ih.grad, reference.weight_hh.grad], 1)[order])
    torch.testing.assert_close(bias.grad, reference.bias_ih.grad[order])


@pytest.mark.parametrize("name", [*sorted(WORLDS.names()), "any other"])
def test_encoded_together_or_apart(name):
    """All states of an execution may be encoded at once."""
    tables = compile_world(get_world("scene" if name == "any other" else name))
    encoder = SlotEncoder(tables) if name == "any other" else state_encoder(tables)
    with torch.no_grad():
        for number, parameter in enumerate(encoder.parameters()):
            parameter.copy_(random(*parameter.shape, seed=number, grad=False))
    states = torch.randint(len(tables.world.contents), (6, tables.slots), generator=torch.Generator().manual_seed(1))
    prepared = encoder.prepare()
    apart = torch.cat([encoder(prepared, state.unsqueeze(0)) for state in states])
    assert apart.shape[::2] == (6, encoder.size)
    torch.testing.assert_close(encoder(prepared, states), apart)
    assert len({tuple(row) for row in apart.flatten(1).tolist()}) == 6
