"""A bidirectional LSTM over rows of symbols, and its gradient.

It does what ``torch.nn.LSTM`` does, in three quarters of its time for 64 rows and more. What a symbol adds to the gates is the same
wherever it stands, so it is computed once per symbol and looked up. Both directions take their steps together, rows that have ended take
none, and the gradient of a weight is one product over all steps.

All gates are sigmoids: tanh x = 2 sigmoid(2x) - 1, and torch takes five times as long for tanh. Between steps half of a candidate, of a
cell's tanh and of a hidden state is kept, and twice a cell:  k = sigmoid(2x) - 1/2,  c = f c + 4 i k,  s = sigmoid(c) - 1/2,  h = o s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional


class Packed(NamedTuple):
    """Rows of symbols in the order of computation: step by step, and in each step the rows that are left, the longest first."""

    counts: list[int]  # rows of each step
    places: Tensor  # [2, symbols]: where each direction finds them in the flattened rows
    earlier: Tensor  # [symbols - rows]: of all but the first step's, the place in this order of the same row's symbol before


def pack(lengths: Tensor, longest: int) -> Packed:
    """Rows of these lengths, ``[rows]``, at least 1 each, that are padded at the end to the longest."""
    lengths, order = lengths.sort(descending=True, stable=True)
    left = torch.arange(longest).unsqueeze(1) < lengths  # [longest, rows]
    counts = left.sum(1)  # [longest]
    step, row = left.nonzero(as_tuple=True)  # [symbols] each
    begin, first = order[row] * longest, len(lengths)
    return Packed(
        counts=counts[: int(lengths[0])].tolist(),
        places=torch.stack([begin + step, begin + lengths[row] - 1 - step]),
        earlier=(counts.cumsum(0) - counts)[step[first:] - 1] + row[first:],
    )


def encode_symbols(inputs: Tensor, recurrent: Tensor, rows: Tensor, lengths: Tensor) -> Tensor:
    """The hidden states of both directions at each place of the rows, ``[batch, places, 2 * hidden]``; after a row's end, anything.

    ``inputs``, ``[2, symbols, 4 * hidden]``, is what each symbol adds to the gates (in torch's order: input, forget, candidate, output);
    ``recurrent``, ``[2, hidden, 4 * hidden]``, is what the hidden state is multiplied by; ``rows``, ``[batch, places]``, are of symbols.
    """
    apply: Callable[..., Tensor] = _EncodeSymbols.apply  # torch does not annotate it
    return apply(inputs, recurrent, rows, pack(lengths, rows.shape[1]))


class _EncodeSymbols(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, recurrent: Tensor, rows: Tensor, packed: Packed) -> Tensor:
        size, twice = recurrent.shape[1], _twice_the_candidate(inputs)
        recurrent = recurrent * (2 * twice)  # [2, hidden, 4 * hidden]
        read = rows.flatten()[packed.places]  # [2, symbols]
        numbers = torch.cat([read[0], read[1] + inputs.shape[1]])  # [2 * symbols]
        gates = (inputs * twice).flatten(0, 1).index_select(0, numbers).view(2, -1, 4 * size)  # [2, symbols, 4 * hidden]
        cells, squashed_cells, hidden = gates.new_empty(3, 2, gates.shape[1], size)  # [2, symbols, hidden] each
        steps = (part.split(packed.counts, 1) for part in (gates, *gates.split(size, -1), cells, squashed_cells, hidden))
        before: tuple[Tensor, Tensor] | None = None
        for gate, input_gate, forget, candidate, output, cell, squashed, state in zip(*steps, strict=True):  # [2, rows, ...] each
            if before is None:
                gate.sigmoid_()
                torch.mul(input_gate, candidate.sub_(0.5), out=cell).mul_(4)
            else:
                old_cell, old_state = (part[:, : cell.shape[1]] for part in before)
                gate.baddbmm_(old_state, recurrent).sigmoid_()
                torch.mul(forget, old_cell, out=cell).addcmul_(input_gate, candidate.sub_(0.5), value=4)
            torch.sigmoid(cell, out=squashed).sub_(0.5)
            torch.mul(output, squashed, out=state)
            before = cell, state
        ctx.packed, ctx.symbols = packed, inputs.shape[1]
        ctx.save_for_backward(recurrent, read, gates, cells, squashed_cells, hidden)
        sides = _sides(packed.places)  # [2 * symbols]
        found = sides.new_zeros(2 * rows.numel()).index_copy_(0, sides, torch.arange(len(sides)))  # [batch * places * 2]
        together: Tensor = hidden.flatten(0, 1).index_select(0, found).mul_(2)  # rows are copied whole, faster than to where they belong
        return together.view(*rows.shape, 2 * size)  # [batch, places, 2 * hidden]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        recurrent, read, gates, cells, squashed, hidden = ctx.saved_tensors
        (counts, places, earlier), size = ctx.packed, hidden.shape[2]
        first = counts[0]
        d_states = gradient.reshape(-1, size).index_select(0, _sides(places)).mul_(2).view_as(hidden)  # [2, symbols, hidden]
        input_gate, forget, candidate, output = gates.split(size, -1)  # [2, symbols, hidden] each
        d_gates = torch.addcmul(gates, gates, gates, value=-1)  # [2, symbols, 4 * hidden]: first the sigmoids' slopes
        d_input_gate, d_forget, d_candidate, d_output = d_gates.split(size, -1)  # then how cells and states change with the gates
        d_input_gate.mul_(candidate).mul_(4)
        d_forget[:, :first] = 0
        d_forget[:, first:].mul_(cells.index_select(1, earlier))
        torch.addcmul(input_gate, input_gate, candidate * candidate, value=-4, out=d_candidate)
        d_output.mul_(squashed)
        slopes = torch.addcmul(output * 0.25, output, squashed * squashed, value=-1)  # [2, symbols, hidden]: of states by their cells
        by_cell = d_gates.view(2, -1, 4, size)[:, :, :3]
        steps = (part.split(counts, 1) for part in (d_gates, by_cell, d_output, forget, slopes, d_states))
        after: tuple[Tensor, Tensor] | None = None
        for d_gate, d_by_cell, d_by_state, forgotten, slope, d_state in reversed(list(zip(*steps, strict=True))):  # [2, rows, ...] each
            if after is None:
                d_cell = d_state * slope
            else:
                later_gate, d_cell = after
                left, more = d_cell.shape[1], d_state.shape[1] - d_cell.shape[1]
                d_state[:, :left].add_(torch.bmm(later_gate, recurrent.transpose(1, 2)))
                d_cell = (functional.pad(d_cell, (0, 0, 0, more)) if more else d_cell).addcmul_(d_state, slope)
            d_by_cell.mul_(d_cell.unsqueeze(2))
            d_by_state.mul_(d_state)
            after = d_gate, d_cell * forgotten
        twice = _twice_the_candidate(gates)
        d_recurrent = torch.bmm(hidden.index_select(1, earlier).transpose(1, 2), d_gates[:, first:]).mul_(2 * twice)
        d_inputs = [torch.ops.aten.embedding_dense_backward(d_gates[way], read[way], ctx.symbols, -1, False) for way in range(2)]
        return torch.stack(d_inputs).mul_(twice), d_recurrent, None, None


def _twice_the_candidate(gates: Tensor) -> Tensor:
    """What the gates are multiplied by for the candidate's tanh to be a sigmoid, ``[4 * hidden]``."""
    factors = gates.new_ones(4, gates.shape[-1] // 4)
    factors[2] = 2
    return factors.flatten()


def _sides(places: Tensor) -> Tensor:
    """Where both directions' hidden states stand when each place has first one, then the other, ``[2 * symbols]``."""
    return torch.cat([2 * places[0], 2 * places[1] + 1])
