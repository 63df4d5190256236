"""The decoder's steps, and their gradient for a whole execution at once.

Left to autograd, every step of an execution would be dozens of small recorded operations, and each weight's gradient a sum of one product
per step. Here the steps are computed without recording, as in inference. What they computed is kept, and one function goes back through
it: only what a step must hand to the one before it is computed step by step. The gradients of weights and keys are one product each, over
all steps together. Executions that have ended may leave the batch, so a step has the rows that were left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from sestra.learning.policies.base import scatter_rows


class Keys(NamedTuple):
    """A set of vectors to attend to, and what to add to their scores: 0, or minus infinity where there is none."""

    vectors: Tensor  # [batch, keys, size]
    mask: Tensor | None  # [batch, 1, keys]


class Weights(NamedTuple):
    """The decoder's matrices, as ``torch.nn.Linear`` has them."""

    query: Tensor  # W_c
    queries: Tensor  # W_p, both W_sb, both W_sc
    joined: Tensor  # W_d but for the columns of the previous action
    gates: Tensor
    gates_bias: Tensor


class Attention(NamedTuple):
    query: Tensor  # [batch, heads, size]
    weights: Tensor  # [batch, heads, keys]
    context: Tensor  # [batch, heads, size]


class Update(NamedTuple):
    """An LSTM's gates, its cell, the cell's tanh and its hidden state after a step, ``[batch, hidden]`` each."""

    input_gate: Tensor
    forget: Tensor
    output: Tensor
    candidate: Tensor
    cell: Tensor
    cell_tanh: Tensor
    hidden: Tensor


class StepTrace(NamedTuple):
    """What a step computed; masks are what dropout multiplied by, or None."""

    keys: tuple[Tensor, ...]  # [batch, keys, size] each: what was attended to
    before: Tensor  # [batch, hidden]: the hidden state
    cell_before: Tensor  # [batch, hidden]
    current: Attention
    others: list[Attention]
    contexts: Tensor  # [batch, contexts]: of all that was attended to
    squashed: Tensor  # [batch, joined]: the decoder's input
    update: Update
    masks: tuple[Tensor | None, Tensor | None, Tensor | None]  # of the first query, of the others, of the decoder's input


Dropout = Callable[[Tensor], tuple[Tensor, Tensor | None]]
"""Gives the values with some of them dropped, and what they were multiplied by."""


def attend(keys: Keys, query: Tensor) -> Attention:
    """alpha_i ~ exp(h_i W q), z = sum_i alpha_i h_i, for one or more heads; the query is already multiplied by W."""
    vectors = keys.vectors.transpose(1, 2)  # [batch, size, keys]
    scores = torch.bmm(query, vectors) if keys.mask is None else torch.baddbmm(keys.mask, query, vectors)  # [batch, heads, keys]
    weights = scores.softmax(-1)  # [batch, heads, keys]
    return Attention(query, weights, torch.bmm(weights, keys.vectors))  # [batch, heads, size]


def step(
    weights: Weights, current: Keys, others: Sequence[tuple[Keys, int]], action: Tensor, hidden: Tensor, cell: Tensor, dropout: Dropout
) -> StepTrace:
    """One update of the decoder; ``others`` are the keys after the current instruction's, each with its number of heads.

    ``action``, ``[batch, joined]``, is what the previous actions add to the decoder's input before its tanh, and what is always added.
    """
    query, query_mask = dropout(functional.linear(hidden, weights.query))  # [batch, word]
    now = attend(current, query.unsqueeze(1))
    context = now.context.flatten(1)  # [batch, word]
    queries, queries_mask = dropout(functional.linear(torch.cat([hidden, context], 1), weights.queries))  # [batch, sizes]
    sizes = [(heads, keys.vectors.shape[2]) for keys, heads in others]
    parts = queries.split([heads * size for heads, size in sizes], 1)
    found = [attend(keys, part.unflatten(1, shape)) for (keys, _), part, shape in zip(others, parts, sizes, strict=True)]
    contexts = torch.cat([context, *(each.context.flatten(1) for each in found)], 1)  # [batch, contexts]
    twice = torch.addmm(action, contexts, weights.joined.T, beta=2, alpha=2)  # [batch, joined]
    squashed = 2 * twice.sigmoid() - 1  # tanh, in a third of torch's time for so many
    kept, squashed_mask = dropout(squashed)
    gates = functional.linear(torch.cat([kept, hidden], 1), weights.gates, weights.gates_bias)  # [batch, 4 * hidden]
    update = lstm(gates, cell)
    attended = (current.vectors, *(keys.vectors for keys, _ in others))
    return StepTrace(attended, hidden, cell, now, found, contexts, squashed, update, (query_mask, queries_mask, squashed_mask))


