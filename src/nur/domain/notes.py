"""Notes: the one record type that memories, turns, artifacts, notes and events share."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NewType, get_args
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

NoteId = NewType("NoteId", UUID)
ChunkKey = NewType("ChunkKey", int)  #: a chunk's integer key: the row id of its lexical and index records


class Kind(StrEnum):
    """What a note is."""

    MEMORY = "memory"
    TURN = "turn"
    ARTIFACT = "artifact"
    NOTE = "note"
    EVENT = "event"


class Status(StrEnum):
    """Whether a note is in use or in the trash."""

    ACTIVE = "active"
    DELETED = "deleted"  #: in the trash: its text is kept, but no search finds it


class Sensitivity(StrEnum):
    """How private a note is."""

    NORMAL = "normal"
    SENSITIVE = "sensitive"
    HIGHLY_SENSITIVE = "highly_sensitive"


class Visibility(StrEnum):
    """Who may see a note."""

    ME = "me"
    TEAM = "team"
    ORG = "org"
    CUSTOM = "custom"


class Retention(StrEnum):
    """How long a note is kept."""

    FOREVER = "forever"
    ONE_YEAR = "1y"
    UNTIL_RESOLVED = "until_resolved"
    CUSTOM = "custom"


#: Maximum length of a note's text.
MAX_CHARACTERS = 10_000_000
MemoryType = Literal["preference", "fact", "project", "decision"]
ArtifactType = Literal["email", "doc", "chat", "transcript", "note"]
MEMORY_TYPES: tuple[str, ...] = get_args(MemoryType)
ARTIFACT_TYPES: tuple[str, ...] = get_args(ArtifactType)
#: Visible to other principals of the tenant.
SHARED = frozenset({Visibility.TEAM, Visibility.ORG})


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteMetadata:
    """What callers state about a note besides its text. Fields that its kind does not use stay empty."""

    type: str | None = None  #: memory type, artifact type, or any type for notes and events
    confidence: float | None = None
    importance: float | None = None
    title: str | None = None
    author: str | None = None
    participants: tuple[str, ...] = ()
    source_system: str | None = None
    source_id: str | None = None
    source_url: str | None = None
    conversation_id: str | None = None
    turn_index: int | None = None
    role: str | None = None
    key: str | None = None  #: unique name within project, agent and scope
    project: str = ""
    agent: str = ""
    scope: str = ""
    sensitivity: Sensitivity = Sensitivity.NORMAL
    visibility: Visibility = Visibility.ME
    retention: Retention = Retention.FOREVER
    occurred_at: datetime | None = None  #: when it happened, UTC; None in a draft: the time it is first stored
    expires_at: datetime | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)  #: the client's own values, returned unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One stored note without its text, which may be long and is read separately."""

    note_id: NoteId
    public_id: str
    tenant: str
    owner: str
    kind: Kind
    meta: NoteMetadata
    content_hash: str
    token_count: int
    chunk_count: int
    chunking_version: str
    heading: bytes = b""  #: terms of its title or first line, for search (`retrieval.ranking.titles`)
    version: int  #: number of its current text, from 1
    revision: int  #: incremented by every change, from 1
    status: Status
    ingested_at: datetime  #: UTC
    updated_at: datetime  #: UTC
    deleted_at: datetime | None = None
    resolved_at: datetime | None = None

    @property
    def said_at(self) -> datetime:
        """When it was said or happened; if unknown, when it was stored."""
        return self.meta.occurred_at or self.ingested_at

    def changed_since(self, moment: datetime) -> bool:
        """Whether it got its text after that moment."""
        return self.ingested_at > moment

    @property
    def is_chunked(self) -> bool:
        """Whether it has more than one chunk."""
        return self.chunk_count > 1
