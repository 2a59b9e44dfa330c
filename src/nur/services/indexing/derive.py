"""Derive rows from a note's text: in its write, or by the worker if that failed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.derivations import Derivation
from nur.domain.errors import NurError
from nur.domain.notes import Status
from nur.observability.events import EventLog
from nur.services.indexing.chunk_text import SHORT_TEXT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from nur.domain.derivations import Deriver
    from nur.domain.notes import Note
    from nur.ports.clock import Clock
    from nur.ports.derivations import DerivationStore
    from nur.ports.notes import NoteStore
    from nur.ports.store_facts import StoreFacts

log = EventLog("Derive")

DERIVERS_FACT = "derivers"  #: names and versions of the derivers at the last queueing


@dataclass(frozen=True, slots=True)
class Derived:
    """The rows that derivers made from a note."""

    derivations: Sequence[Derivation]
    failed: Sequence[str] = ()  #: names of derivers that raised; `derivations` has none of their rows


@dataclass(frozen=True, slots=True)
class Derive:
    """Runs the derivers. A write never fails because of them."""

    derivers: Sequence[Deriver]
    notes: NoteStore
    derivations: DerivationStore
    facts: StoreFacts
    clock: Clock
    compare: Callable[[Note, str], Awaitable[None]]  #: suggests what a memory should be reviewed with

    async def rows(self, note: Note, text: str) -> Derived:
        """Run all derivers on a note; in a thread if its text is long."""
        if len(text) <= SHORT_TEXT:
            return _derived(self.derivers, note, text)
        return await asyncio.to_thread(_derived, self.derivers, note, text)

    async def __call__(self, note: Note) -> None:
        """Derive a stored note again and replace its rows; one in the trash has none.

        Raises Conflict when the note changed meanwhile, NurError when a deriver failed; what the others made is kept.
        """
        if note.status is not Status.ACTIVE:
            return
        texts = await self.notes.texts([note.note_id])
        text = texts.get(note.note_id, "")
        derived = await self.rows(note, text)
        await self.derivations.put(note, derived.derivations, self.clock.now())
        await self.compare(note, text)
        if derived.failed:
            raise NurError(f"These derivers failed: {', '.join(derived.failed)}. The log has the reason.")

    async def queue_outdated(self) -> int:
        """Queue notes that lack rows of a current deriver version; returns how many. Call it on opening."""
        versions = {deriver.name: deriver.version for deriver in self.derivers}
        wanted = " ".join(f"{name}:{version}" for name, version in sorted(versions.items()))
        if await self.facts.get(DERIVERS_FACT) == wanted:
            return 0
        queued = await self.derivations.queue_outdated(versions, self.clock.now())
        await self.facts.set(DERIVERS_FACT, wanted)
        return queued


def _derived(derivers: Sequence[Deriver], note: Note, text: str) -> Derived:
    made, failed = [], []
    for deriver in derivers:
        try:
            made.append(Derivation(deriver.name, deriver.version, deriver.rows(note, text)))
        except Exception:  # noqa: BLE001  # a note must be stored whatever its text does to a deriver
            log.crash("derive_failed", deriver=deriver.name, note=note.public_id)
            failed.append(deriver.name)
    return Derived(made, failed)
