"""SqlIdempotencyStore: responses under the callers' keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import delete, insert, select, update

from nur.adapters.sql.tables import audit_log, idempotency_keys
from nur.domain.errors import CallInProgress
from nur.ports.idempotency import RESERVATION_SECONDS, CommittedChange, IdempotencyRecord

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Row

    from nur.adapters.sql.runner import Runner
    from nur.domain.access import WriteContext

_keys = idempotency_keys.c
_audit = audit_log.c


class Owner(Protocol):
    """This process, as one of those that have the store open."""

    @property
    def number(self) -> int:
        """Unique among the running processes."""
        ...

    def is_gone(self, connection: Connection, number: int) -> bool:
        """Whether the process with this number has ended."""
        ...


@dataclass(frozen=True, slots=True)
class SqlIdempotencyStore:
    """Idempotency keys in one table, joined with the audit log by the call's id."""

    run: Runner
    owner: Owner | None = None  #: None: no other process has the store open

    async def reserve(self, key: str, request_hash: str, context: WriteContext) -> IdempotencyRecord | None:
        """Reserve an idempotency key. Returns None when reserved, else the existing record."""
        return await self.run.write(_reserve, key, request_hash, context, self.owner)

    async def save_response(self, tenant: str, key: str, status_code: int, response: Mapping[str, Any]) -> None:
        """Save the response under the key."""
        await self.run.write(_save_response, tenant, key, status_code, response)

    async def release(self, tenant: str, key: str, call_id: str) -> None:
        """Free the key of a failed call, unless the call committed, has a response, or lost the key to another call."""
        await self.run.write(_release, tenant, key, call_id)

    async def purge(self, before: datetime) -> int:
        """Delete keys from before then and return how many."""
        return await self.run.write(_purge, before)


def expire_reservations(connection: Connection, now: datetime) -> None:
    """Expire all reservations without a response. Call it where no other process has the store open."""
    long_ago = now - timedelta(seconds=RESERVATION_SECONDS)
    young = update(idempotency_keys).where(_keys.status_code.is_(None), _keys.created_at > long_ago)
    connection.execute(young.values(created_at=long_ago))


def _is_key(tenant: str, key: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return _keys.tenant_id == tenant, _keys.idempotency_key == key


def keep_reservation(connection: Connection, context: WriteContext, key: str) -> None:
    """Lock the call's key until the write is committed. Raises CallInProgress if another call has taken it over."""
    own = select(_keys.call_id).where(*_is_key(context.principal.tenant, key))
    if connection.execute(own.with_for_update(read=True, key_share=True)).scalar() != context.call_id:
        raise CallInProgress("Another call under this Idempotency-Key has taken over; nothing was written.")


def _reserve(
    connection: Connection, key: str, request_hash: str, context: WriteContext, owner: Owner | None
) -> IdempotencyRecord | None:
    tenant = context.principal.tenant
    # Locked: the first call has either committed its write by now, or will find its key gone.
    row = connection.execute(select(idempotency_keys).where(*_is_key(tenant, key)).with_for_update()).first()
    if row is not None:
        abandoned = row.status_code is None and _is_abandoned(connection, row, context.now, owner)
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
            owner=None if owner is None else owner.number,
        )
    )
    return None


def _is_abandoned(connection: Connection, row: Row[Any], now: datetime, owner: Owner | None) -> bool:
    if row.created_at <= now - timedelta(seconds=RESERVATION_SECONDS):
        return True
    return owner is not None and row.owner is not None and owner.is_gone(connection, row.owner)


def _committed(connection: Connection, reserved: Row[Any]) -> CommittedChange | None:
    """The last change that the call committed, if any."""
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


def _release(connection: Connection, tenant: str, key: str, call_id: str) -> None:
    open_key = (*_is_key(tenant, key), _keys.call_id == call_id, _keys.status_code.is_(None))
    row = connection.execute(select(idempotency_keys).where(*open_key)).first()
    if row is not None and _committed(connection, row) is None:
        connection.execute(delete(idempotency_keys).where(*open_key))


def _purge(connection: Connection, before: datetime) -> int:
    return connection.execute(delete(idempotency_keys).where(_keys.created_at < before)).rowcount
