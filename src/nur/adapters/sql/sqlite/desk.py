"""The Desk part of SqliteLedger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nur.adapters.sql import desk
from nur.adapters.sql.sqlite.bodies import Bodies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from nur.domain.notes import NoteId
    from nur.ports.desk import HitRecord, IdempotencyRecord, Session


class SqliteDesk(Bodies):
    """Short-lived records of calls."""

    async def reserve_key(
        self, tenant: str, key: str, request_hash: str, trace_id: str, now: datetime
    ) -> IdempotencyRecord | None:
        """Take an idempotency key; None: it is ours."""
        return await self._write(desk.reserve_key, tenant, key, request_hash, trace_id, now)

    async def save_response(self, tenant: str, key: str, status_code: int, response: Mapping[str, Any]) -> None:
        """Keep the answer under the key."""
        await self._write(desk.save_response, tenant, key, status_code, response)

    async def release_key(self, tenant: str, key: str) -> None:
        """The key is free again, unless it is answered or the call committed something."""
        await self._write(desk.release_key, tenant, key)

    async def put_session(self, session: Session) -> None:
        """Keep a search."""
        await self._write(desk.put_session, session)

    async def session(self, tenant: str, search_id: UUID) -> Session | None:
        """A search that was kept."""
        return await self._read(desk.session, tenant, search_id)

    async def record_hits(self, hits: Sequence[HitRecord], now: datetime) -> None:
        """Keep that notes were taken."""
        await self._write(desk.record_hits, hits, now)

    async def hit_counts(self, note_ids: Sequence[NoteId]) -> dict[NoteId, int]:
        """How often notes were taken."""
        return await self._read(desk.hit_counts, note_ids)

    async def clear_desk(self, before: datetime) -> int:
        """Forget searches and idempotency keys from before then."""
        return await self._write(desk.clear_desk, before)
