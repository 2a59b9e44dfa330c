"""Notes: everything stored is one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NewType
from uuid import UUID, uuid4

from nur.domain.chunks import sha256

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
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
    """Where a note is in its life."""

    ACTIVE = "active"
    DELETED = "deleted"  #: in the trash: text kept, found by nothing


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


MEMORY_TYPES = ("preference", "fact", "project", "decision")
ARTIFACT_TYPES = ("email", "doc", "chat", "transcript", "note")
ROLES = ("user", "assistant", "system")

DEFAULT_TENANT = "default"
LOCAL_PRINCIPAL = "local"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: a token's holder, or `local` when there are no tokens."""

    name: str = LOCAL_PRINCIPAL
    tenant: str = DEFAULT_TENANT


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteMetadata:
    """Everything about a note that is neither its text nor its bookkeeping; what its kind lacks stays empty."""

    type: str | None = None  #: memory type, artifact type or a note's own
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
    key: str | None = None  #: a note's name within project, agent and scope
    project: str = ""
    agent: str = ""
    scope: str = ""
    sensitivity: Sensitivity = Sensitivity.NORMAL
    visibility: Visibility = Visibility.ME
    retention: Retention = Retention.FOREVER
    occurred_at: datetime | None = None  #: when it happened, UTC; None in a draft: when it is first stored
    expires_at: datetime | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)  #: the client's own, given back as it came


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One stored note, as the ledger holds it; its text, which may be long, is asked for separately."""

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
    heading: bytes = b""  #: terms of its title or first line, for search (`retrieval.headings`)
    version: int  #: counts texts, from 1
    revision: int  #: counts changes of any sort, from 1
    status: Status
    ingested_at: datetime  #: UTC
    updated_at: datetime  #: UTC
    deleted_at: datetime | None = None
    resolved_at: datetime | None = None

    @property
    def identity(self) -> str:
        """What makes two writes the same note."""
        return identity(self.kind, self.owner, self.meta, self.content_hash)

    @property
    def is_chunked(self) -> bool:
        """Whether the text was cut: a whole note has one chunk and is not called chunked."""
        return self.chunk_count > 1


def identity(kind: Kind, owner: str, meta: NoteMetadata, content_hash: str) -> str:
    """What makes two writes the same note; unique among a tenant's active notes.

    A turn's place, a key, or the source id of an artifact or a note where there is one, else the text itself, an
    event's with its time. The first part names the kind: notes of different kinds are never the same. JSON keeps the
    parts apart: ("a:b", "c") and ("a", "b:c") differ.
    """
    if kind is Kind.TURN:
        return turn_identity(meta.conversation_id, meta.turn_index)
    parts: list[str | None]
    if kind is Kind.ARTIFACT and meta.source_id is not None:
        parts = ["artifact source", meta.source_system, meta.source_id]
    elif kind is Kind.ARTIFACT:
        parts = ["artifact text", content_hash]
    elif meta.key is not None:
        parts = [f"{kind} key", meta.project, meta.agent, meta.scope, meta.key]
    elif kind is Kind.NOTE and meta.source_id is not None:  # events and memories: one source may have many
        parts = ["note source", meta.source_system, meta.source_id]
    elif kind is Kind.EVENT:  # what happens twice is two events
        happened = None if meta.occurred_at is None else meta.occurred_at.isoformat()
        parts = ["event text", owner, meta.project, meta.agent, meta.scope, happened, content_hash]
    else:
        parts = [f"{kind} text", owner, meta.project, meta.agent, meta.scope, content_hash]
    return json.dumps(parts, ensure_ascii=False)


def turn_identity(conversation_id: str | None, turn_index: int | None) -> str:
    """The identity of the turn at a place in a conversation."""
    return json.dumps(["turn", conversation_id, turn_index], ensure_ascii=False)


#: Kinds whose public id says something about what is stored: a conversation's name, a hash of the source or the text.
TELLING_IDS = frozenset({Kind.TURN, Kind.ARTIFACT})


def public_ids(note: Note) -> Iterator[str]:
    """Public ids to try for a new note, best first."""
    meta = note.meta
    if note.kind is Kind.TURN:
        yield f"{meta.conversation_id}_turn_{meta.turn_index}"
    elif note.kind is Kind.ARTIFACT:
        # 8 hex digits collide for half of all stores of 77,000 artifacts: whoever comes second gets a longer id.
        name = f"{meta.source_system}:{meta.source_id}"
        if note.tenant != DEFAULT_TENANT:
            name = f"{note.tenant}:{name}"
        digest = sha256(name) if meta.source_id is not None else note.content_hash
        yield from (f"art_{digest[:length]}" for length in range(8, 65, 4))
    else:
        prefix = {Kind.MEMORY: "mem", Kind.NOTE: "note", Kind.EVENT: "evt"}[note.kind]
        while True:
            yield f"{prefix}_{uuid4().hex[:12]}"
