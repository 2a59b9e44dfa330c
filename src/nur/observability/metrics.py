"""Prometheus metrics under the names of the specification's section 10.3."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

REGISTRY = CollectorRegistry()

_LATENCY = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_COUNTS = (0, 1, 2, 5, 10, 20, 50, 100, 250, 500, 1000)

EMBEDDINGS = Counter("embeddings_total", "Texts embedded", ["model", "dimensions"], registry=REGISTRY)
EMBEDDINGS_FAILED = Counter("embeddings_failed_total", "Texts not embedded", ["error"], registry=REGISTRY)
EMBEDDING_LATENCY = Histogram("embedding_latency_seconds", "One request", registry=REGISTRY, buckets=_LATENCY)
EMBEDDING_TOKENS = Counter("embedding_tokens_total", "Tokens embedded", ["model"], registry=REGISTRY)
EMBEDDING_BATCH = Histogram("embedding_batch_size", "Texts in one request", registry=REGISTRY, buckets=_COUNTS)

ARTIFACTS = Counter("artifacts_ingested_total", "Artifacts ingested", ["outcome"], registry=REGISTRY)
ARTIFACTS_CHUNKED = Counter("artifacts_chunked_total", "Artifacts that were cut", registry=REGISTRY)
CHUNKS = Counter("artifact_chunks_total", "Chunks made of artifacts", registry=REGISTRY)
INGESTION_LATENCY = Histogram("ingestion_latency_seconds", "One ingest", registry=REGISTRY, buckets=_LATENCY)

SEARCHES = Counter("searches_total", "Searches", ["tool"], registry=REGISTRY)
SEARCH_LATENCY = Histogram("search_latency_seconds", "One search", ["tool"], registry=REGISTRY, buckets=_LATENCY)
SEARCH_RESULTS = Histogram("search_results_count", "Hits of one search", registry=REGISTRY, buckets=_COUNTS)
RRF_MERGES = Counter("rrf_merges_total", "Searches that fused rankers", registry=REGISTRY)

CHROMA_OPERATIONS = Counter("chroma_operations_total", "Operations on Chroma", ["operation"], registry=REGISTRY)
CHROMA_ERRORS = Counter("chroma_errors_total", "Failed operations on Chroma", ["error"], registry=REGISTRY)

OUTBOX_PENDING = Gauge("indexing_outbox_pending", "Notes that wait to be indexed", registry=REGISTRY)
OUTBOX_DEAD = Gauge("indexing_outbox_dead", "Notes whose indexing was given up", registry=REGISTRY)


def exposition() -> bytes:
    """Return all metrics in Prometheus's text format."""
    return generate_latest(REGISTRY)
