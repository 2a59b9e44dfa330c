"""Short-lived records of calls: transaction bodies."""

from __future__ import annotations

import json
import zlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update

from nur.adapters.sql.tables import audit_log, idempotency_keys, memory_hits, memory_notes, search_sessions
from nur.domain.notes import NoteId
from nur.ports.desk import RESERVATION_SECONDS, CommittedChange, IdempotencyRecord, Session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Connection, Row

    from nur.ports.desk import HitRecord

k = idempotency_keys.c
s = search_sessions.c


def _key(tenant: str, key: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return k.tenant_id == tenant, k.idempotency_key == key


def reserve_key(
    connection: Connection, tenant: str, key: str, request_hash: str, trace_id: str, now: datetime
) -> IdempotencyRecord | None:
    """Take an idempotency key; None: it is ours."""
    row = connection.execute(select(idempotency_keys).where(*_key(tenant, key))).first()
    if row is not None:
        abandoned = row.status_code is None and row.created_at <= now - timedelta(seconds=RESERVATION_SECONDS)
        committed = _deed(connection, row) if abandoned else None
        if committed is not None or not abandoned:
            return IdempotencyRecord(row.request_hash, row.status_code, row.response, committed)
        connection.execute(delete(idempotency_keys).where(*_key(tenant, key)))
    connection.execute(
        insert(idempotency_keys).values(
            tenant_id=tenant, idempotency_key=key, request_hash=request_hash, trace_id=trace_id, created_at=now
        )
    )
    return None


def _deed(connection: Connection, claimed: Row[Any]) -> CommittedChange | None:
    """What the call committed last, if anything."""
    a = audit_log.c
    mine = (a.tenant_id == claimed.tenant_id, a.at >= claimed.created_at, a.trace_id == claimed.trace_id)
    query = select(a.public_id, a.action, a.revision).where(*mine).order_by(a.audit_id.desc()).limit(1)
    row = connection.execute(query).first()
    return None if row is None else CommittedChange(row.public_id, row.action, row.revision)


def save_response(connection: Connection, tenant: str, key: str, status_code: int, response: Mapping[str, Any]) -> None:
    """Keep the answer under the key."""
    row = update(idempotency_keys).where(*_key(tenant, key))
    connection.execute(row.values(status_code=status_code, response=dict(response)))


def release_key(connection: Connection, tenant: str, key: str) -> None:
    """The key is free again, unless it is answered or the call committed something."""
    row = connection.execute(select(idempotency_keys).where(*_key(tenant, key), k.status_code.is_(None))).first()
    if row is not None and _deed(connection, row) is None:
        connection.execute(delete(idempotency_keys).where(*_key(tenant, key)))


def expire_reservations(connection: Connection, now: datetime) -> None:
    """For a process that owns the store alone: whoever left claims without an answer is dead."""
    long_ago = now - timedelta(seconds=RESERVATION_SECONDS)
    young = update(idempotency_keys).where(k.status_code.is_(None), k.created_at > long_ago)
    connection.execute(young.values(created_at=long_ago))


def put_session(connection: Connection, session: Session) -> None:
    """Keep a search."""
    connection.execute(
        insert(search_sessions).values(
            search_id=session.search_id,
            tenant_id=session.tenant,
            principal=session.principal,
            request=dict(session.request),
            result=zlib.compress(json.dumps(session.result, ensure_ascii=False).encode(), 1),
            created_at=session.created_at,
        )
    )


def session(connection: Connection, tenant: str, search_id: UUID) -> Session | None:
    """A search that was kept."""
    row = connection.execute(select(search_sessions).where(s.search_id == search_id, s.tenant_id == tenant)).first()
    if row is None:
        return None
    result = json.loads(zlib.decompress(row.result))
    return Session(row.search_id, row.tenant_id, row.principal, row.request, result, row.created_at)


def record_hits(connection: Connection, hits: Sequence[HitRecord], now: datetime) -> None:
    """Keep that notes were taken; those that are gone are left out."""
    m = memory_notes.c
    there = set(connection.execute(select(m.note_id).where(m.note_id.in_([hit.note_id for hit in hits]))).scalars())
    rows = [
        {
            "tenant_id": hit.tenant,
            "principal": hit.principal,
            "search_id": hit.search_id,
            "note_id": hit.note_id,
            "chunk_id": hit.chunk_id,
            "rank": hit.rank,
            "created_at": now,
        }
        for hit in hits
        if hit.note_id in there
    ]
    if rows:
        connection.execute(insert(memory_hits), rows)


def hit_counts(connection: Connection, note_ids: Sequence[NoteId]) -> dict[NoteId, int]:
    """How often notes were taken."""
    h = memory_hits.c
    query = select(h.note_id, func.count().label("hits")).where(h.note_id.in_(note_ids)).group_by(h.note_id)
    return {NoteId(row.note_id): row.hits for row in connection.execute(query)}


def clear_desk(connection: Connection, before: datetime) -> int:
    """Forget searches and idempotency keys from before then."""
    searches = connection.execute(delete(search_sessions).where(s.created_at < before)).rowcount
    return searches + connection.execute(delete(idempotency_keys).where(k.created_at < before)).rowcount
