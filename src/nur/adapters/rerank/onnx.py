"""OnnxReranker: a cross-encoder that runs here: a folder with `model.onnx` and `tokenizer.json`.

Such folders are what sentence-transformers and Optimum export; MiniLM and BGE rerankers come so.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.onnx.folder import load
from nur.domain.errors import RerankerDown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

MAX_TOKENS = 512
#: English has about four characters a token; a text that has fewer is cut by the tokenizer.
MAX_CHARS = 2_000
#: Pairs in one run: padding wastes little, and a search whose deadline is over stops soon.
BATCH = 8


class OnnxReranker:
    """Reads question and passage together and scores how well they fit."""

    max_chars = MAX_CHARS

    def __init__(self, folder: Path) -> None:
        """Loads the model. Raises BadConfiguration when the folder holds none."""
        self.name = folder.name
        self._session, self._tokenizer = load(folder, "RERANK_MODEL")
        self._tokenizer.enable_truncation(MAX_TOKENS, strategy="only_second")
        self._tokenizer.enable_padding()
        self._inputs = {given.name for given in self._session.get_inputs()}

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score per passage, in their order: the model's logits. Raises RerankerDown."""
        over = threading.Event()
        try:
            return await asyncio.to_thread(self._score, query, passages, over)
        finally:
            over.set()  # a thread cannot be cancelled: a caller that stops waiting makes it stop after this batch

    async def close(self) -> None:
        """Nothing to do: the model goes with the process."""

    def _score(self, query: str, passages: Sequence[str], over: threading.Event) -> list[float]:
        scores: list[float] = []
        for start in range(0, len(passages), BATCH):
            if over.is_set():
                break
            scores += self._run(query, passages[start : start + BATCH])
        return scores

    def _run(self, query: str, passages: Sequence[str]) -> list[float]:
        try:
            pairs = self._tokenizer.encode_batch([(query, passage) for passage in passages])
            given = {
                "input_ids": np.array([pair.ids for pair in pairs], np.int64),
                "attention_mask": np.array([pair.attention_mask for pair in pairs], np.int64),
                "token_type_ids": np.array([pair.type_ids for pair in pairs], np.int64),
            }
            logits = self._session.run(None, {name: given[name] for name in given if name in self._inputs})[0]
        except Exception as error:
            raise RerankerDown("The local reranker failed on these passages.") from error
        return _fitness(np.asarray(logits, np.float64).reshape(len(passages), -1))


def _fitness(logits: NDArray[np.float64]) -> list[float]:
    """One label is the score itself; of two, the second is the one for yes."""
    scores = logits[:, 0] if logits.shape[1] == 1 else logits[:, -1] - logits[:, 0]
    if not np.isfinite(scores).all():
        raise RerankerDown("The local reranker gave no numbers.")
    return [float(score) for score in scores]
