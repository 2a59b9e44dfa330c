"""Callers: principals, tenants, and the context that every write records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Principal:
    """The holder of a token, or `local` where there are no tokens."""

    name: str
    tenant: str


#: The principal of a server without tokens. Entrypoints pass it in; nothing defaults to it.
LOCAL = Principal("local", DEFAULT_TENANT)


@dataclass(frozen=True, slots=True)
class WriteContext:
    """Who writes, in which call, and when. The audit log records all three with every write."""

    principal: Principal
    call_id: str
    now: datetime
    reservation: str | None = None  #: idempotency key reserved by the call; the write fails if it has lost it


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of one request. Built by the entrypoint and passed to every use case."""

    principal: Principal
    call_id: str  #: identifies the request in the log, the audit log and idempotency records
    idempotency_key: str | None = None  #: as sent by the caller

    @property
    def tenant(self) -> str:
        """The only tenant whose notes this caller reads and writes."""
        return self.principal.tenant

    @property
    def reservation(self) -> str | None:
        """The idempotency key as stored: prefixed with the principal, so that two principals never share one."""
        return None if self.idempotency_key is None else f"{self.principal.name}:{self.idempotency_key}"

    def at(self, now: datetime) -> WriteContext:
        """Return the context of a write by this caller at `now`."""
        return WriteContext(self.principal, self.call_id, now, self.reservation)
