"""An example of every response, for the OpenAPI description."""

from __future__ import annotations

from typing import Any

NOTE_ID = "note_0123456789ab"
SEARCH_ID = "0b7f4c52-6b8e-4a56-9d3f-2f1c7f6f0d11"
TRACE_ID = "5a0f6c1e-1d0b-4c55-8f3a-7f1b7a1f9c22"
ITEM_ID = "9c1d2e3f-4a5b-4c6d-8e7f-0a1b2c3d4e5f"
TEXT = "The staging database moves to port 5433 on Monday."
STORED_AT = "2026-01-05T09:30:00Z"
VERSION = "local:wordllama-l2-supercat-2:256"

_SOURCE = {"system": "slack", "id": "C042/1718", "url": "https://example.com/C042/1718"}
_SCORES: dict[str, Any] = {"score": 0.71, "lexical": 0.52, "cosine": 0.48, "bonus": 0.0, "rrf_score": 0.0328}
_RANKS = {"lexical": 1, "dense": 1}
_CANDIDATE: dict[str, Any] = {
    "chunk_key": 1,
    "outcome": "returned",
    "public_id": NOTE_ID,
    "chunk_index": 0,
    "place": 1,
    **_SCORES,
    "ranks": _RANKS,
}
_ITEM_NAMES = {"item_id": ITEM_ID, "rank": 1, "note_id": NOTE_ID, "chunk_id": NOTE_ID}
_TRACED_ITEM: dict[str, Any] = {
    **_ITEM_NAMES,
    "trace_id": TRACE_ID,
    "scores": {**_SCORES, "rerank_score": None, "ranks": _RANKS},
}
_WHY = "Returned at place 1: score 0.7100 (words 0.5200, cosine 0.4800)."
_TRACE: dict[str, Any] = {
    "search_id": SEARCH_ID,
    "trace_id": TRACE_ID,
    "created_at": STORED_AT,
    "query": "which port has the staging database?",
    "request": {"tool": "rest_search", "limit": 5, "mode": "hybrid", "max_chars": 2000, "selection": {}},
    "outcome": {"hits": 1, "degraded": [], "reason": None, "fusion": "score", "embedding_version": VERSION},
    "timings": {"gather": 4.2, "rank": 0.8},
    "candidates": [_CANDIDATE],
}

_VERSION: dict[str, Any] = {
    "version": 1,
    "current": False,
    "title": None,
    "characters": len(TEXT),
    "content_hash": "d2c7e7e0f58b11b7d8a5ff9f8dd1f4b2f95d4b4b9ac3a5a0e3fb0a2a2f0b5b11",
    "replaced_at": STORED_AT,
}
_NOTE: dict[str, Any] = {
    "note_id": NOTE_ID,
    "kind": "note",
    "tenant": "default",
    "owner": "local",
    "type": "fact",
    "key": "staging-port",
    "title": None,
    "project": "infra",
    "agent": "",
    "scope": "",
    "importance": 0.7,
    "confidence": None,
    "source": _SOURCE,
    "author": None,
    "participants": [],
    "conversation_id": None,
    "turn_index": None,
    "role": None,
    "sensitivity": "normal",
    "visibility_scope": "me",
    "retention_policy": "forever",
    "status": "active",
    "version": 1,
    "revision": 1,
    "content_hash": "8f6a1c0e" * 8,
    "token_count": 12,
    "chunk_count": 1,
    "chunking_version": "sentences:512:512:128",
    "occurred_at": STORED_AT,
    "ingested_at": STORED_AT,
    "updated_at": STORED_AT,
    "expires_at": None,
    "resolved_at": None,
    "deleted_at": None,
    "replaced_by": None,
    "metadata": {},
}
_TURN: dict[str, Any] = {
    "note_id": "standup_turn_0",
    "kind": "turn",
    "type": None,
    "key": None,
    "project": "",
    "importance": None,
    "source": {"system": None, "id": None, "url": None},
    "conversation_id": "standup",
    "turn_index": 0,
    "role": "user",
}
_ITEM: dict[str, Any] = {
    **_ITEM_NAMES,
    "kind": "note",
    "type": "fact",
    "title": None,
    "chunk_index": 0,
    "chunk_start": 0,
    "chunk_end": len(TEXT),
    "score": 0.71,
    "rrf_score": 0.0328,
    "ranks": _RANKS,
    "snippet": TEXT,
    "start_char": 0,
    "end_char": len(TEXT),
    "passages": [{"text": TEXT, "start_char": 0, "end_char": len(TEXT)}],
    "times": [],
    "stitched": None,
    "duplicates": [],
    "text": None,
    "source": _SOURCE,
    "ts": STORED_AT,
    "ingested_at": STORED_AT,
    "embedding_model": "wordllama-l2-supercat-2",
    "embedding_dimensions": 256,
    "confidence": None,
    "importance": 0.7,
    "version": 1,
    "revision": 1,
    "sensitivity": "normal",
    "newer": None,
}

_REVIEW: dict[str, Any] = {
    "review_id": "rev_9c1d2e3f4a5b6c7d",
    "relation": "other",
    "state": "waiting",
    "newer": {"note_id": "mem_0f40fd5484a5", "text": "The alarm code is 3386.", "ts": STORED_AT},
    "older": {"note_id": "mem_5d1c80b7a9e2", "text": "The alarm code is 4417.", "ts": "2026-05-08T12:00:00Z"},
    "decided_at": None,
    "decided_by": None,
}

