"""Housekeeping: moves expired notes to the trash, erases old trash, deletes finished jobs and old keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from nur.domain.access import Principal, WriteContext
from nur.domain.errors import Conflict, NurError
from nur.observability.events import EventLog, traced

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from nur.domain.notes import Note
    from nur.ports.clock import Clock
    from nur.ports.idempotency import IdempotencyStore
    from nur.ports.notes import NoteStore
    from nur.ports.outbox import Outbox
    from nur.ports.store_facts import StoreFacts
    from nur.services.notes.trash import Forget, Trash

log = EventLog("Housekeeper")

EVERY_SECONDS = 60.0
BATCH = 200
KEEP_TRASH = timedelta(days=30)
#: Time between two checks of the trash. A first check erases nothing: the clock may be wrong for a while.
BETWEEN_CHECKS = timedelta(days=1)
CHECKED_AT = "trash_looked_at"  #: store fact: time of the last check
KEEP_DONE = timedelta(days=1)  #: for finished outbox rows and idempotency keys
PRINCIPAL = "retention"  #: name in the audit log


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """Enforces retention: `1y` and `custom` expire at a time, `until_resolved` when the note is resolved."""

    notes: NoteStore
    outbox: Outbox
    idempotency: IdempotencyStore
    facts: StoreFacts
    forget: Forget
    trash: Trash
    clock: Clock

    async def forever(self) -> None:
        """Run once a minute until cancelled."""
        while True:
            with traced():
                try:
                    await self.once()
                except NurError as error:
                    log.warning("tidy_failed", error=error.code)
            await self.clock.sleep(EVERY_SECONDS)

    async def once(self) -> int:
        """Run one round. Returns how many notes were moved or erased."""
        now = self.clock.now()
        expired = await self._each(
            lambda: self.notes.expired(now, BATCH),
            lambda note: self.forget.discard(note, "expire", _context(note, now)),
        )
        erased = await self._erase_old(now)
        done = await self.outbox.purge_done(now - KEEP_DONE)
        cleared = await self.idempotency.purge(now - KEEP_DONE)
        if expired or erased or done or cleared:
            log.info("tidied", expired=expired, erased=erased, done_rows=done, calls=cleared)
        return expired + erased

    async def _erase_old(self, now: datetime) -> int:
        """Erase notes that were past retention at the previous check, at least a day ago. Returns how many.

        A clock that jumps ahead for less than a day erases nothing: during the jump, the previous check has the right
        time; after it, a check made during the jump lies in the future and is ignored.
        """
        fact = await self.facts.get(CHECKED_AT)
        last = datetime.fromisoformat(fact) if fact else None
        if last is not None and last <= now < last + BETWEEN_CHECKS:
            return 0
        erased = 0
        if last is not None and last < now:
            before = last - KEEP_TRASH
            erased = await self._each(
                lambda: self.notes.trash(before, BATCH), lambda note: self.trash.erase(note, _context(note, now))
            )
        if erased:
            await self.trash.scrub()
        await self.facts.set(CHECKED_AT, now.isoformat())
        return erased

    async def _each(
        self, find: Callable[[], Awaitable[Sequence[Note]]], handle: Callable[[Note], Awaitable[None]]
    ) -> int:
        """Handle and count every note that `find` returns; one that changes meanwhile waits for the next round."""
        handled = 0
        while notes := await find():
            before = handled
            for note in notes:
                try:
                    await handle(note)
                    handled += 1
                except Conflict:
                    log.info("tidy_conflict", note=note.public_id)
            if handled == before:
                break
        return handled


def _context(note: Note, now: datetime) -> WriteContext:
    return WriteContext(Principal(PRINCIPAL, note.tenant), PRINCIPAL, now)
