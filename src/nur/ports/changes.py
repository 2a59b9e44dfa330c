"""ChangeLog: what happened to notes, in an order that never changes afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from nur.domain.changes import Change
    from nur.domain.notes import NoteId


class ChangeLog(Protocol):
    """Changes of all tenants, recorded in the transaction that makes them."""

    async def settled(self, tenant: str, after: int) -> int:
        """The last position up to which everything is committed; `after` itself when nothing came behind it.

        A change that is committed later has a higher position, so a reader that stops here skips nothing.
        """
        ...

    async def page(
        self,
        tenant: str,
        after: int,
        last: int,
        *,
        limit: int,
        since: datetime | None = None,
        until: datetime | None = None,
        newest_first: bool = False,
    ) -> list[Change]:
        """Changes behind `after` and up to `last`, in their order or the latest first; `since` ≤ at < `until`."""
        ...

    async def texts(self, versions: Collection[tuple[NoteId, int]], characters: int) -> dict[tuple[NoteId, int], str]:
        """The first characters of texts that notes had, by note and version; those no longer kept are left out."""
        ...
