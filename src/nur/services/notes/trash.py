"""The trash: delete, restore and purge notes."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.errors import BadRequest, Conflict, IndexDown, NotFound, StaleRevision
from nur.domain.filters import is_alive
from nur.domain.notes import Retention, Status
from nur.ports.vector_index import IndexOp
from nur.services.indexing.index_note import removal
from nur.services.notes.cursors import cut_page, encode
from nur.services.notes.get_note import not_found
from nur.services.notes.list_notes import ListedNotes, position

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nur.domain.access import Caller, WriteContext
    from nur.domain.filters import PrivacyFilter
    from nur.domain.notes import Kind, Note
    from nur.domain.writes import OnEmbeddingFailure, Stored
    from nur.ports.clock import Clock
    from nur.ports.notes import NoteStore
    from nur.ports.vector_index import VectorIndex
    from nur.services.notes.store_note import StoreNote
    from nur.services.search.search_log import SearchLog


#: Maximum optimistic-lock retries.
ROUNDS = 20

#: Higher than any revision: a purged note has no row to read one from.
PURGED = 2**31 - 1
#: Longest wait for an index that hangs.
SCRUB_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Forget:
    """Deletes a note with everything derived from it."""

    notes: NoteStore
    index: VectorIndex
    privacy: PrivacyFilter
    clock: Clock
    wake: Callable[[], None]

    async def __call__(self, public_id: str, kind: Kind | None, caller: Caller, *, revision: int | None = None) -> Note:
        """Delete a note of this kind (None: any) and return it as it was. Raises NotFound, StaleRevision."""
        for _ in range(ROUNDS):
            note = await self.notes.get(caller.tenant, public_id)
            if note is None or not self._may_delete(note, kind, caller):
                raise NotFound(f"{kind.value.capitalize()} {public_id} not found") if kind else not_found(public_id)
            if revision is not None and note.revision != revision:
                raise StaleRevision(f"The note is at revision {note.revision}. Read it again, then delete.")
            try:
                await self.discard(note, "delete", caller.at(self.clock.now()))
            except Conflict:
                continue
            return note
        raise Conflict("Too many writers of the same note at once; nothing was deleted. Try again.")

    def _may_delete(self, note: Note, kind: Kind | None, caller: Caller) -> bool:
        is_of_kind = kind is None or note.kind is kind
        return is_of_kind and is_alive(note, self.clock.now()) and self.privacy.can_access(note, caller.principal)

    async def discard(self, note: Note, action: str, context: WriteContext) -> None:
        """Move exactly this state of a note to the trash. Raises Conflict."""
        gone = await self.notes.remove(note, context, action=action, indexed=self.index.follows_commits)
        if self.index.follows_commits:
            await self.index.apply([removal(gone)])
        else:
            self.wake()


@dataclass(frozen=True, slots=True)
class Trash:
    """Lists, restores and purges deleted notes."""

    notes: NoteStore
    index: VectorIndex
    store: StoreNote
    search_log: SearchLog
    privacy: PrivacyFilter
    clock: Clock
    wake: Callable[[], None]
    scrub: Callable[[], Awaitable[None]]  #: removes the bytes of purged notes from the files
    on_failure: OnEmbeddingFailure

    async def list(self, caller: Caller, *, limit: int, characters: int, cursor: str | None = None) -> ListedNotes:
        """A page of deleted notes, oldest first, with the first characters of their texts. Raises BadRequest."""
        after = position(cursor)
        read = await self.notes.trash(self.clock.now(), limit + 1, tenant=caller.tenant, after=after)
        notes, last = cut_page(read, limit)
        visible = [note for note in notes if self.privacy.can_access(note, caller.principal)]
        texts = await self.notes.texts([note.note_id for note in visible], characters)
        shown = [(note, texts[note.note_id]) for note in visible if note.note_id in texts]
        at = None if last is None else last.deleted_at
        return ListedNotes(shown, None if last is None or at is None else encode(at, last.note_id.hex))

    async def restore(self, public_id: str, caller: Caller) -> Stored:
        """Restore a note under its id; one that had expired no longer expires. Raises NotFound, Conflict."""
        note = await self._find(public_id, caller)
        if note.status is Status.ACTIVE:
            raise BadRequest(f"Note {public_id} is not in the trash")
        meta = note.meta
        if meta.expires_at is not None and meta.expires_at <= self.clock.now():
            meta = replace(meta, expires_at=None, retention=Retention.FOREVER)
        return await self.store.revive(note, meta, caller, self.on_failure)

    async def purge(self, public_id: str, caller: Caller) -> Note:
        """Purge a note, deleted or not, and return it as it was. Raises NotFound, Conflict."""
        note = await self._find(public_id, caller)
        await self.erase(note, caller.at(self.clock.now()))
        await self.scrub()
        await self._scrub_index(note)
        self.wake()
        return note

    async def erase(self, note: Note, context: WriteContext) -> None:
        """Purge exactly this state of a note, and the traces of searches that returned it. Raises Conflict."""
        await self.search_log.flush()  # traces not written yet may name it
        follows = self.index.follows_commits
        await self.notes.purge(note, context, indexed=follows or note.status is not Status.ACTIVE)
        if follows:
            await self.index.apply([IndexOp(note.note_id, PURGED)])

    async def _scrub_index(self, note: Note) -> None:
        """Update the index now, as this process may be about to end. If that fails, the worker does it later."""
        with contextlib.suppress(IndexDown, TimeoutError):
            async with asyncio.timeout(SCRUB_SECONDS):
                await self.index.apply([IndexOp(note.note_id, PURGED)])
                await self.index.scrub()

    async def _find(self, public_id: str, caller: Caller) -> Note:
        note = await self.notes.get(caller.tenant, public_id)
        if note is None or not self.privacy.can_access(note, caller.principal):
            raise not_found(public_id)
        return note
