"""A `nur_models` package with small vocabularies and random weights in the published shapes."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nur.ports.embedder import Floats

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tea", "in", "the", "morning", "even", "##ing", "cat", "s", "!", "茶"]
UNIGRAMS = ["<unk>", "<s>", "</s>", "▁", "▁tea", "▁te", "a", "▁the", "▁cat", "e", "t", "▁t", "s", "▁morning"]
_BLOCKS, _ROWS = 17, 2


@contextmanager
def installed(folder: Path) -> Iterator[Path]:
    """Context manager: write the package into a folder and make it importable."""
    package = write_package(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        try:
            yield package
        finally:
            sys.modules.pop(package.name, None)


def write_package(folder: Path) -> Path:
    """Write the package `nur_models` into a folder and return its path."""
    package = folder / "nur_models"
    files = {
        "use": {"weights.npz": universal_weights(), "sp.model": unigram_model(UNIGRAMS)},
        "minilm": {"model.safetensors": minilm_weights(), "vocab.txt": "\n".join(VOCABULARY).encode()},
    }
    for model, contents in files.items():
        (package / model).mkdir(parents=True)
        for name, content in contents.items():
            (package / model / name).write_bytes(content)
    hashes = {
        model: {"files": {name: {"sha256": hashlib.sha256(content).hexdigest()} for name, content in contents.items()}}
        for model, contents in files.items()
    }
    (package / "models.json").write_text(json.dumps(hashes), encoding="utf-8")
    (package / "__init__.py").touch()
    return package


def safetensors(tensors: Mapping[str, Floats]) -> bytes:
    """A safetensors file of 16-bit numbers."""
    header, parts, size = {}, [], 0
    for name, tensor in tensors.items():
        parts.append(tensor.astype("<f2").tobytes())
        header[name] = {"dtype": "F16", "shape": tensor.shape, "data_offsets": [size, size + len(parts[-1])]}
        size += len(parts[-1])
    encoded = json.dumps(header).encode()
    return len(encoded).to_bytes(8, "little") + encoded + b"".join(parts)


def minilm_weights() -> bytes:
    """Weights of the shape of all-MiniLM-L6-v2, for the small vocabulary."""
    dimensions, wide = 384, 1536
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), dimensions),
        "embeddings.token_type_embeddings.weight": (2, dimensions),
        "embeddings.position_embeddings.weight": (512, dimensions),
        "embeddings.LayerNorm.weight": (dimensions,),
        "embeddings.LayerNorm.bias": (dimensions,),
    }
    for number in range(6):
        layer = f"encoder.layer.{number}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes |= {f"{layer}{name}.weight": (dimensions, dimensions), f"{layer}{name}.bias": (dimensions,)}
        shapes |= {f"{layer}intermediate.dense.weight": (wide, dimensions), f"{layer}intermediate.dense.bias": (wide,)}
        shapes |= {f"{layer}output.dense.weight": (dimensions, wide), f"{layer}output.dense.bias": (dimensions,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{layer}{name}.weight": (dimensions,), f"{layer}{name}.bias": (dimensions,)}
    return safetensors(_random(shapes))


def universal_weights() -> bytes:
    """Weights of the shape of the Universal Sentence Encoder, for a small vocabulary."""
    shapes: dict[str, tuple[int, ...]] = {"ln_g": (1280,), "ln_b": (1280,), "cnn_W": (1280, 512), "cnn_b": (512,)}
    shapes |= {"d0": (512, 320), "d1": (320, 320), "p1": (512, 320), "d2": (320, 512), "p3": (320, 512)}
    shapes |= {"d3": (512, 512), "lo": (_BLOCKS,), "scale": (_BLOCKS,)}
    for window in (2, 3, 5):
        shapes |= {f"proj{window}": (512, 256)} | {f"{name}{window}": (256,) for name in ("proj_b", "ln_g", "ln_b")}
        for number in (1, 2):
            shapes |= {f"w{number}_{window}": (window * 256, 256), f"b{number}_{window}": (256,)}
    generator = np.random.default_rng(7)
    table = {f"q{block + 1}": generator.integers(0, 256, (_ROWS, 512)).astype(np.uint8) for block in range(_BLOCKS)}
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, eps=np.array(1e-6), **table, **_random(shapes))
    return file.getvalue()


def unigram_model(pieces: Sequence[str]) -> bytes:
    """A SentencePiece model: each piece is less likely than the one before it."""
    entries = []
    for place, piece in enumerate(pieces):
        text = piece.encode()
        entry = b"\x0a" + bytes([len(text)]) + text + b"\x15" + struct.pack("<f", -float(place))
        entries.append(b"\x0a" + bytes([len(entry)]) + entry)
    return b"".join(entries)


def _random(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Floats]:
    generator = np.random.default_rng(1)
    return {name: generator.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}
