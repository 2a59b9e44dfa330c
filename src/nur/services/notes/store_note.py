"""Store a note: the one way in, whatever it is.

Embed outside the transaction, then write once. Two writers of one note never wait for each other: the second is told
by the ledger that it came second, looks again, and finds its work done or builds on the newer state.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nur.domain.chunks import sha256
from nur.domain.drafting import ChunkingStats, next_note, with_times
from nur.domain.errors import Conflict
from nur.domain.matching import is_alive
from nur.domain.notes import Kind, Note, Principal, identity, public_ids
from nur.domain.writes import Draft, IndexState, OnEmbeddingFailure, Outcome, Protection, Stored, public_chunk_ids
from nur.observability.events import EventLog
from nur.ports.ledger import NewChunk, NoteWrite
from nur.retrieval.ranking.title_boost import encode_heading, heading
from nur.retrieval.text.analysis import ANALYZER
from nur.retrieval.text.tokens import tokenise
from nur.services.indexing.chunk_text import chunk_text, log_chunking
from nur.services.indexing.chunk_vectors import pooled
from nur.services.indexing.index_note import index_note, records

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nur.domain.notes import NoteMetadata
    from nur.domain.protection import ProtectionRules
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.ledger import Ledger
    from nur.ports.vector_index import VectorIndex
    from nur.retrieval.chunking import ChunkingPolicy
    from nur.retrieval.text.tokens import Tokens
    from nur.services.indexing.chunk_text import ChunkedText
    from nur.services.indexing.chunk_vectors import ChunkVectors

log = EventLog("StorageService")

#: Each round another writer of the same note got in first: so many writers with a text each may come at once.
ROUNDS = 64
_REJECT, _LATER = OnEmbeddingFailure.REJECT, OnEmbeddingFailure.LATER


@dataclass(frozen=True, slots=True)
class Plan:
    """What a write is about to do: told before anything is embedded, again whenever another writer came first."""

    note: Note  #: as it shall be
    cut: ChunkedText | None  #: None: the text stays
    policy: ChunkingPolicy


@dataclass(frozen=True, slots=True)
class StoreNote:
    """Creates, updates or replaces the note that a draft is about."""

    ledger: Ledger
    index: VectorIndex
    vectors: ChunkVectors
    clock: Clock
    policies: Mapping[Kind, ChunkingPolicy]
    protection: ProtectionRules
    tokenisers: Mapping[str, Callable[[str], Tokens]] = field(default_factory=dict)  #: besides cl100k_base, by name

    async def __call__(
        self,
        draft: Draft,
        principal: Principal,
        on_failure: OnEmbeddingFailure,
        progress: Callable[[int, int], None] | None = None,
        planned: Callable[[Plan], None] = lambda _: None,
    ) -> Stored:
        """Store the draft; `progress` hears how many of how many chunks are embedded.

        Raises BadRequest, EmbedderDown, KeyRefused, Conflict, StoreDown; then nothing was written.
        """
        content_hash = sha256(draft.text)
        name = identity(draft.kind, principal.name, draft.meta, content_hash)
        known: dict[str, Floats] = {}  # what one round embedded, the next need not
        for _ in range(ROUNDS):
            existing = await self.ledger.by_identity(principal.tenant, name)
            complete = self.protection.resolve(draft, existing, self.clock.now())
            try:
                if existing is not None and self._is_alive(existing) and existing.content_hash == content_hash:
                    planned(Plan(existing, None, self.policies[draft.kind]))
                    meta = with_times(complete.meta, existing.meta.occurred_at, existing.ingested_at)
                    return await self._describe(existing, replace(existing, meta=meta), principal)
                known |= await self.vectors.known(existing)
                return await self._write_text(existing, complete, principal, known, on_failure, progress, planned)
            except Conflict:
                log.warning("write_conflict", kind=draft.kind.value)
        raise Conflict("Too many writers of the same note at once; nothing was written. Try again.")

    async def reembed(self, note: Note, principal: Principal) -> Stored:
        """Embed a note's text again and put the new vectors in place of the old. Raises EmbedderDown, Conflict."""
        stored = await self._write_text(note, await self._as_draft(note), principal, {}, _REJECT)
        return replace(stored, outcome=Outcome.UNCHANGED)

    async def rechunk(self, note: Note, principal: Principal) -> Stored:
        """Cut a note by the present policy; chunks that stay keep their vectors. Raises Conflict."""
        known = await self.vectors.known(note)
        return await self._write_text(note, await self._as_draft(note), principal, known, _LATER)

    async def edit(
        self, existing: Note, wanted: Note, text: str | None, principal: Principal, on_failure: OnEmbeddingFailure
    ) -> Stored:
        """Describe exactly this note as `wanted` is, with another text unless it is None.

        Raises EmbedderDown, KeyRefused, Conflict.
        """
        if text is None or sha256(text) == existing.content_hash:
            return await self._describe(existing, wanted, principal)
        draft = Draft(kind=existing.kind, text=text, meta=wanted.meta, stated=Protection())
        return await self._write_text(existing, draft, principal, await self.vectors.known(existing), on_failure)

    async def revive(
        self, deleted: Note, meta: NoteMetadata, principal: Principal, on_failure: OnEmbeddingFailure
    ) -> Stored:
        """Bring exactly this note back from the trash, with the time it was stored.

        Raises EmbedderDown, KeyRefused, Conflict.
        """
        draft = replace(await self._as_draft(deleted), meta=meta, ingested_at=deleted.ingested_at)
        return await self._write_text(deleted, draft, principal, {}, on_failure)

    async def _as_draft(self, note: Note) -> Draft:
        text = (await self.ledger.texts([note.note_id]))[note.note_id]
        return Draft(kind=note.kind, text=text, meta=note.meta, stated=Protection())

    async def _describe(self, existing: Note, wanted: Note, principal: Principal) -> Stored:
        """The text is there already: bring its description up to date, if it differs at all."""
        chunks = await self.ledger.chunks(existing.note_id)
        if wanted == existing:
            state = IndexState.INDEXED if await self.ledger.is_indexed(existing.note_id) else IndexState.PENDING
            return self._stored(existing, Outcome.UNCHANGED, state, [c.content_hash for c in chunks])
        note = replace(wanted, revision=existing.revision + 1, updated_at=self.clock.now())
        if wanted.meta.title != existing.meta.title:
            text = (await self._as_draft(existing)).text
            note = replace(note, heading=note_heading(text, wanted.meta.title))
        ready = self.index.follows_commits and all(c.has_vector for c in chunks)
        await self.ledger.write(
            NoteWrite(
                note=note,
                replaces=existing.revision,
                embedding_version=self.vectors.version,
                indexed=ready,
                action="update",
                principal=principal.name,
            )
        )
        if ready:
            await index_note(self.ledger, self.index, note, self.vectors.version)
        state = IndexState.INDEXED if ready else IndexState.PENDING
        return self._stored(note, Outcome.METADATA_UPDATED, state, [c.content_hash for c in chunks])

    async def _write_text(
        self,
        existing: Note | None,
        draft: Draft,
        principal: Principal,
        known: dict[str, Floats],
        on_failure: OnEmbeddingFailure,
        progress: Callable[[int, int], None] | None = None,
        planned: Callable[[Plan], None] = lambda _: None,
    ) -> Stored:
        """Cut, embed what is not `known`, then write everything in one transaction."""
        policy = self.policies[draft.kind]
        artifact_type = draft.meta.type if draft.kind is Kind.ARTIFACT else None
        tokeniser = self.tokenisers.get(policy.tokenizer, tokenise)
        cut = await chunk_text(draft.text, policy, artifact_type, tokeniser)
        heading = note_heading(draft.text, draft.meta.title)
        measure = ChunkingStats(cut.token_count, len(cut.pieces), policy.version, heading)
        note = next_note(draft, existing, measure, principal, self.clock.now())
        if existing is None:
            note = replace(note, public_id=await self._free_id(note))
        planned(Plan(note, cut, policy))
        log_chunking(note, cut, policy)
        vectors = await self.vectors.of(cut, known, on_failure, progress)
        ready = self.index.follows_commits and all(vector is not None for vector in vectors)
        written = await self.ledger.write(
            NoteWrite(
                note=note,
                replaces=None if existing is None else existing.revision,
                text=draft.text,
                chunks=[
                    NewChunk(
                        chunk=piece.chunk,
                        terms=piece.row,
                        term_count=piece.length,
                        profile=piece.profile,
                        sentences=piece.sentences,
                        vector=vector,
                    )
                    for piece, vector in zip(cut.pieces, vectors, strict=True)
                ],
                pooled=pooled(vectors),
                embedding_version=self.vectors.version,
                indexed=ready,
                action="store",
                principal=principal.name,
            )
        )
        if ready:
            await self.index.apply(
                [records(note, cut.chunks, written.chunk_keys, [v for v in vectors if v is not None])]
            )
        outcome = Outcome.REPLACED if existing is not None and self._is_alive(existing) else Outcome.CREATED
        state = IndexState.INDEXED if ready else IndexState.PENDING
        return self._stored(note, outcome, state, [piece.content_hash for piece in cut.chunks])

    def _is_alive(self, note: Note) -> bool:
        """An expired note is as good as deleted: storing it again brings it back."""
        return is_alive(note, self.clock.now())

    async def _free_id(self, note: Note) -> str:
        """A public id that nobody has: an artifact's hash is lengthened until it is free."""
        for candidate in public_ids(note):
            if await self.ledger.note(note.tenant, candidate) is None:
                return candidate
        raise Conflict("No free id was found; nothing was written. Try again.")

    def _stored(self, note: Note, outcome: Outcome, state: IndexState, content_hashes: list[str]) -> Stored:
        return Stored(note=note, outcome=outcome, index_state=state, chunk_ids=public_chunk_ids(note, content_hashes))


def note_heading(text: str, title: str | None) -> bytes:
    """What search knows a note's title, or its first line, by."""
    return encode_heading(heading(text, title), len(text), ANALYZER)
