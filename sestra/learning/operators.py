"""Operators that stay whole in exported graphs, where torch.export would take them apart or unroll them.

Here is what they compute in torch, and their shapes; ``sestra.learning.graphs`` says what each is in ONNX.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor


@torch.library.custom_op("sestra::attend", mutates_args=())
def attend(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None, heads: int) -> tuple[Tensor, Tensor]:
    """Contexts ``[batch, tokens, size]`` and weights ``[batch, heads, tokens, memory]`` of queries ``[batch, tokens, size]`` that attend to
    keys and values ``[batch, memory, size]``; the bias has ``[batch or 1, heads or 1, tokens, memory]``."""
    query, keys, values = (each.unflatten(2, (heads, -1)).transpose(1, 2) for each in (query, keys, values))
    scores = query * query.shape[-1] ** -0.5 @ keys.transpose(-1, -2)  # [batch, heads, tokens, memory]
    weights = (scores if bias is None else scores + bias).softmax(-1)
    return (weights @ values).transpose(1, 2).flatten(2), weights


@attend.register_fake
def _(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None, heads: int) -> tuple[Tensor, Tensor]:
    del values, bias
    return torch.empty_like(query), query.new_empty(query.shape[0], heads, query.shape[1], keys.shape[1])


@torch.library.custom_op("sestra::gather_rows", mutates_args=())
def gather_rows(values: Tensor, places: Tensor) -> Tensor:
    """Of values ``[batch, rows, ...]``, those at the places ``[batch, chosen]``."""
    return values[torch.arange(values.shape[0]).unsqueeze(1), places]  # [batch, chosen, ...]


@gather_rows.register_fake
def _(values: Tensor, places: Tensor) -> Tensor:
    return values.new_empty(*places.shape, *values.shape[2:])


@torch.library.custom_op("sestra::encode_both_ways", mutates_args=())
def encode_both_ways(inputs: Tensor, lengths: Tensor, forward: list[Tensor], backward: list[Tensor]) -> Tensor:
    """A bidirectional LSTM, ``[batch, words, 2 * hidden]``, over inputs ``[batch, words, size]`` that are padded at the end; zeros there.

    The weights of each direction are as those of torch.nn.LSTM: of the inputs, of the hidden state, and two biases.
    """
    batch, words, hidden = *inputs.shape[:2], forward[1].shape[1]
    places = torch.arange(words)  # [words]
    reverse = (lengths.unsqueeze(1) - 1 - places).clamp(min=0)  # [batch, words]
    rows, zeros = torch.arange(batch).unsqueeze(1), inputs.new_zeros(1, batch, hidden)
    onward = torch.lstm(inputs, [zeros, zeros], forward, True, 1, 0.0, False, False, True)[0]
    back = torch.lstm(inputs[rows, reverse], [zeros, zeros], backward, True, 1, 0.0, False, False, True)[0]
    present = (places < lengths.unsqueeze(1)).unsqueeze(2)  # [batch, words, 1]
    return torch.cat([onward, back[rows, reverse]], 2) * present


@encode_both_ways.register_fake
def _(inputs: Tensor, lengths: Tensor, forward: Sequence[Tensor], backward: Sequence[Tensor]) -> Tensor:
    del lengths, backward
    return inputs.new_empty(*inputs.shape[:2], 2 * forward[1].shape[1])


@torch.library.custom_op("sestra::lstm", mutates_args=())
def lstm(
    inputs: Tensor, hx: list[Tensor], params: list[Tensor], has_biases: bool, num_layers: int, dropout: float, train: bool,
    bidirectional: bool, batch_first: bool,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """torch.nn.LSTM."""
    return torch.lstm(inputs, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


@torch.library.custom_op("sestra::gru", mutates_args=())
def gru(
    inputs: Tensor, hx: Tensor, params: list[Tensor], has_biases: bool, num_layers: int, dropout: float, train: bool,
    bidirectional: bool, batch_first: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """torch.nn.GRU."""
    return torch.gru(inputs, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


@lstm.register_fake
def _lstm_shapes(inputs: Tensor, hx: Sequence[Tensor], *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    return _rnn_output(inputs, hx[0], rest[-2]), torch.empty_like(hx[0]), torch.empty_like(hx[1])


@gru.register_fake
def _gru_shapes(inputs: Tensor, hx: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    return _rnn_output(inputs, hx, rest[-2]), torch.empty_like(hx)


def _rnn_output(inputs: Tensor, hidden: Tensor, bidirectional: bool) -> Tensor:
    return inputs.new_empty(*inputs.shape[:2], hidden.shape[2] * (1 + bidirectional))


RECURRENT: dict[Any, Any] = {
    torch.ops.aten.lstm.input: torch.ops.sestra.lstm.default,
    torch.ops.aten.gru.input: torch.ops.sestra.gru.default,
}
"""Ours for torch's."""


@contextmanager
def whole_recurrent_layers() -> Iterator[None]:
    """In which torch.export computes the shapes of recurrent layers as those of our operators."""
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    try:
        for operator, ours in RECURRENT.items():
            operator.py_kernels[key] = ours
            operator._dispatch_cache.clear()
        yield
    finally:
        for operator in RECURRENT:
            operator.py_kernels.pop(key, None)
            operator._dispatch_cache.clear()
