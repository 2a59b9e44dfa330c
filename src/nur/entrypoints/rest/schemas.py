"""Response models of notes, and the parameters of listings."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from nur.domain.chunks import StoredChunk, chunk_public_id
from nur.domain.notes import Kind, Note, Retention, Sensitivity, Visibility
from nur.domain.search import Passage
from nur.domain.times import Grain, TimeMention
from nur.domain.writes import NearDuplicate
from nur.entrypoints.rest.fields import Source

Limit = Annotated[int, Query(ge=1, le=200)]
Cursor = Annotated[str | None, Query(max_length=400, description="next_cursor of the previous page")]
NextCursor = Annotated[str | None, Field(description="send it as `cursor` for the next page; null at the end")]
#: Characters of a note's text that a listing shows.
PREVIEW = 200


class NearDuplicateOut(BaseModel):
    """Another note with nearly the same content."""

    note_id: str
    similarity: float = Field(description="cosine of the two notes' pooled vectors")
    best_chunk: float = Field(description="highest cosine between a chunk of one note and a chunk of the other")

    @classmethod
    def of(cls, near: NearDuplicate) -> "NearDuplicateOut":
        """Build it from the service's result."""
        return cls(note_id=near.public_id, similarity=near.similarity, best_chunk=near.best_chunk)


class ChunkOut(BaseModel):
    """A chunk: `text == note.text[start_char:end_char]`, in code points."""

    chunk_id: str
    chunk_index: int
    start_char: int
    end_char: int
    token_count: int
    text: str
    embedded: bool

    @classmethod
    def of(cls, note: Note, stored: StoredChunk) -> "ChunkOut":
        """Build it from the stored chunk."""
        chunk = stored.chunk
        return cls(
            chunk_id=chunk_public_id(note.public_id, chunk.index, stored.content_hash),
            chunk_index=chunk.index,
            start_char=chunk.start_char,
            end_char=chunk.end_char,
            token_count=chunk.token_count,
            text=chunk.content,
            embedded=stored.has_vector,
        )


class NoteOut(BaseModel):
    """A stored note."""

    note_id: str
    kind: Kind
    tenant: str
    owner: str
    type: str | None
    key: str | None
    title: str | None
    text: str | None = Field(default=None, description="the whole text, if requested")
    preview: str | None = Field(default=None, description="the first characters of the text, in listings")
    project: str
    agent: str
    scope: str
    importance: float | None
    confidence: float | None
    source: Source
    author: str | None
    participants: list[str]
    conversation_id: str | None
    turn_index: int | None
    role: str | None
    sensitivity: Sensitivity
    visibility_scope: Visibility
    retention_policy: Retention
    status: Literal["active", "deleted"]
    version: int = Field(description="number of its current text, from 1")
    revision: int = Field(description="incremented by every change; also the ETag")
    content_hash: str
    token_count: int
    chunk_count: int
    chunking_version: str
    occurred_at: datetime | None
    ingested_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    resolved_at: datetime | None
    deleted_at: datetime | None
    replaced_by: str | None = Field(default=None, description="id of the note that supersedes it")
    metadata: dict[str, Any]
    index_state: Literal["indexed", "pending"] | None = Field(
        default=None, description="only for a single note; pending: the worker still has to embed or index it"
    )
    chunks: list[ChunkOut] | None = None
    near_duplicates: list[NearDuplicateOut] | None = None

    @classmethod
    def of(cls, note: Note, **more: Any) -> "NoteOut":
        """Build it from the domain object; pass the text and other optional fields by name."""
        meta = note.meta
        return cls(
            note_id=note.public_id,
            kind=note.kind,
            tenant=note.tenant,
            owner=note.owner,
            type=meta.type,
            key=meta.key,
            title=meta.title,
            project=meta.project,
            agent=meta.agent,
            scope=meta.scope,
            importance=meta.importance,
            confidence=meta.confidence,
            source=Source.model_construct(system=meta.source_system, id=meta.source_id, url=meta.source_url),
            author=meta.author,
            participants=list(meta.participants),
            conversation_id=meta.conversation_id,
            turn_index=meta.turn_index,
            role=meta.role,
            sensitivity=meta.sensitivity,
            visibility_scope=meta.visibility,
            retention_policy=meta.retention,
            status=note.status.value,
            version=note.version,
            revision=note.revision,
            content_hash=note.content_hash,
            token_count=note.token_count,
            chunk_count=note.chunk_count,
            chunking_version=note.chunking_version,
            occurred_at=meta.occurred_at,
            ingested_at=note.ingested_at,
            updated_at=note.updated_at,
            expires_at=meta.expires_at,
            resolved_at=note.resolved_at,
            deleted_at=note.deleted_at,
            metadata=dict(meta.metadata),
            **more,
        )


class TimeOut(BaseModel):
    """A time that a passage names, as days in NUR_TIMEZONE."""

    quote: str
    first: date = Field(serialization_alias="from")
    last: date = Field(serialization_alias="to", description="inclusive")
    grain: Grain
    anchor: Literal["said", "absolute"] = Field(description="said: relative to `ts`")
    start_char: int
    end_char: int

    @classmethod
    def of(cls, passage: Passage, one: TimeMention) -> "TimeOut":
        """Build it from the service's result."""
        return cls(
            quote=passage.quote(one),
            first=one.window.first,
            last=one.window.last,
            grain=one.window.grain,
            anchor="said" if one.is_relative else "absolute",
            start_char=one.start_char,
            end_char=one.end_char,
        )