def lstm(gates: Tensor, cell: Tensor) -> Update:
    """The pointwise part of an LSTM step; gates are ``[..., 4 * hidden]``: input, forget, output, candidate."""
    size = cell.shape[-1]
    input_gate, forget, output = gates[..., : 3 * size].sigmoid().split(size, -1)
    candidate = gates[..., 3 * size :].tanh()
    after = torch.addcmul(forget * cell, input_gate, candidate)  # [..., hidden]
    cell_tanh = after.tanh()
    return Update(input_gate, forget, output, candidate, after, cell_tanh, output * cell_tanh)


def decoder_hidden_states(
    traces: list[StepTrace],
    rows: list[Tensor],
    weights: Weights,
    current: Tensor,
    shared: Sequence[Tensor],
    own: Sequence[Tensor],
    actions: Tensor,
    begin: Update,
) -> Tensor:
    """The hidden states after all steps one after the other, ``[all steps' rows, hidden]``, with their gradient.

    ``rows`` says of each step which executions it has: first all, then, in the same order, those that were left. The keys are those of the
    current instruction, then, in the order in which the steps were given them, others that all steps ``shared``, ``[batch, keys, size]``,
    and others of which each step had its ``own``, ``[all steps' rows, keys, size]``.
    """
    inputs = (begin.hidden, begin.cell, *weights, actions, current, *shared, *own)
    apply: Callable[..., Tensor] = _DecoderFunction.apply  # torch does not annotate it
    return apply(traces, rows, len(shared), *inputs)


class _DecoderFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, traces: list[StepTrace], rows: list[Tensor], shared: int, *inputs: Tensor) -> Tensor:
        ctx.traces, ctx.rows, ctx.shared = traces, rows, shared
        ctx.save_for_backward(*inputs[2 : 2 + len(Weights._fields)])
        return torch.cat([trace.update.hidden for trace in traces])  # [all steps' rows, hidden]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        traces: list[StepTrace] = ctx.traces
        rows: list[Tensor] = ctx.rows
        hidden_size, word = traces[0].before.shape[1], traces[0].current.context.shape[2]
        weights = Weights(*ctx.saved_tensors)
        sizes = [each.query.shape[1] * each.query.shape[2] for each in traces[0].others]
        joined_size = traces[0].squashed.shape[1]

        gradients = gradient.split([len(each) for each in rows])
        d_hidden = d_cell = torch.zeros_like(traces[-1].before)  # [rows, hidden]
        steps = []
        for number in range(len(traces) - 1, -1, -1):
            trace, (query_mask, queries_mask, squashed_mask) = traces[number], traces[number].masks
            if len(d_hidden) < len(rows[number]):  # some left after this step
                places = torch.searchsorted(rows[number], rows[number + 1])
                d_hidden, d_cell = scatter_rows(d_hidden, places, len(rows[number])), scatter_rows(d_cell, places, len(rows[number]))
            d_gates, d_cell = _lstm_backward(trace.update, trace.cell_before, gradients[number] + d_hidden, d_cell)
            d_squashed, d_hidden = (d_gates @ weights.gates).split([joined_size, hidden_size], 1)
            d_tanh = _masked(d_squashed, squashed_mask) * (1 - trace.squashed * trace.squashed)  # [rows, joined]
            d_now, *d_contexts = (d_tanh @ weights.joined).split([word, *sizes], 1)  # [rows, word], then [rows, size] each
            backs = [
                _attend_backward(each, keys, d_context.unflatten(1, each.query.shape[1:]))
                for each, keys, d_context in zip(trace.others, trace.keys[1:], d_contexts, strict=True)
            ]
            d_queries = _masked(torch.cat([back.query.flatten(1) for back in backs], 1), queries_mask)  # [rows, sizes]
            d_before, d_context_query = (d_queries @ weights.queries).split([hidden_size, word], 1)
            now = _attend_backward(trace.current, trace.keys[0], (d_now + d_context_query).unsqueeze(1))
            d_query = _masked(now.query.squeeze(1), query_mask)  # [rows, word]
            d_hidden = d_hidden + d_before + d_query @ weights.query  # [rows, hidden]
            steps.append((d_gates, d_tanh, d_queries, d_query, now, backs))
        steps.reverse()

        d_gates, d_tanh, d_queries, d_query = (torch.cat(column) for column in list(zip(*steps, strict=True))[:4])
        before = torch.cat([trace.before for trace in traces])  # [all steps' rows, hidden]
        kept = torch.cat([_masked(trace.squashed, trace.masks[2]) for trace in traces])  # [all steps' rows, joined]
        current_context = torch.cat([trace.current.context.squeeze(1) for trace in traces])  # [all steps' rows, word]
        d_weights = Weights(
            query=d_query.T @ before,
            queries=d_queries.T @ torch.cat([before, current_context], 1),
            joined=d_tanh.T @ torch.cat([trace.contexts for trace in traces]),
            gates=d_gates.T @ torch.cat([kept, before], 1),
            gates_bias=d_gates.sum(0),
        )
        d_current = _shared_keys_backward([trace.current for trace in traces], [step[4] for step in steps], rows)
        d_others = []
        for place in range(len(sizes)):
            back_to = _shared_keys_backward if place < ctx.shared else _own_keys_backward
            d_others.append(back_to([trace.others[place] for trace in traces], [step[5][place] for step in steps], rows))
        return None, None, None, d_hidden, d_cell, *d_weights, d_tanh, d_current, *d_others


