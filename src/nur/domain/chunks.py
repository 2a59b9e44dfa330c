"""Chunks: the slices of a note that search finds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

if TYPE_CHECKING:
    from nur.domain.notes import ChunkKey, NoteId


def sha256(text: str) -> str:
    """The content hash used everywhere: hex SHA-256 of the UTF-8 text."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of one note: `content == note.text[start_char:end_char]`."""

    index: int  #: place in the note, from 0
    content: str
    start_char: int  #: code points, never bytes: clients slice str
    end_char: int  #: not included
    token_count: int  #: tokens of the whole text's tokenisation that lie in this slice
    context: str = ""  #: what the slice stands under (a heading path); helps search, is not part of the slice

    @property
    def searchable(self) -> str:
        """What is analysed and embedded: the content, under the headings it stands under."""
        return f"{self.context}\n{self.content}" if self.context else self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk as it is stored."""

    chunk_key: ChunkKey
    note_id: NoteId
    chunk: Chunk
    content_hash: str
    has_vector: bool
    pieces: bytes = b""  #: its pieces as stored, and the text that they are of; only `VectorStore.missing` fills these
    note_text: str = ""


def chunk_public_id(public_id: str, index: int, content_hash: str) -> str:
    """`{public id}::chunk::{index:03d}::{8 hex}`: the same input always gives the same id."""
    return f"{public_id}::chunk::{index:03d}::{content_hash[:8]}"


def chunk_uuid(note_id: UUID, index: int, content_hash: str) -> UUID:
    """The chunk's internal key: the same place and text in the same note is the same chunk."""
    return uuid5(note_id, f"{index}:{content_hash}")
