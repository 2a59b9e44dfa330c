"""Log events and metrics of embedding calls: sizes and timings, never texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.observability import metrics
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.adapters.openai.batches import Batch
    from nur.adapters.openai.failures import RequestError
    from nur.adapters.openai.retries import RetryIn
    from nur.domain.embedding import EmbeddingModel


class Telemetry:
    """Writes the specification's embedding events (its section 10.2) for one model."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._log = EventLog("EmbeddingService")
        self._model = model

    def requested(self, batches: Sequence[Batch]) -> None:
        """A call started."""
        self._log.info(
            "embedding_requested",
            model=self._model.name,
            input_length=_characters(batches),
            token_count=sum(batch.tokens for batch in batches),
            batch_size=_texts(batches),
        )

    def answered(self, texts: int, seconds: float) -> None:
        """The provider answered one request."""
        metrics.EMBEDDING_LATENCY.observe(seconds)
        metrics.EMBEDDING_BATCH.observe(texts)

    def batch_generated(self, batch: Batch, batches: int, tokens: int, latency_ms: int) -> None:
        """A batch was embedded."""
        size = len(batch.texts)
        metrics.EMBEDDINGS.labels(self._model.name, str(self._model.dimensions)).inc(size)
        metrics.EMBEDDING_TOKENS.labels(self._model.name).inc(tokens)
        if batches > 1 or size > 1:
            self._log.info(
                "batch_embeddings_generated",
                batch_size=size,
                batch_index=batch.index,
                total_batches=batches,
                token_count=tokens,
                latency_ms=latency_ms,
            )

    def generated(self, batches: Sequence[Batch], tokens: int, latency_ms: int) -> None:
        """A call succeeded."""
        self._log.info(
            "embedding_generated",
            model=self._model.name,
            dimensions=self._model.dimensions,
            input_length=_characters(batches),
            token_count=tokens,
            latency_ms=latency_ms,
            batch_size=_texts(batches),
        )

    def retrying(self, failure: RequestError, decision: RetryIn) -> None:
        """A request failed and will be retried."""
        self._log.warning(
            "embedding_retry",
            attempt=failure.attempts,
            error=failure.kind.value,
            backoff_ms=round(decision.seconds * 1000),
        )

    def failed(self, failure: RequestError, texts: int) -> None:
        """A call failed; this many texts have no vector."""
        metrics.EMBEDDINGS_FAILED.labels(failure.kind.value).inc(texts)
        self._log.error(
            "embedding_failed",
            attempts=failure.attempts,
            error=failure.kind.value,
            details=failure.details or None,
            failed=texts,
        )


def _texts(batches: Sequence[Batch]) -> int:
    return sum(len(batch.texts) for batch in batches)


def _characters(batches: Sequence[Batch]) -> int:
    return sum(len(text) for batch in batches for text in batch.texts)
