"""all-MiniLM-L6-v2, a transformer of six layers for English sentences, in numpy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.sentences.wordpiece import WordPieces

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nur.ports.embedder import Floats


_TYPES = {"F16": np.float16, "F32": np.float32}

DIMENSIONS = 384
MOST_TOKENS = 128
"""What is longer is cut off: pieces have about 60 tokens, and attention costs the square of them."""

_LAYERS = 6
_HEADS = 12
_HEAD = DIMENSIONS // _HEADS
_EPSILON = 1e-12
_TOKENS_PER_RUN = 2048  #: of texts that run together, padding counted


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


@dataclass(frozen=True, slots=True)
class _Layer:
    attend: Floats  #: queries, keys and values side by side
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
    """Texts in, unit vectors out."""

    def __init__(self, weights: bytes, vocabulary: bytes) -> None:
        tensors = {name.removeprefix("bert."): tensor for name, tensor in read_tensors(weights).items()}
        self._tokens = WordPieces.from_lines(vocabulary)
        of_first_text = tensors["embeddings.token_type_embeddings.weight"][0]
        self._words = tensors["embeddings.word_embeddings.weight"] + of_first_text
        self._places = tensors["embeddings.position_embeddings.weight"]
        self._scale, self._shift = tensors["embeddings.LayerNorm.weight"], tensors["embeddings.LayerNorm.bias"]
        self._layers = [_layer(tensors, f"encoder.layer.{number}.") for number in range(_LAYERS)]

    def vectors(self, texts: Sequence[str]) -> Floats:
        """A unit vector per text."""
        ids = [self._tokens.encode(text, MOST_TOKENS) for text in texts]
        found = np.empty((len(texts), DIMENSIONS), np.float32)
        for group in _groups([len(of_text) for of_text in ids]):
            found[group] = self._run([ids[place] for place in group])
        return found

    def _run(self, ids: Sequence[Sequence[int]]) -> Floats:
        sizes = np.array([len(of_text) for of_text in ids])
        longest = int(sizes.max())
        present = np.arange(longest) < sizes[:, None]
        padded = np.zeros(present.shape, np.int64)
        padded[present] = np.concatenate([np.array(of_text, np.int64) for of_text in ids])
        states = self._words[padded] + self._places[:longest]
        states = _normalised(states.reshape(-1, DIMENSIONS), self._scale, self._shift)
        hidden = np.where(present, 0.0, -1e9).astype(np.float32)[:, None, None, :]
        for layer in self._layers:
            states = _through(layer, states, hidden, len(ids))
        states = states.reshape(len(ids), longest, DIMENSIONS)
        means = np.einsum("ntd,nt->nd", states, present.astype(np.float32))
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


def _through(layer: _Layer, states: Floats, hidden: Floats, texts: int) -> Floats:
    """One layer: each token looks at the others of its text, then at itself."""
    attended = _attended(states @ layer.attend + layer.attend_bias, hidden, texts) @ layer.output
    states = _normalised(attended + layer.output_bias + states, layer.attend_scale, layer.attend_shift)
    own = _gelu(states @ layer.wide + layer.wide_bias) @ layer.narrow
    return _normalised(own + layer.narrow_bias + states, layer.scale, layer.shift)


def _attended(projected: Floats, hidden: Floats, texts: int) -> Floats:
    queries, keys, values = projected.reshape(texts, -1, 3, _HEADS, _HEAD).transpose(2, 0, 3, 1, 4)
    weights = queries @ keys.swapaxes(-1, -2) * np.float32(_HEAD**-0.5) + hidden
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed: Floats = (weights @ values).transpose(0, 2, 1, 3).reshape(-1, DIMENSIONS)
    return mixed


def _normalised(states: Floats, scale: Floats, shift: Floats) -> Floats:
    states = states - states.mean(axis=1, keepdims=True)
    variance = np.einsum("td,td->t", states, states) / states.shape[1]
    states *= (1 / np.sqrt(variance + _EPSILON))[:, None].astype(np.float32)
    states *= scale
    states += shift
    return states


def _gelu(states: Floats) -> Floats:
    """Its form with tanh, which differs by less than .001 and needs no error function."""
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
    """Places of texts of like length, so that little of a run is padding."""
    order = np.argsort(sizes, kind="stable")
    first = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or sizes[order[end]] * (end + 1 - first) > _TOKENS_PER_RUN:
            yield order[first:end]
            first = end
