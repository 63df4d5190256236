"""Which device a policy computes on; everything else (the world's tables, rewards, objectives) stays on the CPU."""

from __future__ import annotations

import torch

from sestra.errors import InputError, shortened
from sestra.learning.policies.base import Policy


def on_device(policy: Policy, name: str) -> Policy:
    """The policy with its weights on the device, such as ``cpu``, ``cuda`` or ``cuda:1``; InputError where that cannot be."""
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError) as error:
        raise InputError(f"--device {shortened(repr(name))}: is not a device of torch; expected 'cpu' or 'cuda'") from error
    if device.type == "cpu":
        return policy
    if policy.cpu_only:
        raise InputError(
            f"--device {name}: {type(policy).__name__} runs on the CPU alone, which its code is written for; leave --device out, or train "
            "a policy in plain torch (docs/your-own-policy.md)"
        )
    if device.type != "cuda":
        raise InputError(f"--device {name}: expected 'cpu' or 'cuda'")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if (device.index or 0) >= count:
        raise InputError(f"--device {name}: torch finds {count} CUDA devices here; expected cpu, or another number")
    return policy.to(device)


def device_of(policy: Policy) -> torch.device:
    """Where the policy's weights are."""
    return next((parameter.device for parameter in policy.parameters()), torch.device("cpu"))
