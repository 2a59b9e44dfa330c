"""IdempotencyStore: the response of a call under the caller's key, so that a repeated call is done once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from nur.domain.access import WriteContext

#: A reservation without a response counts as abandoned after this long, or as soon as its process is known to be gone.
RESERVATION_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CommittedChange:
    """What a call committed, from the audit log."""

    public_id: str | None  #: None: purged since, and the id would reveal what it was
    action: str
    revision: int


@dataclass(frozen=True, slots=True)
class IdempotencyRecord:
    """An idempotency key that was used before."""

    request_hash: str
    status_code: int | None  #: None: no response yet
    response: Mapping[str, Any] | None
    committed: CommittedChange | None = None  #: of an abandoned call: it committed this and never replied


class IdempotencyStore(Protocol):
    """Keys of one tenant never meet those of another. Every method is one transaction."""

    async def reserve(self, key: str, request_hash: str, context: WriteContext) -> IdempotencyRecord | None:
        """Reserve an idempotency key. Returns None when reserved, else the existing record.

        The call id of the context joins the key with what the call commits, as the audit log records it. A write whose
        context names a reservation that another call has taken over raises CallInProgress.
        """
        ...

    async def save_response(self, tenant: str, key: str, status_code: int, response: Mapping[str, Any]) -> None:
        """Keep the response under the key."""
        ...

    async def release(self, tenant: str, key: str, call_id: str) -> None:
        """Free the key of a failed call, unless it has a response, another call has it, or the call committed."""
        ...

    async def purge(self, before: datetime) -> int:
        """Delete keys from before then and return how many."""
        ...
