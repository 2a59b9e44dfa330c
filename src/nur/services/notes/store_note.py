"""Store a note: the only way in, for every kind.

Embed outside the transaction, then write once. Two writers of one note never wait for each other: the second gets a
Conflict from the store, reads again, and finds its work done or builds on the newer revision.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nur.domain.drafting import ChunkingStats, next_note, with_times
from nur.domain.errors import Conflict
from nur.domain.filters import is_alive
from nur.domain.kinds import KINDS, Chunking, identity, public_ids
from nur.domain.writes import Draft, IndexState, OnEmbeddingFailure, Outcome, Protection, Stored, public_chunk_ids
from nur.observability.events import EventLog
from nur.ports.notes import NewChunk, NoteWrite
from nur.retrieval.text.tokens import tokenise
from nur.services.indexing.chunk_text import chunk_text, log_chunking, note_heading, text_hash
from nur.services.indexing.chunk_vectors import pooled
from nur.services.indexing.derive import Derived
from nur.services.indexing.index_note import operation, record
from nur.services.notes.compare_memories import similar_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nur.domain.access import Caller, Principal
    from nur.domain.drafting import ProtectionRules
    from nur.domain.notes import Kind, Note, NoteMetadata
    from nur.ports.chunks import ChunkStore
    from nur.ports.clock import Clock
    from nur.ports.decisions import MemoryComparison
    from nur.ports.embedder import TokenTable
    from nur.ports.notes import NoteStore
    from nur.ports.vector_index import IndexMarks, VectorIndex
    from nur.retrieval.chunking import ChunkingPolicy
    from nur.retrieval.text.tokens import Tokens
    from nur.services.indexing.chunk_text import ChunkedText
    from nur.services.indexing.chunk_vectors import ChunkVectors, EmbeddedChunk
    from nur.services.indexing.derive import Derive
    from nur.services.indexing.index_note import IndexNote

    #: What to compare a note and its text with, limited to what the principal may see.
    Compare = Callable[[Note, str, Principal], MemoryComparison | None]

log = EventLog("StorageService")

#: Maximum optimistic-lock retries: concurrent writers of one note, each with another text.
ROUNDS = 64
_REJECT, _LATER = OnEmbeddingFailure.REJECT, OnEmbeddingFailure.LATER


@dataclass(frozen=True, slots=True)
class Plan:
    """The result of a write, known before anything is embedded."""

    note: Note  #: after the write
    chunked: ChunkedText | None  #: None: the text stays
    policy: ChunkingPolicy


@dataclass(frozen=True, slots=True)
class StoreNote:
    """Creates, updates or replaces the note that a draft describes."""

    notes: NoteStore
    chunks: ChunkStore
    index_marks: IndexMarks
    index: VectorIndex
    index_note: IndexNote
    chunk_vectors: ChunkVectors
    derive: Derive
    compare: Compare
    clock: Clock
    policies: Mapping[Kind, ChunkingPolicy]
    protection: ProtectionRules
    wake: Callable[[], None]  #: wakes the worker
    token_table: TokenTable  #: the packaged model's, for the vectors of pieces
    tokenisers: Mapping[str, Callable[[str], Tokens]] = field(default_factory=dict)  #: besides cl100k_base, by name

    async def __call__(
        self,
        kind: Kind,
        text: str,
        meta: NoteMetadata,
        caller: Caller,
        on_failure: OnEmbeddingFailure,
        *,
        stated: Protection | None = None,
        progress: Callable[[int, int], None] | None = None,
        planned: Callable[[Plan], None] | None = None,
    ) -> Stored:
        """Store a text; `progress` gets how many of how many chunks are embedded.

        Raises BadRequest, EmbedderDown, KeyRefused, Conflict, StoreDown; then nothing was written.
        """
        content_hash = await text_hash(text)
        draft = Draft(kind=kind, text=text, meta=meta, stated=stated or Protection(), content_hash=content_hash)
        name = identity(kind, caller.principal.name, meta, content_hash)
        known: dict[str, EmbeddedChunk] = {}  # embedded in an earlier round
        for _ in range(ROUNDS):
            existing = await self.notes.by_identity(caller.tenant, name)
            complete = self.protection.resolve(draft, existing, self.clock.now())
            try:
                if existing is not None and self._is_alive(existing) and existing.content_hash == content_hash:
                    if planned is not None:
                        planned(Plan(existing, None, self.policies[kind]))
                    new_meta = with_times(complete.meta, existing.meta.occurred_at, existing.ingested_at)
                    return await self._update(existing, replace(existing, meta=new_meta), caller)
                known |= await self.chunk_vectors.known(existing)
                return await self._write_text(existing, complete, caller, known, on_failure, progress, planned)
            except Conflict:
                log.warning("write_conflict", kind=kind.value)
        raise Conflict("Too many writers of the same note at once; nothing was written. Try again.")

    async def reembed(self, note: Note, caller: Caller) -> Stored:
        """Embed a note's text again and replace its vectors. Raises EmbedderDown, Conflict."""
        stored = await self._write_text(note, await self._draft_of(note), caller, {}, _REJECT)
        return replace(stored, outcome=Outcome.UNCHANGED)

    async def rechunk(self, note: Note, caller: Caller) -> Stored:
        """Chunk a note by the current policy; chunks that stay keep their vectors. Raises Conflict."""
        known = await self.chunk_vectors.known(note)
        return await self._write_text(note, await self._draft_of(note), caller, known, _LATER)

    async def edit(
        self, existing: Note, wanted: Note, text: str | None, caller: Caller, on_failure: OnEmbeddingFailure
    ) -> Stored:
        """Give this note the metadata of `wanted`, and a new text unless it is None.

        Raises EmbedderDown, KeyRefused, Conflict.
        """
        content_hash = existing.content_hash if text is None else await text_hash(text)
        if text is None or content_hash == existing.content_hash:
            return await self._update(existing, wanted, caller)
        draft = Draft(kind=existing.kind, text=text, meta=wanted.meta, stated=Protection(), content_hash=content_hash)
        known = await self.chunk_vectors.known(existing)
        return await self._write_text(existing, draft, caller, known, on_failure)

    async def revive(self, deleted: Note, meta: NoteMetadata, caller: Caller, on_failure: OnEmbeddingFailure) -> Stored:
        """Restore exactly this note from the trash, with the time it was stored.

        Raises EmbedderDown, KeyRefused, Conflict.
        """
        draft = replace(await self._draft_of(deleted), meta=meta, ingested_at=deleted.ingested_at)
        return await self._write_text(deleted, draft, caller, {}, on_failure)

    async def _draft_of(self, note: Note) -> Draft:
        text = (await self.notes.texts([note.note_id]))[note.note_id]
        return Draft(kind=note.kind, text=text, meta=note.meta, stated=Protection(), content_hash=note.content_hash)

    async def _update(self, existing: Note, wanted: Note, caller: Caller) -> Stored:
        """Update the metadata, if it differs; the text stays."""
        chunks = await self.chunks.of_note(existing.note_id)
        hashes = [stored.content_hash for stored in chunks]
        if wanted == existing:
            indexed = await self.index_marks.is_indexed(existing.note_id)
            return _stored(existing, Outcome.UNCHANGED, hashes, indexed=indexed)
        now = self.clock.now()
        note = replace(wanted, revision=existing.revision + 1, updated_at=now)
        if wanted.meta.title != existing.meta.title:
            text = (await self.notes.texts([existing.note_id]))[existing.note_id]
            note = replace(note, heading=await asyncio.to_thread(note_heading, text, wanted.meta.title, note.kind))
        ready = self.index.follows_commits and all(stored.has_vector for stored in chunks)
        derived = await self._rows_of_other_time(existing, note)
        write = NoteWrite(
            note=note, replaces=existing.revision, indexed=ready, action="update", derived=derived.derivations
        )
        await self.notes.write(write, caller.at(now))
        if ready:
            await self.index_note(note)
        else:
            self.wake()
        return _stored(note, Outcome.METADATA_UPDATED, hashes, indexed=ready)

    async def _rows_of_other_time(self, existing: Note, note: Note) -> Derived:
        """Rows derived again because the note was said at another time; none if the time stays."""
        if note.said_at == existing.said_at:
            return Derived(())
        text = (await self.notes.texts([note.note_id]))[note.note_id]
        return await self.derive.rows(note, text)

    async def _write_text(
        self,
        existing: Note | None,
        draft: Draft,
        caller: Caller,
        known: dict[str, EmbeddedChunk],
        on_failure: OnEmbeddingFailure,
        progress: Callable[[int, int], None] | None = None,
        planned: Callable[[Plan], None] | None = None,
    ) -> Stored:
        """Chunk, embed what is not `known`, then write everything in one transaction."""
        chunked, policy = await self.chunked(draft.kind, draft.text, draft.meta)
        stats = ChunkingStats(chunked.token_count, len(chunked.analysed), policy.version, chunked.heading)
        note = next_note(draft, existing, stats, caller.principal, self.clock.now())
        if existing is None:
            note = replace(note, public_id=await self._free_id(note))
        if planned is not None:
            planned(Plan(note, chunked, policy))
        log_chunking(note, chunked, policy)
        vectors = await self.chunk_vectors.of(chunked, known, on_failure, progress)
        ready = self.index.follows_commits and all(vector is not None for vector in vectors)
        derived = await self.derive.rows(note, draft.text)
        written = await self.notes.write(
            NoteWrite(
                note=note,
                replaces=None if existing is None else existing.revision,
                text=draft.text,
                chunks=new_chunks(chunked, vectors),
                pooled=pooled(vectors),
                embedding_version=self.chunk_vectors.version,
                derived=derived.derivations,
                is_derived=not derived.failed,
                indexed=ready,
                comparison=self.compare(note, draft.text, caller.principal),
            ),
            caller.at(self.clock.now()),
        )
        if ready:
            records = [
                record(note, key, one.chunk, one.content_hash, embedded.vector)
                for key, one, embedded in zip(written.chunk_keys, chunked.analysed, vectors, strict=True)
                if embedded is not None
            ]
            await self.index.apply([operation(note, records)])
        else:
            self.wake()
        outcome = Outcome.REPLACED if existing is not None and self._is_alive(existing) else Outcome.CREATED
        stored = _stored(note, outcome, [one.content_hash for one in chunked.analysed], indexed=ready)
        return replace(stored, similar=tuple(map(similar_memory, written.similar)))

    async def chunked(self, kind: Kind, text: str, meta: NoteMetadata) -> tuple[ChunkedText, ChunkingPolicy]:
        """The text, chunked by its kind's policy, and the policy."""
        policy = self.policies[kind]
        artifact_type = meta.type if KINDS[kind].chunking is Chunking.ARTIFACT else None
        tokeniser = self.tokenisers.get(policy.tokenizer, tokenise)
        chunked = await chunk_text(
            text,
            policy,
            self.token_table,
            kind=kind,
            title=meta.title,
            artifact_type=artifact_type,
            tokeniser=tokeniser,
        )
        return chunked, policy

    def _is_alive(self, note: Note) -> bool:
        """An expired note counts as deleted: storing it again revives it."""
        return is_alive(note, self.clock.now())

    async def _free_id(self, note: Note) -> str:
        """An unused public id; if a short hash is taken, a longer one."""
        for candidate in public_ids(note):
            if not KINDS[note.kind].ids_collide or await self.notes.get(note.tenant, candidate) is None:
                return candidate
        raise Conflict("No free id was found; nothing was written. Try again.")


def new_chunks(chunked: ChunkedText, vectors: list[EmbeddedChunk | None]) -> list[NewChunk]:
    """The chunks of a text, ready to be written."""
    return [
        NewChunk(
            chunk=one.chunk,
            content_hash=one.content_hash,
            terms=one.pieces.terms,
            term_count=one.pieces.term_count,
            pieces=one.pieces.pieces,
            atoms=one.pieces.atoms,
            piece_vectors=one.pieces.vectors,
            digest=one.pieces.digest,
            words=one.pieces.words,
            vector=None if embedded is None else embedded.vector,
            model_vectors=b"" if embedded is None else embedded.pieces,
        )
        for one, embedded in zip(chunked.analysed, vectors, strict=True)
    ]


def _stored(note: Note, outcome: Outcome, content_hashes: list[str], *, indexed: bool) -> Stored:
    state = IndexState.INDEXED if indexed else IndexState.PENDING
    return Stored(note=note, outcome=outcome, index_state=state, chunk_ids=public_chunk_ids(note, content_hashes))
