"""SqlIdempotencyStore: responses under the callers' keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from nur.adapters.sql.tables import audit_log, idempotency_keys
from nur.ports.idempotency import RESERVATION_SECONDS, CommittedChange, IdempotencyRecord

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Row

    from nur.adapters.sql.runner import Runner
    from nur.domain.access import WriteContext

_keys = idempotency_keys.c
_audit = audit_log.c


@dataclass(frozen=True, slots=True)
class SqlIdempotencyStore:
    """Idempotency keys in one table, joined with the audit log by the call's id."""

    run: Runner

    async def reserve(self, key: str, request_hash: str, context: WriteContext) -> IdempotencyRecord | None:
        """Reserve an idempotency key. Returns None when reserved, else the existing record."""
        return await self.run.write(_reserve, key, request_hash, context)

    async def save_response(self, tenant: str, key: str, status_code: int, response: Mapping[str, Any]) -> None:
        """Keep the response under the key."""
        await self.run.write(_save_response, tenant, key, status_code, response)

    async def release(self, tenant: str, key: str) -> None:
        """Free the key of a failed call, unless it has a response or the call committed something."""
        await self.run.write(_release, tenant, key)

    async def purge(self, before: datetime) -> int:
        """Delete keys from before then and return how many."""
        return await self.run.write(_purge, before)


def expire_reservations(connection: Connection, now: datetime) -> None:
    """For a process that owns the store alone: calls without a response belong to a process that died."""
    long_ago = now - timedelta(seconds=RESERVATION_SECONDS)
    young = update(idempotency_keys).where(_keys.status_code.is_(None), _keys.created_at > long_ago)
    connection.execute(young.values(created_at=long_ago))


def _is_key(tenant: str, key: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return _keys.tenant_id == tenant, _keys.idempotency_key == key


def _reserve(connection: Connection, key: str, request_hash: str, context: WriteContext) -> IdempotencyRecord | None:
    tenant = context.principal.tenant
    row = connection.execute(select(idempotency_keys).where(*_is_key(tenant, key))).first()
    if row is not None:
        expired = row.created_at <= context.now - timedelta(seconds=RESERVATION_SECONDS)
        abandoned = row.status_code is None and expired
        committed = _committed(connection, row) if abandoned else None
        if committed is not None or not abandoned:
            return IdempotencyRecord(row.request_hash, row.status_code, row.response, committed)
        connection.execute(delete(idempotency_keys).where(*_is_key(tenant, key)))
    connection.execute(
        insert(idempotency_keys).values(
            tenant_id=tenant,
            idempotency_key=key,
            request_hash=request_hash,
            call_id=context.call_id,
            created_at=context.now,
        )
    )
    return None


def _committed(connection: Connection, reserved: Row[Any]) -> CommittedChange | None:
    """What the call committed last, if anything."""
    own = (
        _audit.tenant_id == reserved.tenant_id,
        _audit.at >= reserved.created_at,
        _audit.call_id == reserved.call_id,
    )
    query = select(_audit.public_id, _audit.action, _audit.revision).where(*own)
    row = connection.execute(query.order_by(_audit.audit_id.desc()).limit(1)).first()
    return None if row is None else CommittedChange(row.public_id, row.action, row.revision)


def _save_response(
    connection: Connection, tenant: str, key: str, status_code: int, response: Mapping[str, Any]
) -> None:
    row = update(idempotency_keys).where(*_is_key(tenant, key))
    connection.execute(row.values(status_code=status_code, response=dict(response)))


def _release(connection: Connection, tenant: str, key: str) -> None:
    open_key = (*_is_key(tenant, key), _keys.status_code.is_(None))
    row = connection.execute(select(idempotency_keys).where(*open_key)).first()
    if row is not None and _committed(connection, row) is None:
        connection.execute(delete(idempotency_keys).where(*_is_key(tenant, key)))


def _purge(connection: Connection, before: datetime) -> int:
    return connection.execute(delete(idempotency_keys).where(_keys.created_at < before)).rowcount
