"""DerivationStore: rows that are derived from a note at its revision, and go with its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from nur.domain.derivations import Derivation
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import Note, NoteId


class DerivationStore(Protocol):
    """Derived rows of active notes; `NoteWrite.derived` adds them too. Every method is one transaction.

    The transaction that changes a note's text, deletes or purges the note removes them. One that changes its metadata
    alone keeps them.
    """

    async def put(self, note: Note, derived: Sequence[Derivation], now: datetime) -> None:
        """Replace what these derivers made of the note.

        Raises Conflict when it is no longer active at this revision.
        """
        ...

    async def queue(self, now: datetime) -> int:
        """Queue every active note to be derived again and return how many there are. Rows stay until replaced."""
        ...

    async def queue_outdated(self, versions: Mapping[str, int], now: datetime) -> int:
        """Queue active notes that lack rows of one of these derivers, in its version, and return how many."""
        ...


class FingerprintStore(Protocol):
    """What is derived as fingerprints (`retrieval.fingerprint`)."""

    async def similar(self, note_id: NoteId, where: NoteFilter, now: datetime, limit: int) -> list[NoteId]:
        """Other notes that share bands with this one, those that share most first."""
        ...
