"""Callers: principals, tenants, the context that every write records, and what a principal may see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.notes import SHARED

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.filters import NoteFilter
    from nur.domain.notes import Note
    from nur.domain.search import SearchRequest
    from nur.domain.traces import Trace

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


@dataclass(frozen=True, slots=True)
class PrivacyFilter:
    """Limits what a principal may see: its whole tenant, or if `enforced` only own and shared notes."""

    enforced: bool = False

    def limit(self, request: SearchRequest) -> SearchRequest:
        """Return the request limited to what its caller may see."""
        return replace(request, where=self.visible(request.where, request.caller.principal))

    def visible(self, where: NoteFilter, principal: Principal) -> NoteFilter:
        """Return the filter limited to what the principal may see."""
        visible_to = principal.name if self.enforced else None
        return replace(where, tenant=principal.tenant, visible_to=visible_to)

    def can_explain(self, trace: Trace, principal: Principal) -> bool:
        """Whether the principal may see a search's trace: its own; without enforcement, any of the tenant."""
        return trace.tenant == principal.tenant and (not self.enforced or trace.principal == principal.name)

    def can_access(self, note: Note, principal: Principal) -> bool:
        """Whether the principal may see a note: its own or shared; without enforcement, any of the tenant."""
        if note.tenant != principal.tenant:
            return False
        return not self.enforced or note.meta.visibility in SHARED or note.owner == principal.name
