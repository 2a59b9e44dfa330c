"""Chunks: the slices of a note that search finds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

if TYPE_CHECKING:
    from nur.domain.notes import ChunkKey, NoteId


def sha256(text: str) -> str:
    """Return the content hash used everywhere: hex SHA-256 of the UTF-8 text."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of one note: `content == note.text[start_char:end_char]`."""

    index: int  #: position in the note, from 0
    content: str
    start_char: int  #: code points, never bytes: clients slice str
    end_char: int  #: exclusive
    token_count: int  #: tokens in this slice, when the whole text is tokenised at once
    context: str = ""  #: heading path above the slice; searched with it, but not part of its content

    @property
    def searchable(self) -> str:
        """The text that is analysed and embedded: the heading path, then the content."""
        return f"{self.context}\n{self.content}" if self.context else self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk read from the store."""

    chunk_key: ChunkKey
    note_id: NoteId
    chunk: Chunk
    content_hash: str
    has_vector: bool
    pieces: bytes = b""  #: its encoded pieces; only `VectorStore.missing` fills this and `note_text`
    note_text: str = ""


def chunk_public_id(public_id: str, index: int, content_hash: str) -> str:
    """Return `{public id}::chunk::{index:03d}::{8 hex}`; deterministic."""
    return f"{public_id}::chunk::{index:03d}::{content_hash[:8]}"


def chunk_uuid(note_id: UUID, index: int, content_hash: str) -> UUID:
    """Return the chunk's internal key, derived from its note, index and text."""
    return uuid5(note_id, f"{index}:{content_hash}")
