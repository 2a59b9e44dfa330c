"""Write requests and their results."""

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
    """Whether the vector index has a written note. Either way search finds the note at once."""

    INDEXED = "indexed"
    PENDING = "pending"


class OnEmbeddingFailure(StrEnum):
    """What happens to a write when the embedding provider does not answer."""

    REJECT = "reject"  #: nothing is written
    DEFER = "defer"  #: written and found by its words; embedded when the provider is back
    LATER = "later"  #: written without calling the provider; the worker embeds it


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """Privacy and retention as stated by the caller; None: not stated."""

    sensitivity: Sensitivity | None = None
    visibility: Visibility | None = None
    retention: Retention | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A note to be stored."""

    kind: Kind
    text: str
    meta: NoteMetadata  #: `ProtectionRules` fills in its privacy and retention from `stated`
    stated: Protection
    content_hash: str  #: hash of `text`
    ingested_at: datetime | None = None  #: None: now, or the existing note's time if its text does not change


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Another note with nearly the same content. It is reported, never merged."""

    public_id: str
    similarity: float  #: cosine of the two notes' pooled vectors
    best_chunk: float  #: highest cosine between a chunk of one note and a chunk of the other


@dataclass(frozen=True, slots=True)
class SimilarMemory:
    """A stored memory that nearly repeats a new one, or gives another value for the same thing."""

    public_id: str
    relation: Relation
    text: str
    said_at: datetime
    review_id: str  #: public id of the pair, which awaits a decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Result of a write, with the note as it is now."""

    note: Note
    outcome: Outcome
    index_state: IndexState
    chunk_ids: tuple[str, ...] = ()  #: public ids of the chunks; empty for a note with one chunk
    similar: tuple[SimilarMemory, ...] = ()  #: for a new memory text: stored memories to review with it
    near_duplicates: tuple[NearDuplicate, ...] | None = None  #: None: not searched for

    @property
    def stored_ids(self) -> list[str]:
        """The note's public id, then those of its chunks."""
        return [self.note.public_id, *self.chunk_ids]


def public_chunk_ids(note: Note, content_hashes: list[str]) -> tuple[str, ...]:
    """Return the chunks' public ids; empty for a note with one chunk, which goes by the note's id."""
    if not note.is_chunked:
        return ()
    return tuple(chunk_public_id(note.public_id, i, content_hash) for i, content_hash in enumerate(content_hashes))
