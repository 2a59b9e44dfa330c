"""all-MiniLM-L6-v2, a six-layer transformer for English sentences, in numpy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.sentences.layer_norm import layer_norm
from nur.adapters.sentences.wordpiece import WordPieces

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nur.ports.embedder import Floats


_TYPES = {"F16": np.float16, "F32": np.float32}

DIMENSIONS = 384
MAX_TOKENS = 128
"""Longer texts are truncated: pieces have about 60 tokens, and the cost of attention is quadratic."""

_LAYERS = 6
_HEADS = 12
_HEAD_DIMENSIONS = DIMENSIONS // _HEADS
_EPSILON = 1e-12
_TOKENS_PER_RUN = 2048  #: in one run, including padding


def read_tensors(file: bytes) -> dict[str, Floats]:
    """All floating-point tensors of a safetensors file, as float32, by name."""
    start = 8 + int.from_bytes(file[:8], "little")
    tensors: dict[str, Floats] = {}
    for name, tensor in json.loads(file[8:start]).items():
        kind = _TYPES.get(tensor.get("dtype"))
        if kind is not None:
            first, end = tensor["data_offsets"]
            numbers = np.frombuffer(file[start + first : start + end], kind)
            tensors[name] = numbers.reshape(tensor["shape"]).astype(np.float32)
    return tensors


@dataclass(frozen=True, slots=True)
class _Layer:
    attend: Floats  #: queries, keys and values, concatenated
    attend_bias: Floats
    output: Floats
    output_bias: Floats
    attend_scale: Floats
    attend_shift: Floats
    wide: Floats
    wide_bias: Floats
    narrow: Floats
    narrow_bias: Floats
    scale: Floats
    shift: Floats


class MiniLm:
    """Turns texts into unit vectors."""

    def __init__(self, weights: bytes, vocabulary: bytes) -> None:
        tensors = {name.removeprefix("bert."): tensor for name, tensor in read_tensors(weights).items()}
        self._tokens = WordPieces.from_lines(vocabulary)
        segment = tensors["embeddings.token_type_embeddings.weight"][0]
        self._words = tensors["embeddings.word_embeddings.weight"] + segment
        self._positions = tensors["embeddings.position_embeddings.weight"]
        self._scale, self._shift = tensors["embeddings.LayerNorm.weight"], tensors["embeddings.LayerNorm.bias"]
        self._layers = [_layer(tensors, f"encoder.layer.{number}.") for number in range(_LAYERS)]

    def vectors(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text, in order."""
        ids = [self._tokens.encode(text, MAX_TOKENS) for text in texts]
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        for group in _groups([len(text_ids) for text_ids in ids]):
            vectors[group] = self._run([ids[index] for index in group])
        return vectors

    def _run(self, ids: Sequence[Sequence[int]]) -> Floats:
        sizes = np.array([len(text_ids) for text_ids in ids])
        longest = int(sizes.max())
        is_token = np.arange(longest) < sizes[:, None]
        padded = np.zeros(is_token.shape, np.int64)
        padded[is_token] = np.concatenate([np.array(text_ids, np.int64) for text_ids in ids])
        states = self._words[padded] + self._positions[:longest]
        states = layer_norm(states.reshape(-1, DIMENSIONS), self._scale, self._shift, _EPSILON)
        mask = np.where(is_token, 0.0, -1e9).astype(np.float32)[:, None, None, :]
        for layer in self._layers:
            states = _apply_layer(layer, states, mask, len(ids))
        states = states.reshape(len(ids), longest, DIMENSIONS)
        means = np.einsum("ntd,nt->nd", states, is_token.astype(np.float32))
        unit: Floats = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
        return unit


def _layer(tensors: Mapping[str, Floats], prefix: str) -> _Layer:
    own = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    parts = [f"attention.self.{name}" for name in ("query", "key", "value")]
    return _Layer(
        np.concatenate([own[f"{part}.weight"] for part in parts]).T.copy(),
        np.concatenate([own[f"{part}.bias"] for part in parts]),
        own["attention.output.dense.weight"].T.copy(),
        own["attention.output.dense.bias"],
        own["attention.output.LayerNorm.weight"],
        own["attention.output.LayerNorm.bias"],
        own["intermediate.dense.weight"].T.copy(),
        own["intermediate.dense.bias"],
        own["output.dense.weight"].T.copy(),
        own["output.dense.bias"],
        own["output.LayerNorm.weight"],
        own["output.LayerNorm.bias"],
    )


def _apply_layer(layer: _Layer, states: Floats, mask: Floats, texts: int) -> Floats:
    """One layer: attention among the tokens of each text, then a feed-forward network per token."""
    attended = _attention(states @ layer.attend + layer.attend_bias, mask, texts) @ layer.output
    states = layer_norm(attended + layer.output_bias + states, layer.attend_scale, layer.attend_shift, _EPSILON)
    output = _gelu(states @ layer.wide + layer.wide_bias) @ layer.narrow
    return layer_norm(output + layer.narrow_bias + states, layer.scale, layer.shift, _EPSILON)


def _attention(projected: Floats, mask: Floats, texts: int) -> Floats:
    queries, keys, values = projected.reshape(texts, -1, 3, _HEADS, _HEAD_DIMENSIONS).transpose(2, 0, 3, 1, 4)
    weights = queries @ keys.swapaxes(-1, -2) * np.float32(_HEAD_DIMENSIONS**-0.5) + mask
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed: Floats = (weights @ values).transpose(0, 2, 1, 3).reshape(-1, DIMENSIONS)
    return mixed


def _gelu(states: Floats) -> Floats:
    """GELU in its tanh approximation, which differs by less than .001 and needs no error function."""
    inner = states * states
    inner *= np.float32(0.044715)
    inner += 1
    inner *= states
    inner *= np.float32(0.7978845608)
    np.tanh(inner, out=inner)
    inner += 1
    inner *= states
    inner *= np.float32(0.5)
    return inner


def _groups(sizes: Sequence[int]) -> Iterator[NDArray[np.int64]]:
    """Indexes of texts in groups of similar length, so that little of a run is padding."""
    order = np.argsort(sizes, kind="stable")
    first = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or sizes[order[end]] * (end + 1 - first) > _TOKENS_PER_RUN:
            yield order[first:end]
            first = end
