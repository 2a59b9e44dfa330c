"""Chunk rows in a dictionary, each with its vectors and beside its lexical row."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.in_memory.lexical_index import InMemoryLexicon
from nur.domain.notes import ChunkKey, Note, NoteId
from nur.ports.ledger import StoredChunk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nur.domain.chunks import Chunk
    from nur.ports.embedder import Floats
    from nur.ports.ledger import NewChunk, NoteWrite


@dataclass(slots=True)
class ChunkRow:
    """A chunk and what is kept with it."""

    chunk_key: ChunkKey
    note_id: NoteId
    chunk: Chunk
    profile: bytes
    sentences: bytes
    term_count: int
    indexed_revision: int | None  #: the revision that the vector index holds
    vectors: dict[str, Floats] = field(default_factory=dict)  #: by embedding version

    def stored(self) -> StoredChunk:
        """As the port speaks of it."""
        return StoredChunk(
            chunk_key=self.chunk_key,
            note_id=self.note_id,
            chunk=self.chunk,
            content_hash=self.chunk.content_hash,
            profile=self.profile,
            has_vector=bool(self.vectors),
        )


class InMemoryChunks:
    """The chunks of all active notes."""

    def __init__(self) -> None:
        self.lexical_index = InMemoryLexicon()
        self._rows: dict[ChunkKey, ChunkRow] = {}  #: in the order of keys
        self._keys = count(1)  #: a key is never used twice

    def __iter__(self) -> Iterator[ChunkRow]:
        return iter(self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: ChunkKey) -> ChunkRow:
        return self._rows[key]

    def among(self, keys: Sequence[ChunkKey]) -> list[ChunkRow]:
        """Those that are there."""
        return [self._rows[key] for key in dict.fromkeys(keys) if key in self._rows]

    def of(self, note_id: NoteId) -> list[ChunkRow]:
        """A note's chunks, in order."""
        return sorted((row for row in self if row.note_id == note_id), key=lambda row: row.chunk.index)

    def with_vector(self, embedding_version: str) -> list[ChunkRow]:
        """Chunks that have a vector of this version, by key."""
        return [row for row in self if embedding_version in row.vectors]

    def add(self, new: NewChunk, write: NoteWrite) -> ChunkKey:
        """Keep a chunk with its vector and its lexical row."""
        note, key = write.note, ChunkKey(next(self._keys))
        indexed = note.revision if write.indexed else None
        vectors = {} if new.vector is None else {write.embedding_version: frozen(new.vector)}
        self._rows[key] = ChunkRow(
            key, note.note_id, new.chunk, new.profile, new.sentences, new.term_count, indexed, vectors
        )
        self.lexical_index.add(key, new.terms)
        return key

    def drop(self, note_id: NoteId) -> None:
        """Forget a note's chunks and all that hangs on them."""
        for row in self.of(note_id):
            del self._rows[row.chunk_key]
            self.lexical_index.remove(row.chunk_key)

    def index_holds(self, note: Note) -> None:
        """Say that the vector index holds this revision."""
        for row in self.of(note.note_id):
            row.indexed_revision = note.revision


def frozen(vector: Floats) -> Floats:
    """A copy that nobody can change, as a database would give back."""
    copy = np.array(vector, dtype=np.float32)
    copy.setflags(write=False)
    return copy
