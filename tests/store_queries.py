"""Queries that the contract tests send to stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.store_notes import (
    ALL,
    START,
    a_query,
    vector_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nur.domain.filters import NoteFilter
    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.chunks import ScoringView
    from nur.ports.stores import Stores
    from tests.store_backends import StoreBackend


async def keys_of(stores: Stores, *notes: Note) -> list[ChunkKey]:
    """The keys of all chunks of these notes, in order."""
    return [chunk.chunk_key for note in notes for chunk in await stores.chunks.of_note(note.note_id)]


async def by_words(stores: Stores, *terms: str, where: NoteFilter = ALL) -> list[NoteId]:
    """The notes whose chunks contain any of the terms, best first."""
    keys = await stores.chunks.by_words(terms, where, START, 100)
    notes = {view.chunk_key: view.note_id for view in await views(stores, terms, where)}
    return [notes[key] for key in keys]


async def views(stores: Stores, terms: Iterable[str], where: NoteFilter = ALL) -> list[ScoringView]:
    return list((await stores.chunks.candidates(a_query(terms=list(terms), where=where))).views)


async def found_keys(stores: Stores, text: str = "tea", **asked: Any) -> set[ChunkKey]:
    """The dense candidates of a query."""
    found = await stores.chunks.candidates(a_query(vector=vector_of(text), **asked))
    return {view.chunk_key for view in found.views}


async def found_by(stores: Stores, *terms: str) -> list[NoteId]:
    """The notes whose chunks contain any of the terms, one id per chunk."""
    return [view.note_id for view in (await stores.chunks.candidates(a_query(terms=terms))).views]


async def everything(stores: Stores, backend: StoreBackend) -> dict[str, Any]:
    """The whole store, to check that nothing changed."""
    notes = await stores.notes.page(ALL, START, limit=100)
    ids = [note.note_id for note in notes]
    return {
        "notes": notes,
        "texts": await stores.notes.texts(ids),
        "previous": [backend.previous_texts(note_id) for note_id in ids],
        "chunks": [await stores.chunks.of_note(note_id) for note_id in ids],
        "statistics": await stores.chunks.statistics(["tea", "coffee"]),
        "indexed": [await stores.index_marks.is_indexed(note_id) for note_id in ids],
        "backlog": await stores.outbox.backlog(START),
        "audit": backend.audit(),
    }


async def index_at(stores: Stores, revision: int) -> None:
    """Finish the due job, marking this revision as indexed."""
    (job,) = await stores.outbox.lease("w", 10, START, 60)
    await stores.outbox.finish(job, START, indexed=revision)
