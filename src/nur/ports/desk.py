"""Desk: what the ledger keeps for a while about calls: answers under idempotency keys, searches, hits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from nur.domain.notes import NoteId

#: After so long a claim without an answer is taken for that of a process that died.
RESERVATION_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CommittedChange:
    """What a call committed, as the audit log has it."""

    public_id: str | None  #: None: purged since, and the id would tell what it was
    action: str
    revision: int


@dataclass(frozen=True, slots=True)
class IdempotencyRecord:
    """An idempotency key that somebody used before."""

    request_hash: str
    status_code: int | None  #: None: not answered
    response: Mapping[str, Any] | None
    committed: CommittedChange | None = (
        None  #: of a call that was given up: it committed this and died before its answer
    )


@dataclass(frozen=True, slots=True)
class Session:
    """A search that can be asked for again: what was found, by ids and offsets, without a word of its text."""

    search_id: UUID
    tenant: str
    principal: str
    request: Mapping[str, Any]
    result: Mapping[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class HitRecord:
    """That somebody took a note out of a search's answer."""

    tenant: str
    principal: str
    search_id: UUID
    note_id: NoteId
    chunk_id: UUID | None
    rank: int  #: from 1


class Desk(Protocol):
    """Short-lived records; every method is one transaction."""

    async def reserve_key(
        self, tenant: str, key: str, request_hash: str, trace_id: str, now: datetime
    ) -> IdempotencyRecord | None:
        """Take an idempotency key; None: it is ours, else what is held under it.

        By the trace id the audit log knows what the call did, should nobody be left to say so.
        """
        ...

    async def save_response(self, tenant: str, key: str, status_code: int, response: Mapping[str, Any]) -> None:
        """Keep the answer under the key."""
        ...

    async def release_key(self, tenant: str, key: str) -> None:
        """The call failed: the key is free again, unless it is answered or the call committed something."""
        ...

    async def put_session(self, session: Session) -> None:
        """Keep a search."""
        ...

    async def session(self, tenant: str, search_id: UUID) -> Session | None:
        """A search that was kept."""
        ...

    async def record_hits(self, hits: Sequence[HitRecord], now: datetime) -> None:
        """Keep that notes were taken; those of notes that are gone are left out."""
        ...

    async def hit_counts(self, note_ids: Sequence[NoteId]) -> dict[NoteId, int]:
        """How often notes were taken; those that never were are left out."""
        ...

    async def clear_desk(self, before: datetime) -> int:
        """Forget searches and idempotency keys from before then; gives back how many."""
        ...
