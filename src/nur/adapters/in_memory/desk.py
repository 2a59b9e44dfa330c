"""The Desk part of InMemoryLedger."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from nur.adapters.in_memory.rooms import InMemoryRooms
from nur.ports.desk import RESERVATION_SECONDS, CommittedChange, IdempotencyRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from nur.domain.notes import NoteId
    from nur.ports.clock import Clock
    from nur.ports.desk import HitRecord, Session


@dataclass(frozen=True, slots=True)
class _Claimed:
    reserve_key: IdempotencyRecord
    trace_id: str
    at: datetime


class InMemoryDesk(InMemoryRooms):
    """Short-lived records of calls."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._claims: dict[tuple[str, str], _Claimed] = {}
        self._sessions: dict[tuple[str, UUID], Session] = {}
        self._hits: list[HitRecord] = []

    async def reserve_key(
        self, tenant: str, key: str, request_hash: str, trace_id: str, now: datetime
    ) -> IdempotencyRecord | None:
        """Take an idempotency key; None: it is ours."""
        existing = self._claims.get((tenant, key))
        if existing is not None:
            abandoned = existing.reserve_key.status_code is None and existing.at <= now - timedelta(
                seconds=RESERVATION_SECONDS
            )
            committed = self._deed(tenant, existing.trace_id) if abandoned else None
            if committed is not None or not abandoned:
                return replace(existing.reserve_key, committed=committed)
        self._claims[tenant, key] = _Claimed(IdempotencyRecord(request_hash, None, None), trace_id, now)
        return None

    def _deed(self, tenant: str, trace_id: str) -> CommittedChange | None:
        """What the call committed last, if anything."""
        mine = [line for line in self.audit if (line.tenant, line.trace_id) == (tenant, trace_id)]
        return CommittedChange(mine[-1].public_id, mine[-1].action, mine[-1].revision) if mine else None

    async def save_response(self, tenant: str, key: str, status_code: int, response: Mapping[str, Any]) -> None:
        """Keep the answer under the key."""
        if existing := self._claims.get((tenant, key)):
            reserve_key = replace(
                existing.reserve_key, status_code=status_code, response=json.loads(json.dumps(dict(response)))
            )
            self._claims[tenant, key] = replace(existing, reserve_key=reserve_key)

    async def release_key(self, tenant: str, key: str) -> None:
        """The key is free again, unless it is answered or the call committed something."""
        existing = self._claims.get((tenant, key))
        if (
            existing is not None
            and existing.reserve_key.status_code is None
            and self._deed(tenant, existing.trace_id) is None
        ):
            del self._claims[tenant, key]

    async def put_session(self, session: Session) -> None:
        """Keep a search."""
        self._sessions[session.tenant, session.search_id] = replace(
            session, request=_as_stored(session.request), result=_as_stored(session.result)
        )

    async def session(self, tenant: str, search_id: UUID) -> Session | None:
        """A search that was kept."""
        return self._sessions.get((tenant, search_id))

    async def record_hits(self, hits: Sequence[HitRecord], now: datetime) -> None:  # noqa: ARG002
        """Keep that notes were taken."""
        there = self._notes.among([hit.note_id for hit in hits])
        self._hits += [hit for hit in hits if hit.note_id in there]

    async def hit_counts(self, note_ids: Sequence[NoteId]) -> dict[NoteId, int]:
        """How often notes were taken; the hits of a purged note are gone with it."""
        there = self._notes.among(note_ids)
        return dict(Counter(hit.note_id for hit in self._hits if hit.note_id in there))

    async def clear_desk(self, before: datetime) -> int:
        """Forget searches and idempotency keys from before then."""
        existing = len(self._sessions) + len(self._claims)
        self._sessions = {name: session for name, session in self._sessions.items() if session.created_at >= before}
        self._claims = {name: claimed for name, claimed in self._claims.items() if claimed.at >= before}
        return existing - len(self._sessions) - len(self._claims)


def _as_stored(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """As a database gives it back."""
    stored: Mapping[str, Any] = json.loads(json.dumps(dict(value)))
    return stored
