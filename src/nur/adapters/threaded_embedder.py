"""Base class of the in-process embedders: runs the model in threads, records metrics and logs."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from nur.domain.embedding import EmbeddingModel, Probe
from nur.domain.errors import NurError
from nur.observability import metrics
from nur.observability.events import EventLog
from nur.ports.clock import Clock, SystemClock, milliseconds_since

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.ports.embedder import Floats

T = TypeVar("T")


class ThreadedEmbedder:
    """Embeds in small slices on its own threads, so that a query waits for one slice of an ingest, not all of it."""

    model: EmbeddingModel

    def __init__(self, slice_size: int, *, threads: int, clock: Clock | None) -> None:
        self._slice = slice_size
        self._clock = clock or SystemClock()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="nur-embedder")
        self._log = EventLog("EmbeddingService")

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One unit vector per text, in order. `progress` is called with the number of texts done."""
        self._log_request(texts)
        started = self._clock.monotonic()
        vectors = np.empty((len(texts), self.model.dimensions), np.float32)
        tokens = 0
        for start in range(0, len(texts), self._slice):
            part = texts[start : start + self._slice]
            vectors[start : start + len(part)], counted = await self._in_thread(partial(self._vectors, part))
            tokens += counted
            if progress:
                progress(start + len(part))
        if texts:
            self._record(texts, tokens, self._clock.monotonic() - started)
        return vectors

    async def embed_query(self, text: str) -> Floats:
        """The query's vector."""
        self._log_request([text])
        started = self._clock.monotonic()
        vectors, tokens = await self._in_thread(partial(self._query_vectors, [text]))
        self._record([text], tokens, self._clock.monotonic() - started)
        vector: Floats = vectors[0]
        return vector

    async def probe(self) -> Probe:
        """Embed a word and report the result. Never raises."""
        started = self._clock.monotonic()
        try:
            await self._in_thread(partial(self._vectors, ["probe"]))
        except NurError as error:
            return Probe(False, milliseconds_since(started, self._clock), error=str(error))
        return Probe(True, milliseconds_since(started, self._clock), self.model.dimensions)

    async def close(self) -> None:
        """Shut down the threads without waiting for running work."""
        self._threads.shutdown(wait=False)

    def _vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        """The texts' unit vectors, and the number of tokens read."""
        raise NotImplementedError

    def _query_vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        """The same for queries, which a model may embed in another way than stored texts."""
        return self._vectors(texts)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _log_request(self, texts: Sequence[str]) -> None:
        if texts:
            length = sum(len(text) for text in texts)
            self._log.info("embedding_requested", model=self.model.name, input_length=length, batch_size=len(texts))

    def _record(self, texts: Sequence[str], tokens: int, seconds: float) -> None:
        name, dimensions = self.model.name, self.model.dimensions
        metrics.EMBEDDINGS.labels(name, str(dimensions)).inc(len(texts))
        metrics.EMBEDDING_TOKENS.labels(name).inc(tokens)
        metrics.EMBEDDING_LATENCY.observe(seconds)
        metrics.EMBEDDING_BATCH.observe(len(texts))
        self._log.info(
            "embedding_generated",
            model=name,
            dimensions=dimensions,
            input_length=sum(len(text) for text in texts),
            token_count=tokens,
            latency_ms=round(seconds * 1000),
            batch_size=len(texts),
        )
