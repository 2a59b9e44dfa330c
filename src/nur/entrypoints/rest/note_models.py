"""Bodies of the note routes."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from nur.domain.notes import Description, Kind, Note, Retention, Sensitivity, Visibility
from nur.domain.writes import IndexState, NearDuplicate, Stored
from nur.entrypoints.rest.fields import (
    Body,
    Days,
    Key,
    Metadata,
    Moment,
    Name,
    Share,
    Source,
    Text,
    Title,
)

_EXAMPLE: JsonDict = {
    "text": "The staging database moves to port 5433 on Monday.",
    "type": "fact",
    "key": "staging-port",
    "project": "infra",
    "importance": 0.7,
    "source": {"system": "slack", "id": "C042/1718", "url": "https://example.com/C042/1718"},
    "ttl_days": 90,
}


class NoteIn(Body):
    """A note to store."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    text: Text
    type: Name | None = Field(default=None, description="your own word for what it is")
    key: Key | None = Field(
        default=None, description="its name within project, agent and scope: stored again, replaced"
    )
    title: Title | None = None
    project: Name = ""
    agent: Name = ""
    scope: Name = ""
    importance: Share | None = None
    confidence: Share | None = None
    ttl_days: Days | None = None
    expires_at: Moment | None = Field(default=None, description="not together with ttl_days")
    occurred_at: Moment | None = Field(default=None, description="when it happened; else now")
    source: Source = Field(default_factory=Source)
    sensitivity: Sensitivity = Sensitivity.NORMAL
    visibility_scope: Visibility = Visibility.ME
    retention_policy: Retention = Retention.FOREVER
    metadata: Metadata = Field(default_factory=dict)

    def description(self) -> Description:
        """As the services speak of it."""
        return Description(
            type=self.type,
            key=self.key,
            title=self.title,
            project=self.project,
            agent=self.agent,
            scope=self.scope,
            importance=self.importance,
            confidence=self.confidence,
            expires_at=self.expires_at,
            occurred_at=self.occurred_at,
            source_system=self.source.system,
            source_id=self.source.id,
            source_url=self.source.url,
            sensitivity=self.sensitivity,
            visibility=self.visibility_scope,
            retention=self.retention_policy,
            metadata=self.metadata,
        )


class EventIn(NoteIn):
    """Something that happened; the same text at another time is another event."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": "Deployed build 812 to production.", "type": "deploy", "agent": "ci", "importance": 0.4}
            ]
        }
    )


class MemoryIn(Body):
    """A memory to store, as `memory_store` does."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": "Prefers tea to coffee.", "type": "preference", "confidence": 0.9}]}
    )

    content: Text
    type: Literal["preference", "fact", "project", "decision"] = "fact"
    confidence: Share = 1.0
    conversation_id: Key | None = None


class NotePatch(Body):
    """What is to change; what is left out stays, null clears."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Staging port", "resolved": True}]})

    text: Text | None = Field(default=None, description="notes, events and memories alone; null: stays")
    type: Name | None = None
    key: Key | None = Field(default=None, description="notes and events alone")
    title: Title | None = None
    importance: Share | None = None
    confidence: Share | None = None
    ttl_days: Days | None = None
    expires_at: Moment | None = None
    source: Source | None = Field(default=None, description="replaced as a whole")
    sensitivity: Sensitivity | None = Field(default=None, description="null: normal")
    visibility_scope: Visibility | None = Field(default=None, description="null: me")
    retention_policy: Retention | None = Field(default=None, description="null: forever")
    metadata: Metadata | None = Field(default=None, description="replaced as a whole")
    resolved: bool | None = Field(
        default=None, description="a note with until_resolved goes to the trash when it is resolved"
    )

    def fields(self) -> dict[str, Any]:
        """The fields of the description that were sent; null is what a new note has."""
        plain = self.model_fields_set & {"type", "key", "title", "importance", "confidence", "expires_at"}
        found = {name: getattr(self, name) for name in plain}
        source = self.source or Source()
        full: dict[str, dict[str, Any]] = {
            "source": {"source_system": source.system, "source_id": source.id, "source_url": source.url},
            "sensitivity": {"sensitivity": self.sensitivity or Sensitivity.NORMAL},
            "visibility_scope": {"visibility": self.visibility_scope or Visibility.ME},
            "retention_policy": {"retention": self.retention_policy or Retention.FOREVER},
            "metadata": {"metadata": self.metadata or {}},
        }
        for name in self.model_fields_set & full.keys():
            found |= full[name]
        return found


class NearDuplicateOut(BaseModel):
    """Another note that says nearly the same."""

    note_id: str
    similarity: float = Field(description="cosine of the notes' own vectors")
    best_chunk: float = Field(description="highest cosine of a chunk of one and a chunk of the other")

    @classmethod
    def of(cls, near: NearDuplicate) -> "NearDuplicateOut":
        """From the service's."""
        return cls(note_id=near.public_id, similarity=near.similarity, best_chunk=near.best_chunk)


