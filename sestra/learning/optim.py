"""The optimiser, the learning rate schedule and the moving average of the weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from sestra.learning.config import OptimisationConfig

RMSPROP_DECAY = 0.9
"""How much of its running mean of squared gradients RMSProp keeps in each update."""
LATE_STEP = 1e7
"""At this step Adam no longer corrects the bias of its means."""


def make_optimiser(config: OptimisationConfig, parameters: Iterable[torch.nn.Parameter]) -> torch.optim.Optimizer:
    if config.optimiser == "adam":
        return torch.optim.Adam(parameters, config.learning_rate, fused=True)
    return rmsprop(list(parameters), config.learning_rate)


def rmsprop(parameters: list[torch.nn.Parameter], learning_rate: float) -> torch.optim.Optimizer:
    """RMSProp in a third of torch's own time: Adam's fused kernel without momentum, its step counter
    set so high that bias correction does nothing."""
    optimiser = torch.optim.Adam(parameters, learning_rate, betas=(0.0, RMSPROP_DECAY), fused=True)
    for parameter in parameters:
        means = {name: torch.zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}
        optimiser.state[parameter] = {"step": torch.tensor(LATE_STEP, device=parameter.device), **means}
    return optimiser


def state_tensors(optimiser: torch.optim.Optimizer, network: torch.nn.Module) -> dict[str, Tensor]:
    """What the optimiser remembers of each weight, as ``restore_state`` takes it: by what it is and the weight's name."""
    return {f"{key}.{name}": value for name, weight in network.named_parameters() for key, value in optimiser.state[weight].items()}


def restore_state(optimiser: torch.optim.Optimizer, network: torch.nn.Module, tensors: Mapping[str, Tensor]) -> None:
    numbers = {name: number for number, (name, _) in enumerate(network.named_parameters())}
    state: dict[int, dict[str, Tensor]] = {}
    for place, tensor in tensors.items():
        key, _, name = place.partition(".")
        state.setdefault(numbers[name], {})[key] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})


def scheduled_learning_rate(config: OptimisationConfig, epoch: float, epochs: int) -> float:
    """Along a half cosine from the initial learning rate to the final one."""
    remaining = (1 + math.cos(math.pi * epoch / epochs)) / 2
    return config.learning_rate * (config.final_lr_fraction + (1 - config.final_lr_fraction) * remaining)


@torch.no_grad()
def update_average(average: Iterable[Tensor], current: Iterable[Tensor], decay: float, updates: int) -> None:
    """One step of the exponential moving average; the decay is lower at first, so that the initial weights are soon forgotten."""
    keep = min(decay, updates / (updates + 10))
    torch._foreach_lerp_(list(average), list(current), 1 - keep)
