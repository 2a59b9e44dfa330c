"""What is written to the ledger and read from it: notes with their chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.chunks import Chunk
    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.embedder import Floats


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
class Candidate:
    """A chunk that may be shown, re-read with its note."""

    stored: StoredChunk
    note: Note
