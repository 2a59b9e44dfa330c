"""The Desk part of InMemoryLedger."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from nur.adapters.in_memory.rooms import InMemoryRooms
from nur.ports.desk import CLAIM_SECONDS, Claim, Deed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from nur.domain.notes import NoteId
    from nur.ports.clock import Clock
    from nur.ports.desk import HitRecord, Session


@dataclass(frozen=True, slots=True)
class _Claimed:
    claim: Claim
    trace_id: str
    at: datetime


class InMemoryDesk(InMemoryRooms):
    """Short-lived records of calls."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._claims: dict[tuple[str, str], _Claimed] = {}
        self._sessions: dict[tuple[str, UUID], Session] = {}
        self._hits: list[HitRecord] = []

    async def claim(self, tenant: str, key: str, request_hash: str, trace_id: str, now: datetime) -> Claim | None:
        """Take an idempotency key; None: it is ours."""
        held = self._claims.get((tenant, key))
        if held is not None:
            abandoned = held.claim.status_code is None and held.at <= now - timedelta(seconds=CLAIM_SECONDS)
            deed = self._deed(tenant, held.trace_id) if abandoned else None
            if deed is not None or not abandoned:
                return replace(held.claim, deed=deed)
        self._claims[tenant, key] = _Claimed(Claim(request_hash, None, None), trace_id, now)
        return None

    def _deed(self, tenant: str, trace_id: str) -> Deed | None:
        """What the call committed last, if anything."""
        mine = [line for line in self.audit if (line.tenant, line.trace_id) == (tenant, trace_id)]
        return Deed(mine[-1].public_id, mine[-1].action, mine[-1].revision) if mine else None

    async def answer_claim(self, tenant: str, key: str, status_code: int, response: Mapping[str, Any]) -> None:
        """Keep the answer under the key."""
        if held := self._claims.get((tenant, key)):
            claim = replace(held.claim, status_code=status_code, response=json.loads(json.dumps(dict(response))))
            self._claims[tenant, key] = replace(held, claim=claim)

    async def drop_claim(self, tenant: str, key: str) -> None:
        """The key is free again, unless it is answered or the call committed something."""
        held = self._claims.get((tenant, key))
        if held is not None and held.claim.status_code is None and self._deed(tenant, held.trace_id) is None:
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
        held = len(self._sessions) + len(self._claims)
        self._sessions = {name: session for name, session in self._sessions.items() if session.created_at >= before}
        self._claims = {name: claimed for name, claimed in self._claims.items() if claimed.at >= before}
        return held - len(self._sessions) - len(self._claims)


def _as_stored(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """As a database gives it back."""
    stored: Mapping[str, Any] = json.loads(json.dumps(dict(value)))
    return stored
