"""Tiny ONNX models: a cross-encoder that sums word weights, and an embedder with one vector per word.

The model files are encoded by hand as ONNX protocol buffers, so that no package is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"
_FLOAT, _INT64 = 1, 7
MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _node(kind: str, inputs: list[str], output: str, **attributes: int) -> bytes:
    given = b"".join(_field(1, name) for name in inputs) + _field(2, output) + _field(4, kind)
    return given + b"".join(
        _field(5, _field(1, name) + _field(3, value) + _field(20, 2)) for name, value in attributes.items()
    )


def _tensor(name: str, values: _Array) -> bytes:
    kind = _FLOAT if values.dtype == np.float32 else _INT64
    dims = b"".join(_field(1, size) for size in values.shape)
    return dims + _field(2, kind) + _field(8, name) + _field(9, values.tobytes())


def _value(name: str, kind: int, *dims: str) -> bytes:
    shape = b"".join(_field(1, _field(2, dim)) for dim in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def weigh_words(folder: Path, weights: Mapping[str, float], *, labels: int = 1) -> Path:
    """Write `model.onnx` and `tokenizer.json`; query and padding have weight zero. Two labels: no and yes."""
    table = _table({word: [0.0] * (labels - 1) + [weight] for word, weight in weights.items()})
    nodes = [
        _node("Gather", ["weights", "input_ids"], "words", axis=0),
        _node("Mul", ["attention_mask", "token_type_ids"], "counts"),
        _node("Cast", ["counts"], "shares", to=_FLOAT),
        _node("Unsqueeze", ["shares", "last"], "column"),
        _node("Mul", ["words", "column"], "weighed"),
        _node("ReduceSum", ["weighed", "second"], "logits", keepdims=0),
    ]
    axes = {"last": np.array([2], np.int64), "second": np.array([1], np.int64)}
    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    return _write(folder, list(weights), nodes, {"weights": table, **axes}, inputs, _value("logits", _FLOAT, "n", "l"))


def embed_words(folder: Path, vectors: Mapping[str, Sequence[float]], given: str = "input_ids") -> Path:
    """Write `model.onnx` and `tokenizer.json` of a model with one vector per word; unknown words have a zero vector."""
    nodes = [_node("Gather", ["weights", given], "last_hidden_state", axis=0)]
    output = _value("last_hidden_state", _FLOAT, "n", "tokens", "dimensions")
    return _write(folder, list(vectors), nodes, {"weights": _table(vectors)}, [given], output)


def _table(rows: Mapping[str, Sequence[float]]) -> _Array:
    """One row per word, after zero rows for the special tokens."""
    width = len(next(iter(rows.values())))
    return np.array([[0.0] * width for _ in MARKS] + [list(row) for row in rows.values()], np.float32)


def _write(
    folder: Path, words: list[str], nodes: list[bytes], constants: dict[str, _Array], inputs: list[str], output: bytes
) -> Path:
    graph = (
        b"".join(_field(1, node) for node in nodes)
        + _field(2, "words")
        + b"".join(_field(5, _tensor(name, values)) for name, values in constants.items())
        + b"".join(_field(11, _value(name, _INT64, "n", "tokens")) for name in inputs)
        + _field(12, output)
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(_field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 13)))
    vocabulary = {word: number for number, word in enumerate([*MARKS, *words])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
