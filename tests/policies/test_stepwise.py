"""Parts used at every step: the same results and gradients as plain autograd, however often they are used."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.autograd import gradcheck

from sestra.policies.states import SlotEncoder, state_encoder
from sestra.policies.stepwise import StepwiseEncoder, StepwiseLinear, lstm_cell
from sestra.worlds import WORLDS, get_world
from sestra.worlds.tables import compile_world


def random(*shape: int, seed: int = 0, grad: bool = True) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).requires_grad_(grad)


@pytest.mark.parametrize("uses", [1, 2, 5])
@pytest.mark.parametrize("biased", [True, False])
def test_linear_passes_gradcheck(uses, biased):
    def chain(x, weight, *bias):
        layer = StepwiseLinear(weight, *bias)
        for _ in range(uses):
            x = torch.tanh(layer(x))
        return x

    assert gradcheck(chain, (random(2, 3), random(3, 3, seed=1), *([random(3, seed=2)] if biased else [])))


def test_linear_equals_plain_autograd_when_the_batch_shrinks_and_a_use_has_no_part_in_the_result():
    plain = nn.Linear(4, 4, dtype=torch.float64)
    weight, bias = (parameter.detach().clone().requires_grad_() for parameter in (plain.weight, plain.bias))
    results = []
    for layer in (plain, StepwiseLinear(weight, bias)):
        x = random(5, 4)
        total = torch.zeros((), dtype=torch.float64)
        hidden = x
        for rows in (5, 3, 3, 1):
            hidden = torch.sin(layer(hidden[:rows]))
            layer(hidden * 2)  # looked at, never used
            total = total + (hidden * torch.arange(1, 5)).sum()
        total.backward()
        results.append((total.detach(), x.grad))
    torch.testing.assert_close(results[1], results[0])
    torch.testing.assert_close(weight.grad, plain.weight.grad)
    torch.testing.assert_close(bias.grad, plain.bias.grad)


def test_gradients_add_up_over_batches():
    weight = random(3, 3)
    for seed in (1, 2):
        StepwiseLinear(weight)(random(4, 3, seed=seed)).sum().backward()
    inputs = torch.cat([random(4, 3, seed=seed).detach() for seed in (1, 2)])
    torch.testing.assert_close(weight.grad, inputs.sum(0).expand(3, 3))


def test_nothing_is_noted_without_gradients():
    weight = random(3, 3)
    with torch.no_grad():
        result = StepwiseLinear(weight)(random(4, 3))
    assert not result.requires_grad
    torch.testing.assert_close(result, random(4, 3) @ weight.T)


# The LSTM's cell.


def test_cell_passes_gradcheck():
    assert gradcheck(lstm_cell, (random(3, 8), random(3, 2, seed=1)))
    assert gradcheck(lambda gates, cell: lstm_cell(gates, cell)[0], (random(2, 3, 8), random(2, 3, 2, seed=1)))
    assert gradcheck(lambda gates, cell: lstm_cell(gates, cell)[1], (random(3, 8), random(3, 2, seed=1)))


@pytest.mark.parametrize("steps", [1, 4])
def test_unrolled_cell_equals_torchs(steps):
    """Torch orders the gates input, forget, candidate, output; here the candidate comes last."""
    size, inputs = 3, 2
    reference = nn.LSTMCell(inputs, size, dtype=torch.float64)
    order = torch.cat([torch.arange(2 * size), torch.arange(3 * size, 4 * size), torch.arange(2 * size, 3 * size)])
    weight = torch.cat([reference.weight_ih, reference.weight_hh], 1).detach()[order].requires_grad_()
    bias = (reference.bias_ih + reference.bias_hh).detach()[order].requires_grad_()
    layer = StepwiseLinear(weight, bias)
    hidden = cell = reference_hidden = reference_cell = torch.zeros(4, size, dtype=torch.float64)
    total = reference_total = torch.zeros((), dtype=torch.float64)
    for step in range(steps):
        x = random(4, inputs, seed=step, grad=False)
        hidden, cell = lstm_cell(layer(torch.cat([x, hidden], -1)), cell)
        reference_hidden, reference_cell = reference(x, (reference_hidden, reference_cell))
        torch.testing.assert_close((hidden, cell), (reference_hidden, reference_cell))
        total, reference_total = total + hidden.exp().sum(), reference_total + reference_hidden.exp().sum()
    total.backward()
    reference_total.backward()
    torch.testing.assert_close(weight.grad, torch.cat([reference.weight_ih.grad, reference.weight_hh.grad], 1)[order])
    torch.testing.assert_close(bias.grad, reference.bias_ih.grad[order])


# State encoders.


@pytest.mark.parametrize("uses", [1, 4])
@pytest.mark.parametrize("name", [*sorted(WORLDS), "any other"])
def test_encoder_equals_plain_autograd(name, uses):
    tables = compile_world(get_world("scene" if name == "any other" else name))
    encoder = (SlotEncoder(tables) if name == "any other" else state_encoder(tables)).double()
    with torch.no_grad():
        for number, parameter in enumerate(encoder.parameters()):
            parameter.copy_(random(*parameter.shape, seed=number, grad=False))
    contents = len(tables.world.contents)
    generator = torch.Generator().manual_seed(1)
    batches = [torch.randint(contents, (5 - use, tables.slots), generator=generator) for use in range(uses)]
    gradients = []
    for stepwise in (False, True):
        encoder.zero_grad()
        prepared = encoder.prepare()
        encode = StepwiseEncoder(encoder, prepared) if stepwise else lambda states, prepared=prepared: encoder(prepared, states)
        total = sum((encode(states) * random(encoder.size, seed=9, grad=False)).sin().sum() for states in batches)
        total.backward()
        gradients.append({label: parameter.grad for label, parameter in encoder.named_parameters() if parameter.grad is not None})
    plain, found = gradients
    assert plain.keys() == found.keys()
    assert plain
    for label, gradient in plain.items():
        torch.testing.assert_close(found[label], gradient, msg=label)
