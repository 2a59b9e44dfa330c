"""Formats hits as structured content: quoted data with evidence and provenance, never instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nur.domain.documents import location
from nur.domain.kinds import KINDS
from nur.domain.notes import Sensitivity
from nur.entrypoints.mcp.tool import utc, utc_seconds

if TYPE_CHECKING:
    from nur.domain.embedding import EmbeddingModel
    from nur.domain.notes import Note
    from nur.domain.search import Hit, Passage, Quote, SearchResult
    from nur.domain.times import TimeMention


def structured(result: SearchResult, *, detailed: bool = False, memories_only: bool = False) -> dict[str, Any]:
    """A search's whole answer; short unless `detailed`, since some clients show the model both it and the text.

    With `memories_only`, the type, which the text has, and a single passage are left out.
    """
    answer: dict[str, Any] = {
        "search_id": str(result.search_id),
        **({"trace_id": str(result.trace_id)} if detailed else {}),
        "hits": [
            _detailed_hit(hit, result.model) if detailed else _concise_hit(hit, memories_only=memories_only)
            for hit in result.hits
        ],
        "degraded": list(result.degraded),
    }
    if result.confidence is not None:
        answer["confidence"] = round(result.confidence, 4)
    if result.conflicts:
        answer["conflicts"] = [[_quote(quote) for quote in pair] for pair in result.conflicts]
    return answer | _present(reason=result.reason, notice=result.notice)


def _concise_hit(hit: Hit, *, memories_only: bool) -> dict[str, Any]:
    """The fields that a program needs; without empty, default or repeated ones."""
    meta, best = hit.note.meta, hit.passages[0]
    passages = [_passage(hit, passage, with_text=passage is not best) for passage in hit.passages]
    return _filled(
        {
            "type": hit.type,
            "id": hit.note.public_id,
            "chunk_id": hit.chunk_id if hit.chunk_id != hit.note.public_id else None,
            "score": round(hit.score, 4),
            "rerank_score": None if hit.rerank_score is None else round(hit.rerank_score, 4),
            "title": meta.title,
            "snippet": best.text,
            "start_char": best.start_char,
            "end_char": best.end_char,
            "passages": None if memories_only and len(passages) == 1 else passages,
            "times": [_short_time(passage, one) for passage in hit.passages for one in passage.times],
            "evidence": _evidence_fields(hit),
            "provenance": _present(
                ts=utc_seconds(hit.note.said_at),
                confidence=meta.confidence,
                **({} if memories_only else _type(hit.note)),
                version=hit.note.version if hit.note.version > 1 else None,
                **_speaker(hit),
            ),
            "sensitivity": meta.sensitivity if meta.sensitivity is not Sensitivity.NORMAL else None,
            "newer": _newer(hit),
            "near_identical": _near_identical(hit) if hit.duplicates else None,
            "neighbors": list(hit.expanded.parts) if hit.expanded is not None else None,
        }
    )


def _detailed_hit(hit: Hit, model: EmbeddingModel) -> dict[str, Any]:
    """All fields of a hit."""
    note, meta = hit.note, hit.note.meta
    best = hit.passages[0]
    return {
        "type": hit.type,
        "id": note.public_id,
        "chunk_id": hit.chunk_id,
        "item_id": str(hit.item_id),
        "score": round(hit.score, 4),
        "rrf_score": round(hit.rrf_score, 4),
        **({} if hit.rerank_score is None else {"rerank_score": round(hit.rerank_score, 4)}),
        "ranks": dict(hit.ranks),
        "title": meta.title,
        "snippet": best.text,
        "start_char": best.start_char,
        "end_char": best.end_char,
        "times": [_time(passage, one) for passage in hit.passages for one in passage.times],
        "passages": [_passage(hit, passage, with_text=True) for passage in hit.passages],
        "evidence": _evidence_fields(hit),
        "provenance": _present(
            embedding_model=model.name,
            embedding_dimensions=model.dimensions,
            ts=utc(note.said_at),
            ingested_at=utc(note.ingested_at),
            confidence=meta.confidence,
            **_type(note),
            version=note.version,
            **_speaker(hit),
        ),
        "sensitivity": meta.sensitivity,
        **_present(newer=_newer(hit)),
        "near_identical": _near_identical(hit),
        **({"neighbors": list(hit.expanded.parts)} if hit.expanded is not None else {}),
    }


def _passage(hit: Hit, passage: Passage, *, with_text: bool) -> dict[str, Any]:
    found = location(hit.note.meta.metadata, passage.start_char, passage.end_char)
    text = {"text": passage.text} if with_text else {}
    return {**text, "start_char": passage.start_char, "end_char": passage.end_char, **_present(location=found)}


def _evidence_fields(hit: Hit) -> dict[str, Any]:
    meta = hit.note.meta
    return _present(source_system=meta.source_system, source_id=meta.source_id, source_url=meta.source_url)


def _speaker(hit: Hit) -> dict[str, Any]:
    meta = hit.note.meta
    return {"conversation_id": meta.conversation_id, "turn_index": meta.turn_index, "role": meta.role}


def _newer(hit: Hit) -> dict[str, str] | None:
    return None if hit.newer is None else {"id": hit.newer.public_id, "rule": hit.newer.rule}


def _quote(quote: Quote) -> dict[str, object]:
    return {"id": quote.public_id, "quote": quote.text, "start_char": quote.start_char, "end_char": quote.end_char}


def _near_identical(hit: Hit) -> dict[str, Any]:
    return {"count": len(hit.duplicates), "ids": list(hit.duplicates)}


def _short_time(passage: Passage, one: TimeMention) -> dict[str, str]:
    """A time mention; the end is left out for a single day."""
    first, last = str(one.window.first), str(one.window.last)
    return {"quote": passage.quote(one), "from": first, **({"to": last} if last != first else {})}


def _time(passage: Passage, one: TimeMention) -> dict[str, object]:
    return {
        "quote": passage.quote(one),
        "from": str(one.window.first),
        "to": str(one.window.last),
        "grain": one.window.grain,
        "anchor": "said" if one.is_relative else "absolute",
        "start_char": one.start_char,
        "end_char": one.end_char,
    }


def _type(note: Note) -> dict[str, str | None]:
    """The note's type, under the field name of its kind."""
    return {KINDS[note.kind].type_field: note.meta.type}


def _present(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


def _filled(fields: dict[str, Any]) -> dict[str, Any]:
    """Drop None and empty lists and objects."""
    return {name: value for name, value in fields.items() if value is not None and value not in ([], {})}
