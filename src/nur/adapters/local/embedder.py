"""LocalEmbedder: static vectors on this machine; fast enough that nothing waits for them."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from nur.adapters.local.static_model import DIMENSIONS, NAME, StaticModel
from nur.domain.embedding import EmbeddingModel, Probe
from nur.domain.errors import NurError
from nur.observability import metrics
from nur.observability.events import EventLog
from nur.ports.clock import Clock, SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.adapters.local.static_model import TokenIds
    from nur.ports.embedder import Floats

T = TypeVar("T")

#: Texts embedded in one go: a query waits for one slice of an ingest, not for all of it.
SLICE = 64


class LocalEmbedder:
    """Vectors of the static model in the wordllama package, read on first use.

    A text without tokens has a fixed vector (`StaticModel.nowhere`): no vector is ever zero or NaN.
    """

    def __init__(self, *, threads: int = 2, clock: Clock | None = None) -> None:
        self.model = EmbeddingModel("local", NAME, DIMENSIONS)
        self.max_tokens = 8191  # a mean has no limit of its own; the windows of other models keep means comparable
        self._clock = clock or SystemClock()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="nur-local-embedder")
        self._loading = Lock()
        self._loaded: StaticModel | None = None
        self._log = EventLog("EmbeddingService")

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One unit vector a text, in order. `progress` hears the texts done so far."""
        started = self._clock.monotonic()
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        tokens = 0
        for start in range(0, len(texts), SLICE):
            part = texts[start : start + SLICE]
            vectors[start : start + len(part)], counted = await self._in_thread(partial(self._vectors, part))
            tokens += counted
            if progress:
                progress(start + len(part))
        if texts:
            self._account(texts, tokens, self._clock.monotonic() - started)
        return vectors

    async def embed_query(self, text: str) -> Floats:
        """The vector to search with: at present that of a stored text."""
        vector: Floats = (await self.embed([text]))[0]
        return vector

    async def probe(self) -> Probe:
        """Embed a word and say how it went. Never raises."""
        started = self._clock.monotonic()
        try:
            await self._in_thread(partial(self._vectors, ["probe"]))
        except NurError as error:
            return Probe(False, self._ms_since(started), error=str(error))
        return Probe(True, self._ms_since(started), DIMENSIONS)

    async def close(self) -> None:
        """Let go of the threads."""
        self._threads.shutdown(wait=False)

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """The tokens of each text, as row numbers of `token_vectors`. Takes its time: call it in a thread."""
        return self._static().token_ids(texts)

    @property
    def token_vectors(self) -> Floats:
        """One row a token, as trained: not of unit length."""
        return self._static().matrix

    def _vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        static = self._static()
        ids = static.token_ids(texts)
        return np.stack([static.pooled(of_text) for of_text in ids]), sum(len(of_text) for of_text in ids)

    def _static(self) -> StaticModel:
        with self._loading:
            if self._loaded is None:
                self._loaded = StaticModel.from_package()
            return self._loaded

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _account(self, texts: Sequence[str], tokens: int, seconds: float) -> None:
        metrics.EMBEDDINGS.labels(NAME, str(DIMENSIONS)).inc(len(texts))
        metrics.EMBEDDING_TOKENS.labels(NAME).inc(tokens)
        metrics.EMBEDDING_LATENCY.observe(seconds)
        metrics.EMBEDDING_BATCH.observe(len(texts))
        self._log.info(
            "embedding_generated",
            model=NAME,
            dimensions=DIMENSIONS,
            input_length=sum(len(text) for text in texts),
            token_count=tokens,
            latency_ms=round(seconds * 1000),
            batch_size=len(texts),
        )

    def _ms_since(self, started: float) -> int:
        return round((self._clock.monotonic() - started) * 1000)
