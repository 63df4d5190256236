"""Tensors and what is known about them in one safetensors file: written atomically, with a checksum, without pickle."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from sestra.errors import InputError
from sestra.io import replacing

FORMAT = "sestra-1"
MAX_BYTES = 4 << 30
"""Of a file, where nothing is known about what it should hold."""


class CheckpointError(InputError):
    """The file is damaged or not one of ours."""


def save(path: Path, tensors: Mapping[str, Tensor], info: Mapping[str, Any]) -> None:
    """Write tensors and JSON-able information; the file appears whole or not at all."""
    contiguous = _stored(tensors)
    text = _text(info)
    with replacing(path) as temporary:
        try:
            save_file(contiguous, temporary, {"format": FORMAT, "info": text, "sha256": _checksum(contiguous, text)})
        except SafetensorError as error:
            raise InputError(f"{path}: cannot be written ({error}); choose a folder that exists, is writable and has space") from error
        temporary.chmod(0o644)  # safetensors writes for the owner alone


def load(path: Path, limit: int = MAX_BYTES) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the information; raises CheckpointError unless the file is just as it was saved and has at most so many bytes."""
    if not os.path.exists(path):
        raise CheckpointError(f"{path}: no such file")
    if not os.path.isfile(path):  # a pipe would never end
        raise CheckpointError(f"{path}: is not an ordinary file; use another one")
    if os.path.getsize(path) > limit:
        raise CheckpointError(f"{path}: has {os.path.getsize(path):,} bytes; expected at most {limit:,}; use another one")
    try:
        with safe_open(path, framework="pt") as file:
            metadata, names = file.metadata() or {}, file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: is not a readable safetensors file ({error}); it is damaged, use another one") from error
    if metadata.get("format") != FORMAT:
        raise CheckpointError(f"{path}: its format is {metadata.get('format')!r}, not {FORMAT!r}; another program or version wrote it")
    if _checksum(tensors, metadata.get("info", "")) != metadata.get("sha256"):
        raise CheckpointError(f"{path}: its checksum is wrong; it is damaged, use another one")
    try:
        return tensors, dict(json.loads(metadata["info"]))
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: says nothing of itself ({shorten(repr(error), 100)}); use another one") from error


def restore(module: torch.nn.Module, tensors: Mapping[str, Tensor], place: Path, expected: str) -> None:
    """Give a module its tensors; CheckpointError unless they have its names, shapes and types, and its weights are finite numbers."""
    weights = dict(module.named_parameters())
    for name, own in module.state_dict().items():
        given = tensors.get(name, own)
        if given.dtype != own.dtype:
            raise CheckpointError(f"{place}: {name} is of type {given.dtype}; expected {own.dtype}; use another one")
        if name in weights and not bool(given.isfinite().all()):
            raise CheckpointError(f"{place}: {name} has weights that are not finite numbers; use another one")
    try:
        module.load_state_dict(dict(tensors))
    except RuntimeError as error:
        raise CheckpointError(f"{place}: does not fit {expected} ({shorten(str(error), 200)}); use another one") from error


def size(module: torch.nn.Module) -> int:
    """Bytes of a module's tensors."""
    return sum(tensor.nbytes for tensor in module.state_dict().values())


def checksum(path: Path) -> str:
    """Of a file's tensors and information, verified: the same for the same contents, which the bytes of the file need not be."""
    load(path)
    with safe_open(path, framework="pt") as file:
        return str(file.metadata()["sha256"])


def checksum_of(tensors: Mapping[str, Tensor], info: Mapping[str, Any]) -> str:
    """What ``checksum`` gives for a file in which these are saved."""
    return _checksum(_stored(tensors), _text(info))


def _stored(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Contiguous copies on the CPU: tied weights are stored once for each of their names."""
    return {name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()}


def _text(info: Mapping[str, Any]) -> str:
    return json.dumps(info)


def _checksum(tensors: Mapping[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\0{name}\0{tensor.dtype}\0{tuple(tensor.shape)}\0".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
