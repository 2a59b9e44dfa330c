"""OnnxReranker: runs a cross-encoder locally, from a folder with `model.onnx` and `tokenizer.json`.

sentence-transformers and Optimum export such folders; MiniLM and BGE rerankers are published this way.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.onnx.folder import load, model_inputs
from nur.domain.errors import RerankerDown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

MAX_TOKENS = 512
#: English has about four characters per token. Text with fewer is truncated by the tokenizer.
MAX_CHARS = 2_000
#: Pairs per run: padding wastes little, and a search past its deadline stops soon.
BATCH = 8


class OnnxReranker:
    """Scores each passage by reading it together with the query."""

    max_chars = MAX_CHARS

    def __init__(self, folder: Path) -> None:
        """Load the model. Raises BadConfiguration if the folder contains none."""
        self.name = folder.name
        self._session, self._tokenizer = load(folder, "RERANK_MODEL")
        self._tokenizer.enable_truncation(MAX_TOKENS, strategy="only_second")
        self._tokenizer.enable_padding()

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score per passage, in order: the model's logits. Raises RerankerDown."""
        cancelled = threading.Event()
        try:
            return await asyncio.to_thread(self._score, query, passages, cancelled)
        finally:
            cancelled.set()  # a thread cannot be cancelled: it stops after the current batch

    async def close(self) -> None:
        """Nothing to do: the model stays loaded until the process ends."""

    def _score(self, query: str, passages: Sequence[str], cancelled: threading.Event) -> list[float]:
        scores: list[float] = []
        for start in range(0, len(passages), BATCH):
            if cancelled.is_set():
                break
            scores += self._run(query, passages[start : start + BATCH])
        return scores

    def _run(self, query: str, passages: Sequence[str]) -> list[float]:
        try:
            pairs = self._tokenizer.encode_batch([(query, passage) for passage in passages])
            logits = self._session.run(None, model_inputs(self._session, pairs))[0]
        except Exception as error:
            raise RerankerDown("The local reranker failed on these passages.") from error
        return _scores(np.asarray(logits, np.float64).reshape(len(passages), -1))


def _scores(logits: NDArray[np.float64]) -> list[float]:
    """Scores from logits: with one label the logit itself; with two, how far "relevant" exceeds "not relevant"."""
    scores = logits[:, 0] if logits.shape[1] == 1 else logits[:, -1] - logits[:, 0]
    if not np.isfinite(scores).all():
        raise RerankerDown("The local reranker returned scores that are not finite.")
    return [float(score) for score in scores]
