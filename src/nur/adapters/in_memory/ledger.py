"""InMemoryLedger: the whole ledger in dictionaries, for tests. What it says, every other ledger must say."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.in_memory.chunks import frozen
from nur.adapters.in_memory.desk import InMemoryDesk
from nur.adapters.in_memory.notes import is_alive
from nur.adapters.in_memory.upkeep import InMemoryUpkeep
from nur.domain.errors import Conflict
from nur.domain.matching import matches
from nur.domain.notes import ChunkKey, Note, NoteId, Status
from nur.ports.ledger import ChunkWithNote, CorpusStatistics, LexicalHit, Order, ScoringView, Written

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from nur.adapters.in_memory.chunks import ChunkRow
    from nur.domain.filters import NoteFilter
    from nur.domain.traces import Trace, TraceItem
    from nur.ports.embedder import Floats
    from nur.ports.ledger import NoteWrite, PageCursor, StoredChunk


class InMemoryLedger(InMemoryUpkeep, InMemoryDesk):
    """The store of record for as long as the process lives. No method waits, so each is a transaction."""

    async def open(self) -> None:
        """Nothing to do."""

    async def close(self) -> None:
        """Nothing to do; what was written stays readable."""

    async def ping(self) -> None:
        """Always there."""

    async def fact(self, name: str) -> str | None:
        """One of the store's own facts."""
        return self._facts.get(name)

    async def set_if_absent(self, name: str, value: str) -> str:
        """Set a fact unless it is set already; gives back the one that holds."""
        return self._facts.setdefault(name, value)

    async def set_fact(self, name: str, value: str) -> None:
        """Set a fact, whatever it was."""
        self._facts[name] = value

    async def write(self, write: NoteWrite) -> Written:
        """Keep one write. Raises Conflict before anything is changed."""
        note = write.note
        former = self._notes.existing(note, write.replaces)
        if former is None and write.text is None:
            raise Conflict("A new note needs a text.")
        self._notes.put(note)
        keys: list[ChunkKey] = []
        if write.text is not None:
            self._notes.put_text(note, former, write.text)
            self._drop_chunks(note.note_id)
            keys = [self._chunks.add(new, write) for new in write.chunks]
            if write.pooled is not None:
                self.own_vectors[note.note_id, write.embedding_version] = frozen(write.pooled)
        elif write.indexed:
            self._chunks.index_holds(note)
        self._conclude(note, write.action, write.principal, indexed=write.indexed)
        return Written(note, keys)

    async def remove(self, note: Note, *, action: str, principal: str, indexed: bool) -> Note:
        """Move a note to the trash."""
        self._notes.existing(note, note.revision)
        now = self._clock.now()
        gone = replace(note, status=Status.DELETED, revision=note.revision + 1, deleted_at=now, updated_at=now)
        self._notes.put(gone)
        self._drop_chunks(note.note_id)
        self._conclude(gone, action, principal, indexed=indexed)
        return gone

    def former_texts(self, note_id: NoteId) -> dict[int, str]:
        """The texts that a note had before, by version."""
        return dict(self._notes.versions.get(note_id, {}))

    async def note(self, tenant: str, public_id: str) -> Note | None:
        """A note by its public id, in the trash or not."""
        return self._notes.by_public_id(tenant, public_id)

    async def by_identity(self, tenant: str, identity: str) -> Note | None:
        """The active note with this identity, else the one last deleted."""
        return self._notes.by_identity(tenant, identity)

    async def by_ids(self, note_ids: Sequence[NoteId]) -> dict[NoteId, Note]:
        """Notes by their internal ids."""
        return self._notes.among(note_ids)

    async def notes(
        self, where: NoteFilter, *, order: Order = Order.NEWEST, limit: int, after: str | PageCursor | None = None
    ) -> list[Note]:
        """A page of active notes."""
        return self._notes.page(where, order, limit, after, self._clock.now())

    async def count(self, where: NoteFilter) -> int:
        """How many active notes are selected."""
        return len(self._notes.selected(where, self._clock.now()))

    async def texts(self, note_ids: Sequence[NoteId]) -> dict[NoteId, str]:
        """The full texts of notes."""
        return {note_id: self._notes.texts[note_id] for note_id in self._notes.among(note_ids)}

    async def chunks(self, note_id: NoteId) -> list[StoredChunk]:
        """A note's chunks, in order."""
        return [row.stored() for row in self._chunks.of(note_id)]

    async def vectors(self, keys: Sequence[ChunkKey], embedding_version: str) -> dict[ChunkKey, Floats]:
        """Stored vectors; a chunk without one is left out."""
        rows = (row for row in self._chunks.among(keys) if embedding_version in row.vectors)
        return {row.chunk_key: row.vectors[embedding_version] for row in rows}

    async def lexical(self, terms: Sequence[str], where: NoteFilter, limit: int) -> list[LexicalHit]:
        """Chunks that hold any of the terms, best first."""
        scores = self._chunks.lexical_index.scores(terms)
        rows = self._selected(self._chunks.among(list(scores)), where)
        found = [LexicalHit(row.chunk_key, scores[row.chunk_key]) for row in rows]
        return sorted(found, key=lambda lexical: (-lexical.score, lexical.chunk_key))[:limit]

    async def corpus(self, terms: Sequence[str]) -> CorpusStatistics:
        """Statistics of what is stored, for these terms."""
        total = sum(row.term_count for row in self._chunks)
        return CorpusStatistics(len(self._chunks), total, self._chunks.lexical_index.frequencies(terms))

    async def unindexed(self, where: NoteFilter, embedding_version: str, limit: int) -> tuple[list[ChunkKey], Floats]:
        """Chunks whose index record is not at their note's revision, with their vectors."""
        rows = self._selected(self._chunks.with_vector(embedding_version), where)
        return _keys_and_vectors([row for row in rows if not self._is_indexed(row)][:limit], embedding_version)

    async def selected_vectors(
        self, where: NoteFilter, embedding_version: str, limit: int
    ) -> tuple[list[ChunkKey], Floats]:
        """Chunks in the selection with their vectors, whatever the index holds."""
        rows = self._selected(self._chunks.with_vector(embedding_version), where)
        return _keys_and_vectors(rows[:limit], embedding_version)

    async def candidates(self, keys: Sequence[ChunkKey], where: NoteFilter) -> list[ChunkWithNote]:
        """Re-read chunks with their notes; what is deleted, expired or outside the selection is left out."""
        rows = self._selected(self._chunks.among(keys), where)
        return [replace(self._candidate(row), sentences=row.sentences) for row in rows]

    async def scoring_views(self, keys: Sequence[ChunkKey], where: NoteFilter) -> list[ScoringView]:
        """Look at chunks; what is deleted, expired or outside the selection is left out."""
        return [self._glance(row) for row in self._selected(self._chunks.among(keys), where)]

    async def turns_near(self, places: Collection[tuple[str, int]], where: NoteFilter) -> list[ScoringView]:
        """Look at the chunks of the turns at these places."""
        found = (self._glance(row) for row in self._selected(self._chunks, where))
        return [each for each in found if each.place in places]

    async def chunk_range(self, note_id: NoteId, first: int, last: int) -> list[StoredChunk]:
        """A note's chunks from one index to another, both included."""
        return [row.stored() for row in self._chunks.of(note_id) if first <= row.chunk.index <= last]

    async def missing_vectors(self, note_id: NoteId, embedding_version: str) -> list[StoredChunk]:
        """A note's chunks that have no vector of this version."""
        missing = (row for row in self._chunks.of(note_id) if embedding_version not in row.vectors)
        return [replace(row.stored(), has_vector=False) for row in missing]

    async def attach_vectors(
        self, note: Note, vectors: Mapping[ChunkKey, Floats], pooled: Floats | None, embedding_version: str
    ) -> None:
        """Add vectors to the note's chunks. Raises Conflict when those are gone."""
        if not vectors:
            self._notes.existing(note, note.revision)
        elif not self._chunks.among(list(vectors)):
            raise Conflict("The note was changed by another write; its new chunks will be embedded instead.")
        for row in self._chunks.among(list(vectors)):
            row.vectors.setdefault(embedding_version, frozen(vectors[row.chunk_key]))
        if pooled is not None:
            self.own_vectors[note.note_id, embedding_version] = frozen(pooled)

    async def mark_indexed(self, note_id: NoteId, revision: int) -> bool:
        """Say that the index holds this revision."""
        for note in self._notes.among([note_id]).values():
            if note.revision == revision:
                self._chunks.index_holds(note)
                return True
        return False

    async def mark_all_unindexed(self, embedding_version: str) -> int:  # noqa: ARG002  # one index a store, for now
        """Say that the index holds nothing, and queue every note."""
        return self._queue_all(self._clock.now())

    async def sample_indexed(self, embedding_version: str, limit: int) -> list[ChunkWithNote]:
        """Chunks that the index should hold, drawn at random."""
        existing = [row for row in self._alive(embedding_version) if self._is_indexed(row)]
        return [self._candidate(row) for row in random.sample(existing, min(limit, len(existing)))]

    async def count_indexed(self, embedding_version: str) -> int:
        """How many chunks the index should hold."""
        return sum(row.indexed_revision is not None for row in self._chunks.with_vector(embedding_version))

    async def pages(self, embedding_version: str, after: ChunkKey, limit: int) -> list[ChunkWithNote]:
        """Active chunks with a vector, by key."""
        rows = [row for row in self._alive(embedding_version) if row.chunk_key > after]
        return [self._candidate(row) for row in rows[:limit]]

    async def save_traces(self, traces: Sequence[Trace]) -> None:
        """Keep traces of searches."""
        for trace in traces:
            self._traces.setdefault(trace.trace_id, trace)

    async def trace(self, tenant: str, name: UUID) -> Trace | None:
        """A trace by its own id or by its search's."""
        traces = (trace for trace in self._traces.values() if trace.tenant == tenant)
        return next((trace for trace in traces if name in (trace.trace_id, trace.search_id)), None)

    async def trace_item(self, tenant: str, item_id: UUID) -> TraceItem | None:
        """One hit of a trace."""
        items = (item for trace in self._traces.values() if trace.tenant == tenant for item in trace.items)
        return next((item for item in items if item.item_id == item_id), None)

    async def purge_traces(self, before: datetime) -> int:
        """Let go of traces made before then."""
        kept = {name: trace for name, trace in self._traces.items() if trace.created_at >= before}
        purged, self._traces = len(self._traces) - len(kept), kept
        return purged

    def _selected(self, rows: Iterable[ChunkRow], where: NoteFilter) -> list[ChunkRow]:
        now = self._clock.now()
        return [row for row in rows if matches(self._notes[row.note_id], where, now)]

    def _alive(self, embedding_version: str) -> list[ChunkRow]:
        """Chunks with a vector whose notes have not expired, by key."""
        now = self._clock.now()
        return [row for row in self._chunks.with_vector(embedding_version) if is_alive(self._notes[row.note_id], now)]

    def _candidate(self, row: ChunkRow) -> ChunkWithNote:
        return ChunkWithNote(stored=row.stored(), note=self._notes[row.note_id])

    def _glance(self, row: ChunkRow) -> ScoringView:
        return ScoringView.of(row.stored(), self._notes[row.note_id])


def _keys_and_vectors(rows: Sequence[ChunkRow], embedding_version: str) -> tuple[list[ChunkKey], Floats]:
    if not rows:
        return [], np.empty((0, 0), dtype=np.float32)
    return [row.chunk_key for row in rows], np.stack([row.vectors[embedding_version] for row in rows])
