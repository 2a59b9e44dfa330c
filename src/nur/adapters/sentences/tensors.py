"""Tensors by name, from a safetensors file: the size of its header, the header as JSON, then the numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nur.ports.embedder import Floats

_TYPES = {"F16": np.float16, "F32": np.float32}


def read_tensors(file: bytes) -> dict[str, Floats]:
    """Every tensor of real numbers."""
    start = 8 + int.from_bytes(file[:8], "little")
    found: dict[str, Floats] = {}
    for name, tensor in json.loads(file[8:start]).items():
        kind = _TYPES.get(tensor.get("dtype"))
        if kind is not None:
            first, end = tensor["data_offsets"]
            numbers = np.frombuffer(file[start + first : start + end], kind)
            found[name] = numbers.reshape(tensor["shape"]).astype(np.float32)
    return found
