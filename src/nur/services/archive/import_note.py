"""Import one note: exported from another store, or new from another program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from nur.domain.archive import ArchivedNote, NewNote
from nur.domain.errors import BadRequest, Conflict
from nur.domain.filters import is_alive
from nur.domain.kinds import identity, identity_of
from nur.domain.notes import Note, Status
from nur.domain.writes import OnEmbeddingFailure, Outcome
from nur.ports.notes import NoteWrite
from nur.services.indexing.chunk_text import text_hash
from nur.services.indexing.chunk_vectors import pooled
from nur.services.notes.store_note import StoreNote, new_chunks

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.ports.archive import Archive
    from nur.ports.clock import Clock
    from nur.ports.notes import NoteStore

#: Maximum optimistic-lock retries.
ROUNDS = 20
_LATER = OnEmbeddingFailure.LATER


class ImportOutcome(StrEnum):
    """What the import of one note did."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"  #: the store already has it
    KEPT = "kept"  #: not imported: the store has a newer revision, or a different one with the same number


_OUTCOMES = {Outcome.CREATED: ImportOutcome.CREATED, Outcome.UNCHANGED: ImportOutcome.UNCHANGED}


@dataclass(frozen=True, slots=True)
class ImportNote:
    """Stores one note atomically; the worker embeds it later."""

    notes: NoteStore
    archive: Archive
    store: StoreNote
    clock: Clock

    async def __call__(self, record: ArchivedNote | NewNote, caller: Caller, *, dry_run: bool) -> ImportOutcome:
        """Store the note, or with `dry_run` return what storing it would do.

        Raises BadRequest, Conflict, StoreDown.
        """
        if isinstance(record, NewNote):
            return await self._add(record, caller, dry_run=dry_run)
        imported = replace(record.note, tenant=caller.tenant)
        for _ in range(ROUNDS):
            existing = (await self.notes.by_ids([imported.note_id])).get(imported.note_id)
            outcome = await self._outcome(existing, imported)
            if dry_run or outcome in (ImportOutcome.UNCHANGED, ImportOutcome.KEPT):
                return outcome
            try:
                await self._put(existing, replace(record, note=imported), caller)
            except Conflict:
                continue
            return outcome
        raise Conflict("Too many writers of the same note at once; it was not imported. Try again.")

    async def _add(self, new: NewNote, caller: Caller, *, dry_run: bool) -> ImportOutcome:
        if not dry_run:
            stored = await self.store(new.kind, new.text, new.meta, caller, _LATER, stated=new.stated)
            return _OUTCOMES.get(stored.outcome, ImportOutcome.UPDATED)
        content_hash = await text_hash(new.text)
        key = identity(new.kind, caller.principal.name, new.meta, content_hash)
        existing = await self.notes.by_identity(caller.tenant, key)
        if existing is None or not is_alive(existing, self.clock.now()):
            return ImportOutcome.CREATED
        return ImportOutcome.UNCHANGED if existing.content_hash == content_hash else ImportOutcome.UPDATED

    async def _outcome(self, existing: Note | None, imported: Note) -> ImportOutcome:
        """Return what importing the note would do. Raises BadRequest if another note has its identity or id."""
        if existing is None:
            return await self._outcome_of_unknown(imported)
        if existing.tenant != imported.tenant:
            raise BadRequest("note_id: is taken")
        if _with_derived(imported, existing) == existing:
            return ImportOutcome.UNCHANGED
        if existing.revision >= imported.revision:
            return ImportOutcome.KEPT
        await self._refuse_taken(imported)
        return ImportOutcome.UPDATED

    async def _outcome_of_unknown(self, imported: Note) -> ImportOutcome:
        other = await self._same_identity(imported)
        if other is not None and other.content_hash == imported.content_hash:
            return ImportOutcome.UNCHANGED
        await self._refuse_taken(imported)
        return ImportOutcome.CREATED

    async def _same_identity(self, imported: Note) -> Note | None:
        """Return another active note with the same identity: key, source, turn or text."""
        if imported.status is not Status.ACTIVE:
            return None
        other = await self.notes.by_identity(imported.tenant, identity_of(imported))
        is_taken = other is not None and other.status is Status.ACTIVE and other.note_id != imported.note_id
        return other if is_taken else None

    async def _refuse_taken(self, imported: Note) -> None:
        other = await self._same_identity(imported)
        if other is not None:
            raise BadRequest(f"{other.public_id} already has the same key, source, turn or text, with other contents")
        named = await self.notes.get(imported.tenant, imported.public_id)
        if named is not None and named.note_id != imported.note_id:
            raise BadRequest(f"public_id: another note has the id {imported.public_id[:120]}; purge that one first")

    async def _put(self, existing: Note | None, archived: ArchivedNote, caller: Caller) -> None:
        note, text = archived.note, archived.text
        chunked, policy = await self.store.chunked(note.kind, text, note.meta)
        note = replace(
            note,
            token_count=chunked.token_count,
            chunk_count=len(chunked.analysed),
            chunking_version=policy.version,
            heading=chunked.heading,
        )
        is_active = note.status is Status.ACTIVE
        known = await self.store.chunk_vectors.known(existing)
        vectors = await self.store.chunk_vectors.of(chunked, known, _LATER, None)
        derived = await self.store.derive.rows(note, text)
        write = NoteWrite(
            note=note,
            replaces=None if existing is None else existing.revision,
            text=text,
            chunks=new_chunks(chunked, vectors) if is_active else (),
            pooled=pooled(vectors) if is_active else None,
            embedding_version=self.store.chunk_vectors.version,
            derived=derived.derivations if is_active else (),
            is_derived=not derived.failed,
            indexed=existing is None and not is_active,  # neither in the index nor to be added to it
            action="import",
            comparison=self.store.compare(note, text, caller.principal),
        )
        context = caller.at(self.clock.now())
        if existing is not None and not archived.versions:
            await self.notes.write(write, context)  # keeps the stored versions: not every format has them
        else:
            await self.archive.put(write, archived.versions, context)


def _with_derived(imported: Note, existing: Note) -> Note:
    """Return the imported note with the existing note's derived fields, so that the two can be compared."""
    return replace(
        imported,
        token_count=existing.token_count,
        chunk_count=existing.chunk_count,
        chunking_version=existing.chunking_version,
        heading=existing.heading,
    )
