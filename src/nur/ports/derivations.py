"""DerivationStore: rows derived from a note's text, deleted with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from nur.domain.derivations import Derivation
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import Note, NoteId


class DerivationStore(Protocol):
    """Derived rows of active notes; `NoteWrite.derived` adds rows too. Every method is one transaction.

    A write that changes a note's text, deletes it or purges it also removes its rows. A change of metadata keeps them.
    """

    async def put(self, note: Note, derived: Sequence[Derivation], now: datetime) -> None:
        """Replace these derivers' rows of a note. Raises Conflict if it is no longer active at this revision."""
        ...

    async def queue(self, now: datetime) -> int:
        """Queue every active note for derivation. Existing rows stay until replaced. Returns how many were queued."""
        ...

    async def queue_outdated(self, versions: Mapping[str, int], now: datetime) -> int:
        """Queue active notes that lack rows of one of these deriver versions. Returns how many were queued."""
        ...


class FingerprintStore(Protocol):
    """Finds similar notes by their fingerprints (`retrieval.fingerprint`)."""

    async def similar(self, note_id: NoteId, where: NoteFilter, now: datetime, limit: int) -> list[NoteId]:
        """Return other notes that share bands with this one, most shared bands first."""
        ...
