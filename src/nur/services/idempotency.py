"""Idempotency keys: a repeated call with the same key returns the first response and is not executed again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nur.domain.errors import CallInProgress, IdempotencyKeyReused, NotFound
from nur.domain.writes import IndexState, Outcome, Stored
from nur.services.notes.get_note import not_found

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nur.domain.access import Caller
    from nur.ports.clock import Clock
    from nur.ports.idempotency import CommittedChange, IdempotencyStore
    from nur.ports.notes import NoteStore
    from nur.ports.vector_index import IndexMarks


@dataclass(frozen=True, slots=True)
class SavedResponse:
    """The response to the first call."""

    status_code: int
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UnansweredWrite:
    """The write of a call whose process died after the commit and before the response."""

    stored: Stored | None  #: None: it deleted the note


@dataclass(frozen=True, slots=True)
class Idempotency:
    """Saves responses by the caller's idempotency key."""

    store: IdempotencyStore
    notes: NoteStore
    index_marks: IndexMarks
    clock: Clock

    async def reserve(self, request_hash: str, caller: Caller) -> SavedResponse | UnansweredWrite | None:
        """Reserve the caller's key. Returns None if the call must be executed now, else its earlier result.

        Raises IdempotencyKeyReused, CallInProgress, and NotFound if the note it wrote has been purged.
        """
        record = await self.store.reserve(_key(caller), request_hash, caller.at(self.clock.now()))
        if record is None:
            return None
        if record.request_hash != request_hash:
            raise IdempotencyKeyReused("This Idempotency-Key belongs to another call.")
        if record.status_code is not None and record.response is not None:
            return SavedResponse(record.status_code, record.response)
        if record.committed is None:
            raise CallInProgress("The first call is still being answered.")
        return await self._unanswered(record.committed, caller.tenant)

    async def save(self, caller: Caller, status_code: int, content: Mapping[str, Any]) -> None:
        """Save the response for the caller's key."""
        await self.store.save_response(caller.tenant, _key(caller), status_code, content)

    async def release(self, caller: Caller) -> None:
        """Free the key of a failed call, unless the call committed something."""
        await self.store.release(caller.tenant, _key(caller), caller.call_id)

    async def _unanswered(self, committed: CommittedChange, tenant: str) -> UnansweredWrite:
        if committed.action == "delete":
            return UnansweredWrite(None)
        if committed.public_id is None:
            raise NotFound("The note was purged since.")
        note = await self.notes.get(tenant, committed.public_id)
        if note is None:
            raise not_found(committed.public_id)
        state = IndexState.INDEXED if await self.index_marks.is_indexed(note.note_id) else IndexState.PENDING
        written = replace(note, revision=committed.revision)
        return UnansweredWrite(Stored(note=written, outcome=_outcome(committed), index_state=state))


def _key(caller: Caller) -> str:
    if caller.reservation is None:
        raise ValueError("the call has no idempotency key")
    return caller.reservation


def _outcome(committed: CommittedChange) -> Outcome:
    if committed.action == "update":
        return Outcome.METADATA_UPDATED
    return Outcome.CREATED if committed.revision == 1 else Outcome.REPLACED
