"""Google's multilingual Universal Sentence Encoder, version 3, for sixteen languages, in numpy.

Each token's vector is concatenated with the output of three networks over windows of 2, 3 and 5 tokens. The pooled
result goes through four dense layers.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.sentences.layer_norm import layer_norm
from nur.adapters.sentences.unigram import Unigrams

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nur.ports.embedder import Floats

DIMENSIONS = 512
MAX_TOKENS = 256
"""Longer texts are truncated; pieces have about 60 tokens."""

_BLOCKS = 17  #: of the stored embedding table; a token's block is its id modulo this
_WIDTH = 256
_REST = ("ln_g", "ln_b", "cnn_W", "cnn_b", "d0", "d1", "d2", "d3", "p1", "p3")
_TOKENS_PER_RUN = 1024


@dataclass(frozen=True, slots=True)
class _Branch:
    """A network over a window of tokens."""

    before: int  #: tokens before the current one
    window: int  #: tokens in total
    project: Floats
    project_bias: Floats
    scale: Floats
    shift: Floats
    dense: Sequence[tuple[Floats, Floats]]  #: weights and biases of consecutive layers


class UniversalEncoder:
    """Turns texts into unit vectors."""

    def __init__(self, weights: bytes, model: bytes) -> None:
        self._tokens = Unigrams.from_model(model)
        with np.load(io.BytesIO(weights), allow_pickle=False) as stored:
            tensors = {name: stored[name] for name in stored.files}
        blocks = [tensors[f"q{number + 1}"] for number in range(_BLOCKS)]
        self._table = np.stack(blocks, axis=1).reshape(-1, DIMENSIONS)  # one byte per dimension
        self._step, self._minimum = tensors["scale"], tensors["lo"]
        self._branches = [_branch(tensors, window, before) for window, before in ((2, 0), (3, 1), (5, 2))]
        self._rest = {name: tensors[name] for name in _REST}
        self._epsilon = float(tensors["eps"])

    def vectors(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text, in order."""
        ids = [np.array(self._tokens.encode(text)[:MAX_TOKENS], np.int64) for text in texts]
        sizes = np.array([len(text_ids) for text_ids in ids])
        runs = np.flatnonzero(np.diff(np.cumsum(sizes) // _TOKENS_PER_RUN)) + 1
        groups = np.split(np.arange(len(texts)), runs)
        return np.concatenate([self._run([ids[index] for index in group]) for group in groups if len(group)])

    def _run(self, ids: Sequence[NDArray[np.int64]]) -> Floats:
        flat = np.concatenate(ids)
        sizes = np.array([len(text_ids) for text_ids in ids])
        firsts = np.cumsum(sizes) - sizes
        block = flat % _BLOCKS
        embedded = self._table[flat] * self._step[block, None] + self._minimum[block, None]
        parts = [embedded, *(self._branch_states(branch, embedded, firsts, sizes) for branch in self._branches)]
        features = layer_norm(np.concatenate(parts, axis=1), self._rest["ln_g"], self._rest["ln_b"], self._epsilon)
        sums = np.add.reduceat(features, firsts, axis=0) @ self._rest["cnn_W"] + sizes[:, None] * self._rest["cnn_b"]
        return self._dense((sums / np.sqrt(sizes)[:, None]).astype(np.float32))

    def _branch_states(
        self, branch: _Branch, embedded: Floats, firsts: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> Floats:
        states = layer_norm(embedded @ branch.project + branch.project_bias, branch.scale, branch.shift, self._epsilon)
        windows = _windows(branch, firsts, sizes)
        for weights, bias in branch.dense:
            padded = np.concatenate([states, np.zeros((1, _WIDTH), np.float32)])
            states = states + np.maximum(padded[windows].reshape(len(embedded), -1) @ weights + bias, 0)
        return states

    def _dense(self, means: Floats) -> Floats:
        rest = self._rest
        first = np.maximum(means @ rest["d0"], 0)
        second = np.maximum(means @ rest["p1"] + first @ rest["d1"], 0)
        third = np.maximum(second @ rest["d2"], 0)
        vectors = np.tanh(second @ rest["p3"] + third @ rest["d3"])
        unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return unit


def _branch(tensors: Mapping[str, Floats], window: int, before: int) -> _Branch:
    return _Branch(
        before,
        window,
        tensors[f"proj{window}"],
        tensors[f"proj_b{window}"],
        tensors[f"ln_g{window}"],
        tensors[f"ln_b{window}"],
        [(tensors[f"w{number}_{window}"], tensors[f"b{number}_{window}"]) for number in (1, 2)],
    )


def _windows(branch: _Branch, firsts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Indexes of the tokens in each token's window; the index after the last token means padding."""
    tokens = int(sizes.sum())
    indexes = np.arange(tokens)[:, None] + np.arange(-branch.before, branch.window - branch.before)
    first, end = np.repeat(firsts, sizes)[:, None], np.repeat(firsts + sizes, sizes)[:, None]
    return np.where((indexes >= first) & (indexes < end), indexes, tokens)
