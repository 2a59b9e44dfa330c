"""Idempotency keys: the same call under the same key is executed once and answered twice."""

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
    """The response that a call got the first time."""

    status_code: int
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UnansweredWrite:
    """What a call committed whose process died before it replied."""

    stored: Stored | None  #: None: it deleted the note


@dataclass(frozen=True, slots=True)
class Idempotency:
    """Remembers calls by the key that their caller chose."""

    store: IdempotencyStore
    notes: NoteStore
    index_marks: IndexMarks
    clock: Clock

    async def reserve(self, request_hash: str, caller: Caller) -> SavedResponse | UnansweredWrite | None:
        """Reserve the caller's key. Returns None when the call is to be executed now, else what came of it before.

        Raises IdempotencyKeyReused, CallInProgress, and NotFound for a written note that was purged since.
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
        """Keep the response under the key."""
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
        raise ValueError("only calls with an idempotency key come here")
    return caller.reservation


def _outcome(committed: CommittedChange) -> Outcome:
    if committed.action == "update":
        return Outcome.METADATA_UPDATED
    return Outcome.CREATED if committed.revision == 1 else Outcome.REPLACED
