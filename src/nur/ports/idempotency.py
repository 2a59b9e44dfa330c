"""IdempotencyStore: responses by idempotency key, so that a repeated call runs once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from nur.domain.access import WriteContext

#: A reservation without a response is abandoned after this long, or as soon as its process is known to have ended.
RESERVATION_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CommittedChange:
    """What a call committed, from the audit log."""

    public_id: str | None  #: None: purged since, and the id would reveal its content
    action: str
    revision: int


@dataclass(frozen=True, slots=True)
class IdempotencyRecord:
    """An idempotency key that was used before."""

    request_hash: str
    status_code: int | None  #: None: no response yet
    response: Mapping[str, Any] | None
    committed: CommittedChange | None = None  #: what an abandoned call committed before it could reply


class IdempotencyStore(Protocol):
    """Idempotency keys, separate for each tenant. Every method is one transaction."""

    async def reserve(self, key: str, request_hash: str, context: WriteContext) -> IdempotencyRecord | None:
        """Reserve an idempotency key. Returns None when reserved, else the existing record.

        The context's call id links the key to the call's rows in the audit log. A write raises CallInProgress if
        another call has taken over the reservation in its context.
        """
        ...

    async def save_response(self, tenant: str, key: str, status_code: int, response: Mapping[str, Any]) -> None:
        """Save the response for a key."""
        ...

    async def release(self, tenant: str, key: str, call_id: str) -> None:
        """Free a failed call's key, unless it has a response, another call owns it, or the call committed."""
        ...

    async def purge(self, before: datetime) -> int:
        """Delete keys reserved before a time. Returns how many."""
        ...