def _masked(values: Tensor, mask: Tensor | None) -> Tensor:
    return values if mask is None else values * mask


def _lstm_backward(update: Update, before: Tensor, d_hidden: Tensor, d_cell: Tensor) -> tuple[Tensor, Tensor]:
    input_gate, forget, output, candidate, _, cell_tanh, _ = update
    d_cell = torch.addcmul(d_cell, d_hidden * output, 1 - cell_tanh * cell_tanh)  # [batch, hidden]
    gates = torch.cat([d_cell * candidate, d_cell * before, d_hidden * cell_tanh, d_cell * input_gate], 1)  # [batch, 4 * hidden]
    slopes = torch.cat([input_gate, forget, output], 1)
    slopes = torch.cat([slopes * (1 - slopes), 1 - candidate * candidate], 1)
    return gates.mul_(slopes), d_cell * forget


def _attend_backward(attention: Attention, keys: Tensor, d_context: Tensor) -> Attention:
    """The gradients of the query and of the scores, and the context's, which was given."""
    d_weights = torch.bmm(d_context, keys.transpose(1, 2))  # [batch, heads, keys]
    d_scores = torch._softmax_backward_data(d_weights, attention.weights, -1, keys.dtype)  # [batch, heads, keys]
    return Attention(torch.bmm(d_scores, keys), d_scores, d_context)


def _shared_keys_backward(attentions: list[Attention], backs: list[Attention], rows: list[Tensor]) -> Tensor:
    """The gradient of keys that all steps attended to."""
    batch, steps = len(rows[0]), len(rows)
    places = torch.cat([each * steps + number for number, each in enumerate(rows)])  # [all steps' rows]

    def side_by_side(parts: Iterable[Tensor]) -> Tensor:
        together = torch.cat(list(parts))  # [all steps' rows, heads, ...]
        apart = together.new_zeros(batch * steps, *together.shape[1:]).index_copy_(0, places, together)
        return apart.view(batch, -1, together.shape[2])  # [batch, steps * heads, ...]

    return _keys_backward(attentions, backs, side_by_side)  # [batch, keys, size]


def _own_keys_backward(attentions: list[Attention], backs: list[Attention], rows: list[Tensor]) -> Tensor:
    """The gradient of each step's own keys."""
    del rows
    return _keys_backward(attentions, backs, lambda parts: torch.cat(list(parts)))  # [all steps' rows, keys, size]


def _keys_backward(attentions: list[Attention], backs: list[Attention], join: Callable[[Iterable[Tensor]], Tensor]) -> Tensor:
    query, weights = join(each.query for each in attentions), join(each.weights for each in attentions)
    d_scores, d_context = join(back.weights for back in backs), join(back.context for back in backs)
    return torch.baddbmm(torch.bmm(d_scores.transpose(1, 2), query), weights.transpose(1, 2), d_context)  # [..., keys, size]
