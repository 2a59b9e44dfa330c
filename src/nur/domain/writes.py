"""What a write asks for and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from nur.domain.chunks import chunk_public_id

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.decisions import Relation
    from nur.domain.notes import Kind, Note, NoteMetadata, Retention, Sensitivity, Visibility


class Outcome(StrEnum):
    """What a write did."""

    CREATED = "created"
    UNCHANGED = "unchanged"
    METADATA_UPDATED = "metadata_updated"
    REPLACED = "replaced"


class IndexState(StrEnum):
    """Whether the vector index holds a write. Either way the note is found at once."""

    INDEXED = "indexed"
    PENDING = "pending"


class OnEmbeddingFailure(StrEnum):
    """What happens to a write when the embedding provider does not answer."""

    REJECT = "reject"  #: nothing is written
    DEFER = "defer"  #: written, found by its words, embedded when the provider is back
    LATER = "later"  #: the provider is not even asked: the worker embeds


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """What a caller states about who may see a note and how long it is kept; None: nothing."""

    sensitivity: Sensitivity | None = None
    visibility: Visibility | None = None
    retention: Retention | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A note to be stored."""

    kind: Kind
    text: str
    meta: NoteMetadata  #: its protection is filled in by `ProtectionRules` from what is stated
    stated: Protection
    content_hash: str  #: of the text
    ingested_at: datetime | None = None  #: None: now, unless it is a note whose text stays


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Another note with nearly the same content. It is reported, never merged."""

    public_id: str
    similarity: float  #: cosine of the notes' own vectors
    best_chunk: float  #: highest cosine of a chunk of one and a chunk of the other


@dataclass(frozen=True, slots=True)
class SimilarMemory:
    """A stored memory that is nearly the same as a new one, or says something else about the same thing."""

    public_id: str
    relation: Relation
    text: str
    said_at: datetime
    review_id: str  #: under which the pair waits for a decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What came of a write: the note as it is now."""

    note: Note
    outcome: Outcome
    index_state: IndexState
    chunk_ids: tuple[str, ...] = ()  #: public ids of the chunks; empty for a whole note
    similar: tuple[SimilarMemory, ...] = ()  #: of a memory whose text is new: what waits to be reviewed

    @property
    def stored_ids(self) -> list[str]:
        """The note's id, then its chunks'."""
        return [self.note.public_id, *self.chunk_ids]


def public_chunk_ids(note: Note, content_hashes: list[str]) -> tuple[str, ...]:
    """The chunks' public ids; none for a whole note, which is its own only chunk."""
    if not note.is_chunked:
        return ()
    return tuple(chunk_public_id(note.public_id, i, content_hash) for i, content_hash in enumerate(content_hashes))
