"""Who calls, and on whose behalf a write happens."""

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
    reservation: str | None = (
        None  #: the idempotency key that the call has reserved, and must still have when it writes
    )


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls. Made by the entrypoint and passed to every use case."""

    principal: Principal
    call_id: str  #: names the request in the log, in the audit log and under an idempotency key
    idempotency_key: str | None = None  #: as the caller chose it

    @property
    def tenant(self) -> str:
        """The only tenant whose notes this caller reads and writes."""
        return self.principal.tenant

    @property
    def reservation(self) -> str | None:
        """The key as it is stored: keys of two principals never meet."""
        return None if self.idempotency_key is None else f"{self.principal.name}:{self.idempotency_key}"

    def at(self, now: datetime) -> WriteContext:
        """The context of a write that this caller makes now."""
        return WriteContext(self.principal, self.call_id, now, self.reservation)
