"""Notes, writes and queries for the tests of stores, small and complete."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from nur.domain.access import DEFAULT_TENANT, Principal, WriteContext
from nur.domain.chunks import Chunk, sha256
from nur.domain.derivations import Derivation, FingerprintBand
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind, Note, NoteId, NoteMetadata, Status
from nur.ports.chunks import CandidateQuery
from nur.ports.notes import NewChunk, NoteWrite
from nur.retrieval.pieces.vectors import pool
from tests.doubles.embedder import hashed_words

if TYPE_CHECKING:
    from nur.ports.embedder import Floats
    from nur.ports.stores import Stores

START = datetime(2026, 1, 1, tzinfo=UTC)
DIMENSIONS = 8
EMBEDDING = f"test:hashed-words:{DIMENSIONS}"
DERIVER = "fingerprint_bands"
OTHER_EMBEDDING = "test:other:3"
ALL = NoteFilter(tenant=DEFAULT_TENANT)


def after(seconds: float) -> datetime:
    """The time this many seconds after the start."""
    return START + timedelta(seconds=seconds)


def at(now: datetime = START, *, call_id: str = "call", tenant: str = DEFAULT_TENANT) -> WriteContext:
    """A write context: Ann writes at this time."""
    return WriteContext(Principal("ann", tenant), call_id, now)


def a_note(text: str = "Tea is drunk at four.", pieces: int = 1, **changes: Any) -> Note:
    """A memory with this text in this many chunks; any field of Note or NoteMetadata can be given."""
    meta = {name: changes.pop(name) for name in list(changes) if name in NoteMetadata.__dataclass_fields__}
    note_id = NoteId(uuid4())
    note = Note(
        note_id=note_id,
        public_id=f"mem_{note_id.hex[:12]}",
        tenant=DEFAULT_TENANT,
        owner="local",
        kind=Kind.MEMORY,
        meta=NoteMetadata(**meta),
        content_hash=sha256(text),
        token_count=len(text.split()),
        chunk_count=pieces,
        chunking_version="words",
        version=1,
        revision=1,
        status=Status.ACTIVE,
        ingested_at=START,
        updated_at=START,
    )
    return replace(note, **changes)


def a_turn(conversation: str, index: int, text: str = "Hello.", **changes: Any) -> Note:
    """A turn of a conversation."""
    place = {"conversation_id": conversation, "turn_index": index, "public_id": f"{conversation}_turn_{index}"}
    return a_note(text, kind=Kind.TURN, **{**place, **changes})


def vector_of(text: str) -> Floats:
    """A vector derived from the text."""
    return hashed_words(text, DIMENSIONS)


def chunks_of(text: str, pieces: int = 1, *, embedded: bool = True) -> list[NewChunk]:
    """Split the text into this many chunks, at spaces if possible, with their lower-case words as terms."""
    ideal = [round(len(text) * place / pieces) for place in range(1, pieces)]
    bounds = [0, *(max(bound, text.find(" ", bound)) for bound in ideal), len(text)]
    return [
        NewChunk(
            chunk=(chunk := Chunk(index, text[start:end], start, end, 1)),
            content_hash=sha256(chunk.content),
            terms=[" ".join(terms := words(chunk.content))],
            term_count=len(terms),
            pieces=pieces_of(chunk.content),
            atoms=f"atoms of {len(chunk.content)} characters".encode(),
            digest=" ".join(sorted(terms)).encode(),
            vector=vector_of(chunk.content) if embedded else None,
        )
        for index, (start, end) in enumerate(pairwise(bounds))
    ]


def pieces_of(text: str) -> bytes:
    """Placeholder for a chunk's pieces: bytes that the store keeps and never reads."""
    return f"pieces of {len(text)} characters".encode()


def words(text: str) -> list[str]:
    """The terms of lexical rows in these tests."""
    return text.lower().replace(".", " ").replace(",", " ").split()


def creation(
    note: Note, text: str = "Tea is drunk at four.", *, embedded: bool = True, indexed: bool = False
) -> NoteWrite:
    """The first write of a note."""
    return _with_text(note, text, None, embedded=embedded, indexed=indexed)


def replacement(
    existing: Note, text: str, pieces: int = 1, *, embedded: bool = True, indexed: bool = False
) -> NoteWrite:
    """A write that replaces the note's text; a deleted note is restored."""
    note = replace(
        existing,
        content_hash=sha256(text),
        chunk_count=pieces,
        version=existing.version + 1,
        revision=existing.revision + 1,
        status=Status.ACTIVE,
        deleted_at=None,
    )
    return _with_text(note, text, existing.revision, embedded=embedded, indexed=indexed)


def description(existing: Note, *, indexed: bool = False, **meta: Any) -> NoteWrite:
    """A write that changes the metadata but not the text."""
    note = replace(existing, meta=replace(existing.meta, **meta), revision=existing.revision + 1)
    return NoteWrite(note=note, replaces=existing.revision, indexed=indexed, action="update")


def _with_text(note: Note, text: str, replaces: int | None, *, embedded: bool, indexed: bool) -> NoteWrite:
    chunks = chunks_of(text, note.chunk_count, embedded=embedded)
    return NoteWrite(
        note=note,
        replaces=replaces,
        text=text,
        chunks=chunks,
        pooled=pool([vector_of(new.chunk.content) for new in chunks]) if embedded else None,
        embedding_version=EMBEDDING,
        is_derived=True,
        indexed=indexed,
    )


def a_derivation(*words: str, version: int = 1) -> Derivation:
    """A sample result of the fingerprint deriver: one band per word."""
    rows = [FingerprintBand(int(sha256(word)[:15], 16)) for word in words]
    return Derivation(DERIVER, version, rows)


def a_query(**changes: Any) -> CandidateQuery:
    """A search of the default tenant at the start, wide enough for every test."""
    usual: dict[str, Any] = {
        "where": ALL,
        "now": START,
        "limit": 100,
        "max_compared": 1000,
        "embedding_version": EMBEDDING,
    }
    usual |= changes
    return CandidateQuery(**{"lexical_limit": usual["limit"], **usual})


async def current(stores: Stores, note: Note) -> Note:
    """The stored note."""
    found = await stores.notes.get(note.tenant, note.public_id)
    assert found is not None
    return found


async def write(stores: Stores, given: NoteWrite, now: datetime = START) -> Note:
    """Commit a write and return the note as it is stored."""
    await stores.notes.write(given, at(now))
    return await current(stores, given.note)


async def store(stores: Stores, text: str = "Tea is drunk at four.", **changes: Any) -> Note:
    """Store a new note, embedded but not indexed."""
    return await write(stores, creation(a_note(text, **changes), text))


async def remove(stores: Stores, note: Note, now: datetime = START, *, indexed: bool = False) -> Note:
    """Move a note to the trash."""
    return await stores.notes.remove(note, at(now), action="delete", indexed=indexed)
