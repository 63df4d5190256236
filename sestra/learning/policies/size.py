"""How many weights a policy would have, counted without the memory that they take."""

from __future__ import annotations

from collections.abc import Callable

import torch

from sestra.errors import InputError
from sestra.learning.settings import flag

MAX_WEIGHTS = 100_000_000
"""Of a policy; an agent's graphs could hold a few more."""
UNSUSPICIOUS = 4
"""Up to how many times their defaults sizes are not counted: the first count loads much of torch."""


def check_size(config: object, build: Callable[[], object]) -> None:
    """Raise InputError if ``build``, with these settings of a policy, would make one of too many weights."""
    sizes, usual = {name: value for name, value in vars(config).items() if type(value) is int}, vars(type(config)())
    if all(value <= UNSUSPICIOUS * usual[name] for name, value in sizes.items()):
        return
    count = count_weights(build)
    if count > MAX_WEIGHTS:
        given = ", ".join(f"{flag(name)} {value}" for name, value in sizes.items())
        raise InputError(f"{given}: the policy would have {count:,} weights; at most {MAX_WEIGHTS:,} are allowed; choose smaller sizes")


def count_weights(build: Callable[[], object]) -> int:
    """The weights of the module that ``build`` makes, which draws no random numbers here; 0 if it can only be built with memory."""
    try:
        with torch.random.fork_rng(devices=()), torch.device("meta"):
            made = build()
    except (NotImplementedError, RuntimeError, TypeError, ValueError):  # values are looked at, which are not there
        return 0
    return sum(weight.numel() for weight in made.parameters()) if isinstance(made, torch.nn.Module) else 0
