"""Tensors and what is known about them in one safetensors file: written atomically, with a checksum, without pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from sestra.errors import InputError
from sestra.io import replacing

FORMAT = "sestra-1"


class CheckpointError(InputError):
    """The file is damaged or not one of ours."""


def save(path: Path, tensors: Mapping[str, Tensor], info: Mapping[str, Any]) -> None:
    """Write tensors and JSON-able information; the file appears whole or not at all."""
    # Tied weights are stored once for each of their names.
    contiguous = {name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()}
    text = json.dumps(info, sort_keys=True)
    with replacing(path) as temporary:
        try:
            save_file(contiguous, temporary, {"format": FORMAT, "info": text, "sha256": _checksum(contiguous, text)})
        except SafetensorError as error:
            raise InputError(f"{path}: cannot be written ({error}); choose a folder that exists, is writable and has space") from error
        temporary.chmod(0o644)  # safetensors writes for the owner alone


def load(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the information; raises CheckpointError unless the file is just as it was saved."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata, names = file.metadata() or {}, file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
    except FileNotFoundError as error:
        raise CheckpointError(f"{path}: no such file") from error
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: is not a readable safetensors file ({error}); it is damaged, use another one") from error
    if metadata.get("format") != FORMAT:
        raise CheckpointError(f"{path}: its format is {metadata.get('format')!r}, not {FORMAT!r}; another program or version wrote it")
    if _checksum(tensors, metadata.get("info", "")) != metadata.get("sha256"):
        raise CheckpointError(f"{path}: its checksum is wrong; it is damaged, use another one")
    try:
        return tensors, dict(json.loads(metadata["info"]))
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: says nothing of itself ({error!r}); use another one") from error


def checksum(path: Path) -> str:
    """Of a file's tensors and information, verified: the same for the same contents, which the bytes of the file need not be."""
    load(path)
    with safe_open(path, framework="pt") as file:
        return str(file.metadata()["sha256"])


def _checksum(tensors: Mapping[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\0{name}\0{tensor.dtype}\0{tuple(tensor.shape)}\0".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