class Receipt(BaseModel):
    """What came of a write. Acknowledged is committed and fsynced; found by its words from now on."""

    note_id: str = Field(examples=["note_0123456789ab"])
    operation: Literal["created", "unchanged", "metadata_updated", "replaced"]
    index_state: Literal["indexed", "pending"] = Field(description="pending: the worker has still to embed or index it")
    revision: int
    version: int
    chunk_count: int
    near_duplicates: list[NearDuplicateOut] | None = Field(
        default=None, description="null until the note is indexed; ask with wait=indexed"
    )

    @classmethod
    def of(cls, stored: Stored, state: IndexState | None = None, near: list[NearDuplicate] | None = None) -> "Receipt":
        """From the service's."""
        return cls(
            note_id=stored.note.public_id,
            operation=stored.outcome.value,
            index_state=(state or stored.index_state).value,
            revision=stored.note.revision,
            version=stored.note.version,
            chunk_count=stored.note.chunk_count,
            near_duplicates=None if near is None else [NearDuplicateOut.of(one) for one in near],
        )


class ChunkOut(BaseModel):
    """A chunk: `text == note.text[start_char:end_char]`, in code points."""

    chunk_id: str
    chunk_index: int
    start_char: int
    end_char: int
    token_count: int
    text: str
    embedded: bool


class NoteOut(BaseModel):
    """A stored note."""

    note_id: str
    kind: Kind
    tenant: str
    owner: str
    type: str | None
    key: str | None
    title: str | None
    text: str | None = Field(default=None, description="the whole text, where it was asked for")
    preview: str | None = Field(default=None, description="its beginning, in listings")
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
    version: int = Field(description="counts texts")
    revision: int = Field(description="counts changes of any sort; the ETag")
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
    metadata: dict[str, Any]
    chunks: list[ChunkOut] | None = None
    near_duplicates: list[NearDuplicateOut] | None = None

    @classmethod
    def of(cls, note: Note, **more: Any) -> "NoteOut":
        """From the domain's; the text and other long parts come by name."""
        about = note.about
        return cls(
            note_id=note.public_id,
            kind=note.kind,
            tenant=note.tenant,
            owner=note.owner,
            type=about.type,
            key=about.key,
            title=about.title,
            project=about.project,
            agent=about.agent,
            scope=about.scope,
            importance=about.importance,
            confidence=about.confidence,
            source=Source.model_construct(system=about.source_system, id=about.source_id, url=about.source_url),
            author=about.author,
            participants=list(about.participants),
            conversation_id=about.conversation_id,
            turn_index=about.turn_index,
            role=about.role,
            sensitivity=about.sensitivity,
            visibility_scope=about.visibility,
            retention_policy=about.retention,
            status=note.status.value,
            version=note.version,
            revision=note.revision,
            content_hash=note.content_hash,
            token_count=note.token_count,
            chunk_count=note.chunk_count,
            chunking_version=note.chunking_version,
            occurred_at=about.occurred_at,
            ingested_at=note.ingested_at,
            updated_at=note.updated_at,
            expires_at=about.expires_at,
            resolved_at=note.resolved_at,
            deleted_at=note.deleted_at,
            metadata=dict(about.metadata),
            **more,
        )


class NotePage(BaseModel):
    """A page of a listing, newest first."""

    notes: list[NoteOut]
    next_cursor: str | None = Field(description="send it as `cursor` for the next page; null at the end")
