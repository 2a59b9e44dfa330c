"""Hits as structured content: quoted data with evidence and provenance, never instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.embedding import EmbeddingModel
    from nur.domain.search import Hit, SearchResult


def structured(result: SearchResult) -> dict[str, Any]:
    """A search's whole answer."""
    answer: dict[str, Any] = {
        "search_id": str(result.search_id),
        "hits": [_hit(hit, result.model) for hit in result.hits],
        "degraded": list(result.degraded),
    }
    return answer | ({"reason": result.reason} if result.reason else {})


def _hit(hit: Hit, model: EmbeddingModel) -> dict[str, Any]:
    note, about = hit.note, hit.note.about
    best = hit.passages[0]
    return {
        "type": hit.type,
        "id": note.public_id,
        "chunk_id": hit.chunk_id,
        "score": round(hit.score, 4),
        "rrf_score": round(hit.rrf_score, 4),
        "ranks": dict(hit.ranks),
        "title": about.title,
        "snippet": best.text,
        "start_char": best.start_char,
        "end_char": best.end_char,
        "passages": [
            {"text": passage.text, "start_char": passage.start_char, "end_char": passage.end_char}
            for passage in hit.passages
        ],
        "evidence": _present(source_system=about.source_system, source_id=about.source_id, source_url=about.source_url),
        "provenance": _present(
            embedding_model=model.name,
            embedding_dimensions=model.dimensions,
            ts=utc(about.occurred_at),
            ingested_at=utc(note.ingested_at),
            confidence=about.confidence,
            memory_type=about.type,
            version=note.version,
            conversation_id=about.conversation_id,
            turn_index=about.turn_index,
            role=about.role,
        ),
        "sensitivity": about.sensitivity,
    }


def _present(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


def utc(moment: datetime | None) -> str | None:
    """ISO 8601 with a Z, or None."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