_RECEIPT: dict[str, Any] = {
    "note_id": NOTE_ID,
    "operation": "created",
    "index_state": "pending",
    "revision": 1,
    "version": 1,
    "chunk_count": 1,
    "near_duplicates": None,
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "BriefOut": {
        "text": '<nur-memory date="2026-05-08">…</nur-memory>',
        "tokens": 96,
        "left_out": 0,
        "sections": [
            {
                "title": "Standing instructions",
                "lines": [
                    {"quote": "Always answer in English.", "note_id": "mem_0123456789ab", "date": "2026-05-07"},
                ],
            }
        ],
    },
    "Receipt": _RECEIPT,
    "NoteOut": {**_NOTE, "text": TEXT, "index_state": "indexed"},
    "NotePage": {"notes": [{**_NOTE, "preview": TEXT}], "next_cursor": None},
    "UploadReceipt": {
        "operation": "created",
        "documents": 1,
        "created": 1,
        "unchanged": 0,
        "metadata_updated": 0,
        "replaced": 0,
        "artifacts": [{**_RECEIPT, "note_id": "art_0123abcd"}],
    },
    "VersionsOut": {"note_id": NOTE_ID, "versions": [_VERSION]},
    "VersionOut": {**_VERSION, "text": TEXT},
    "TrashOut": {
        "notes": [{**_NOTE, "preview": TEXT, "status": "deleted", "deleted_at": STORED_AT, "revision": 2}],
        "next_cursor": None,
    },
    "TextOut": {"note_id": NOTE_ID, "start_char": 0, "end_char": len(TEXT), "text": TEXT, "next_start": None},
    "Conversations": {
        "conversations": [
            {
                "conversation_id": "standup",
                "turns": 2,
                "last_turn_index": 1,
                "first_at": STORED_AT,
                "last_at": STORED_AT,
                "preview": TEXT,
            }
        ],
        "next_cursor": None,
    },
    "TurnPage": {"turns": [{**_NOTE, **_TURN, "text": TEXT}], "next_cursor": None},
    "ReembeddedArtifactOut": {
        "note_id": "art_0123abcd",
        "chunk_count": 3,
        "embedding_version": VERSION,
        "index_state": "indexed",
    },
    "EmbeddingHealthOut": {
        "embedding_version": VERSION,
        "healthy": True,
        "latency_ms": 1,
        "dimensions": 256,
        "key_configured": False,
        "error": None,
    },
    "TimelineOut": {
        "entries": [
            {
                "first_day": "2026-05-07",
                "last_day": "2026-05-07",
                "ts": "2026-05-08T12:00:00Z",
                "note_id": "mem_0f40fd5484a5",
                "kind": "memory",
                "title": None,
                "quote": "We sold the boat yesterday.",
            }
        ],
        "next_cursor": None,
    },
    "ChangesOut": {
        "changes": [
            {
                "at": STORED_AT,
                "change": "replaced",
                "note_id": NOTE_ID,
                "kind": "note",
                "title": None,
                "by": "local",
                "before": "The staging database listens on port 5432.",
                "after": "The staging database listens on port 5433.",
                "superseded_by": None,
            }
        ],
        "cursor": "c812",
        "has_more": False,
    },
    "ReviewsOut": {"reviews": [_REVIEW], "next_after": None},
    "ReviewOut": _REVIEW,
    "SearchOut": {
        "search_id": SEARCH_ID,
        "trace_id": TRACE_ID,
        "payload": "l1",
        "items": [_ITEM],
        "degraded": [],
        "reason": None,
        "notice": None,
        "confidence": 0.83,
        "conflicts": [],
        "dropped": 0,
        "kept": True,
    },
    "ChosenNotes": {"notes": [{**_NOTE, "text": TEXT}], "missing": []},
    "Explanation": {**_TRACE, "items": [{**_ITEM_NAMES, **_SCORES, "ranks": _RANKS}]},
    "TraceOut": {**_TRACE, "items": [_TRACED_ITEM]},
    "ExplainedItem": {**_TRACED_ITEM, "chunk_index": 0, "outcome": "returned", "why": _WHY},
    "RebuildOut": {
        "state": "done",
        "chunks": 120,
        "rebuilt": 120,
        "missing_vectors": 0,
        "errors": 0,
        "rechunked": 0,
        "error": None,
    },
    "OutboxOut": {"pending": 2, "dead": 0, "oldest_seconds": 1.5, "last_error": None, "dead_letters": []},
    "ImportOut": {
        "created": 118,
        "updated": 0,
        "unchanged": 1,
        "kept": 0,
        "failed": 1,
        "failures": [{"line": 7, "reason": "meta.confidence: must be a number between 0 and 1"}],
        "complete": True,
    },
    "Retried": {"retried": 1},
    "StatsOut": {
        "notes": {"memory": 64, "turn": 23, "artifact": 9, "note": 12, "event": 0},
        "projects": {"infra": 12, "house": 3},
    },
    "SettingsOut": {
        "settings": [{"name": "INDEX", "value": "auto", "is_set": False, "meaning": "the vector index"}],
    },
    "EmbeddingOut": {
        "embedding_version": VERSION,
        "held_versions": {VERSION: 120},
        "state": "idle",
        "to_version": None,
        "done": 0,
        "total": 0,
        "error": None,
        "last": None,
    },
    "Forgotten": {"forgotten": {"openai:text-embedding-3-small:1536": 120}},
}
