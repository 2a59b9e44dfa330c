"""What is written to the ledger and read from it: notes with their chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nur.domain.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.chunks import Chunk
    from nur.domain.notes import ChunkKey, Note, NoteId, Visibility
    from nur.ports.embedder import Floats

#: Characters that are seen of a text at a glance: a speaker's name and the colon behind it stand there.
OPENING = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChunk:
    """A chunk to write, with everything that is stored beside it."""

    chunk: Chunk
    terms: str  #: its lexical row: analysed terms, in lower case, with spaces between
    term_count: int
    profile: bytes  #: what scoring needs of it (`retrieval.profiles`)
    sentences: bytes = b""  #: what passages need of it (`retrieval.sentence_maps`)
    vector: Floats | None = None  #: None: to be embedded later


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteWrite:
    """One write, whole: either all of it is committed or none."""

    note: Note  #: as it shall be
    replaces: int | None  #: the revision it builds on; None for a note that is new
    text: str | None = None  #: None: text and chunks stay as they are
    chunks: Sequence[NewChunk] = ()
    pooled: Floats | None = None
    embedding_version: str = ""
    indexed: bool = False  #: the index follows commits and every chunk has its vector: no outbox row is needed
    action: str = "store"  #: for the audit log
    principal: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """What a write left behind."""

    note: Note
    chunk_keys: Sequence[ChunkKey]  #: of the chunks written, in order; empty when the text stayed


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk as it stands in the ledger."""

    chunk_key: ChunkKey
    note_id: NoteId
    chunk: Chunk
    content_hash: str
    profile: bytes
    has_vector: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkWithNote:
    """A chunk that may be shown, re-read with its note."""

    stored: StoredChunk
    note: Note
    sentences: bytes = b""  #: what passages need of it; only `candidates` reads this


class ScoringView(NamedTuple):
    """A chunk as ranking sees it: its terms and its place, but no text. A search looks at hundreds and shows five."""

    chunk_key: ChunkKey
    chunk_index: int
    content_hash: str
    characters: int
    profile: bytes
    opening: str  #: its first characters, where a speaker is named
    note_id: NoteId
    public_id: str
    tenant: str
    owner: str
    visibility: Visibility
    kind: Kind
    chunk_count: int
    heading: bytes
    role: str | None
    conversation_id: str | None
    turn_index: int | None

    @classmethod
    def of(cls, stored: StoredChunk, note: Note) -> ScoringView:
        """What is seen at a glance of a chunk that was read whole."""
        return cls(
            chunk_key=stored.chunk_key,
            chunk_index=stored.chunk.index,
            content_hash=stored.content_hash,
            characters=len(stored.chunk.content),
            profile=stored.profile,
            opening=stored.chunk.content[:OPENING],
            note_id=note.note_id,
            public_id=note.public_id,
            tenant=note.tenant,
            owner=note.owner,
            visibility=note.meta.visibility,
            kind=note.kind,
            chunk_count=note.chunk_count,
            heading=note.heading,
            role=note.meta.role,
            conversation_id=note.meta.conversation_id,
            turn_index=note.meta.turn_index,
        )

    @property
    def is_chunked(self) -> bool:
        """Whether its note was cut."""
        return self.chunk_count > 1

    @property
    def place(self) -> tuple[str, int] | None:
        """Where a turn stands in its conversation; None for everything else."""
        if self.kind is not Kind.TURN or self.conversation_id is None or self.turn_index is None:
            return None
        return self.conversation_id, self.turn_index
