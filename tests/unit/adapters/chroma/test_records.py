"""The record schemas of the specification's section 3.1."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from nur.adapters.chroma import collections as names
from nur.adapters.chroma.records import NEVER, ChromaRecord, records_of
from nur.domain.embedding import EmbeddingModel
from nur.domain.notes import Kind, Status
from nur.ports.vector_index import IndexOp
from tests.index_notes import NOW, a_note, a_removal, an_upsert

MODEL = EmbeddingModel("openai", "text-embedding-3-large", 3072)
ONE = [np.ones(4, np.float32)]
STANDARD = {"embedding_provider", "embedding_model", "embedding_dimensions", "token_count", "ts"}
PRIVACY = {"sensitivity", "visibility_scope", "retention_policy"}
FILTERS = {"tenant", "owner", "kind", "has_confidence", "ts_epoch", "expires_epoch", "project", "agent", "scope"}
OURS = {"note_id", "revision", "chunk_key", "store_id"}


def records(kind: Kind, chunks: int = 1, **meta: Any) -> list[ChromaRecord]:
    return records_of(an_upsert(a_note(1, kind, **meta), ONE * chunks), MODEL, "store")


def test_a_memory() -> None:
    (record,) = records(Kind.MEMORY, type="fact", confidence=0.9, conversation_id="c")
    assert (record.collection, record.record_id, record.document) == ("memory", "memory_1", "text 1 part 0")
    assert record.metadata.keys() >= STANDARD | FILTERS | OURS | {"type", "confidence", "conversation_id"}
    assert record.metadata["ts"] == "2026-01-01T00:00:00Z"
    assert record.metadata["ts_epoch"] == NOW.timestamp()
    assert record.metadata["embedding_dimensions"] == 3072


def test_a_turn_says_who_spoke() -> None:
    (record,) = records(Kind.TURN, conversation_id="c", role="user", turn_index=0)
    assert (record.collection, record.document) == ("history", "user: text 1 part 0")
    assert record.metadata.keys() >= STANDARD | FILTERS | OURS | {"conversation_id", "role", "turn_index"}
    assert record.metadata["turn_index"] == 0, "zero is not nothing"


FULL: dict[str, Any] = {
    "type": "email",
    "source_system": "gmail",
    "source_id": "m1",
    "source_url": "https://mail.example/m1",
    "title": "Subject",
    "author": "a@example.com",
    "participants": ("a@example.com", "b@example.com"),
}
OF_SOURCE = {"artifact_type", "source_system", "source_id", "source_url", "title", "author", "participants"}


def test_a_whole_artifact() -> None:
    (record,) = records(Kind.ARTIFACT, **FULL)
    assert (record.collection, record.record_id) == (names.ARTIFACTS, "artifact_1")
    expected = STANDARD | PRIVACY | FILTERS | OURS | OF_SOURCE | {"content_hash", "is_chunked", "num_chunks"}
    assert record.metadata.keys() >= expected | {"ingested_at"}
    assert (record.metadata["is_chunked"], record.metadata["num_chunks"]) == (False, 0)
    assert record.metadata["participants"] == ["a@example.com", "b@example.com"]


def test_a_cut_artifact_has_chunks_and_a_parent() -> None:
    first, second, parent = records(Kind.ARTIFACT, chunks=2, **FULL)
    assert first.record_id.startswith("artifact_1::chunk::000::")
    assert second.collection == "artifact_chunks"
    place = {"artifact_id", "chunk_index", "start_char", "end_char", "content_hash"}
    assert second.metadata.keys() >= STANDARD | PRIVACY | FILTERS | OURS | OF_SOURCE | place
    assert second.metadata["chunk_index"] == 1
    assert "is_chunked" not in second.metadata
    assert (parent.collection, parent.record_id, parent.document) == (names.ARTIFACTS, "artifact_1", "")
    assert (parent.metadata["is_chunked"], parent.metadata["num_chunks"]) == (True, 2)
    assert parent.metadata["token_count"] == 2
    assert "chunk_key" not in parent.metadata


@pytest.mark.parametrize(
    ("kind", "collection"),
    [(Kind.MEMORY, "memory"), (Kind.TURN, "history"), (Kind.NOTE, "notes"), (Kind.EVENT, "notes")],
)
def test_other_long_notes_are_cut_within_their_collection(kind: Kind, collection: str) -> None:
    found = records(kind, chunks=2)
    assert [record.collection for record in found] == [collection] * 2
    assert found[1].record_id.startswith(f"{kind}_1::chunk::001::")
    assert found[1].metadata["start_char"] == 10


def test_what_is_empty_is_left_out() -> None:
    (record,) = records(Kind.ARTIFACT)
    assert not record.metadata.keys() & {"participants", "title", "confidence", "source_url", "conversation_id", "type"}
    assert all(value not in (None, []) for value in record.metadata.values())
    assert record.metadata["has_confidence"] is False


def test_what_never_expires_expires_after_everything_else() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    (never,), (late,) = records(Kind.MEMORY), records(Kind.MEMORY, expires_at=last)
    assert never.metadata["expires_epoch"] == NEVER
    assert late.metadata["expires_epoch"] == pytest.approx(last.timestamp())


def test_numbers_that_are_compared_are_floats() -> None:
    (record,) = records(Kind.MEMORY, confidence=1)
    assert [type(record.metadata[name]) for name in ("confidence", "ts_epoch", "expires_epoch")] == [float] * 3


def test_other_tenants_ids_carry_their_tenant() -> None:
    (record,) = records(Kind.MEMORY, tenant="acme")
    assert record.record_id == "acme\x1fmemory_1"


def test_what_is_gone_has_no_records() -> None:
    assert records_of(a_removal(1, 2), MODEL, "store") == []
    deleted = replace(a_note(1), status=Status.DELETED)
    assert records_of(IndexOp(deleted.note_id, 2, deleted), MODEL, "store") == []
