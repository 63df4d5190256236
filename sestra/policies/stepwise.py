"""Parts that are used at every step of an execution, but pay for their parameters' gradients only once.

Autograd computes a weight's gradient at each use and adds the results up: in an execution of ten steps, ten small products and ten
additions of whole matrices. Here each step only notes its input and its output's gradient; the weight's gradient is one product over
all steps together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional


def _apply(function: type[torch.autograd.Function], *inputs: Any) -> Any:
    apply: Callable[..., Any] = function.apply  # torch does not annotate it
    return apply(*inputs)


class Stepwise(ABC):
    """A function of one batch's execution, called at each of its steps; make one anew for each batch.

    The ticket is an empty tensor that ties the uses to the parameters: autograd calls ``_Collect.backward`` after the backward passes of
    all uses, when the notes are complete.
    """

    def __init__(self, *parameters: Tensor) -> None:
        self.notes: list[tuple[Tensor, Tensor]] = []
        self._ticket: Tensor | None = _apply(_Collect, self, *parameters) if torch.is_grad_enabled() else None

    def __call__(self, x: Tensor) -> Tensor:
        result: Tensor = self.compute(x) if self._ticket is None else _apply(_Use, self, x, self._ticket)
        return result

    @abstractmethod
    def compute(self, x: Tensor) -> Tensor:
        """The result; rows of x do not influence one another."""

    @abstractmethod
    def input_gradient(self, gradient: Tensor) -> Tensor | None: ...

    @abstractmethod
    def parameter_gradients(self, inputs: Tensor, gradients: Tensor) -> tuple[Tensor | None, ...]:
        """The gradient of each parameter, from the inputs and the results' gradients of all steps, one after the other."""


class StepwiseLinear(Stepwise):
    """``x @ weight.T + bias``."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight, self.bias = weight.detach(), None if bias is None else bias.detach()
        super().__init__(weight, *([] if bias is None else [bias]))

    def compute(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight, self.bias)  # [batch, out]

    def input_gradient(self, gradient: Tensor) -> Tensor:
        return gradient @ self.weight  # [batch, in]

    def parameter_gradients(self, inputs: Tensor, gradients: Tensor) -> tuple[Tensor, ...]:
        weight = gradients.T @ inputs  # [out, in]
        return (weight,) if self.bias is None else (weight, gradients.sum(0))


class StepwiseEncoder(Stepwise):
    """``encoder(prepared, states)``; for the gradients, all states of the execution are encoded once more, together."""

    def __init__(self, encoder: Any, prepared: Tensor) -> None:
        self.encoder, self.prepared, self.parameters = encoder, prepared.detach(), list(encoder.parameters())
        super().__init__(prepared, *self.parameters)

    def compute(self, x: Tensor) -> Tensor:
        result: Tensor = self.encoder(self.prepared, x)  # [batch, objects, size]
        return result

    def input_gradient(self, gradient: Tensor) -> None:
        """States have none."""

    def parameter_gradients(self, inputs: Tensor, gradients: Tensor) -> tuple[Tensor | None, ...]:
        with torch.enable_grad():
            prepared = self.prepared.detach().requires_grad_()
            encoded = self.encoder(prepared, inputs)  # [steps * batch, objects, size]
        return torch.autograd.grad(encoded, [prepared, *self.parameters], gradients, allow_unused=True)


class _Collect(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, stepwise: Stepwise, *parameters: Tensor) -> Tensor:
        ctx.stepwise = stepwise
        return parameters[0].new_empty(0)

    @staticmethod
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor | None, ...]:
        inputs, gradients = (torch.cat(notes) for notes in zip(*ctx.stepwise.notes, strict=True))  # [steps * batch, ...]
        ctx.stepwise.notes.clear()
        return None, *ctx.stepwise.parameter_gradients(inputs, gradients)


class _Use(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, stepwise: Stepwise, x: Tensor, _ticket: Tensor) -> Tensor:
        ctx.stepwise = stepwise
        ctx.save_for_backward(x)
        return stepwise.compute(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor | None, Tensor]:
        ctx.stepwise.notes.append((ctx.saved_tensors[0], gradient))
        return None, ctx.stepwise.input_gradient(gradient) if ctx.needs_input_grad[1] else None, gradient.new_empty(0)


def lstm_cell(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """The pointwise part of an LSTM step; gates are ``[..., 4 * size]``: input, forget, output, candidate."""
    hidden, cell = _apply(_LSTMCell, gates, cell)
    return hidden, cell


class _LSTMCell(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, gates: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        size = before.shape[-1]
        admit, forget, output = gates[..., : 3 * size].sigmoid().chunk(3, -1)
        candidate = gates[..., 3 * size :].tanh()
        cell = torch.addcmul(forget * before, admit, candidate)
        squashed = cell.tanh()
        ctx.save_for_backward(admit, forget, output, candidate, before, squashed)
        return output * squashed, cell

    @staticmethod
    def backward(ctx: Any, d_hidden: Tensor, d_cell: Tensor) -> tuple[Tensor, Tensor]:
        admit, forget, output, candidate, before, squashed = ctx.saved_tensors
        d_cell = torch.addcmul(d_cell, d_hidden * output, 1 - squashed * squashed)
        gates = torch.cat(
            [
                d_cell * candidate * admit * (1 - admit),
                d_cell * before * forget * (1 - forget),
                d_hidden * squashed * output * (1 - output),
                d_cell * admit * (1 - candidate * candidate),
            ],
            -1,
        )
        return gates, d_cell * forget
