"""List changes of notes between two moments, in commit order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.changes import ChangeKind
from nur.domain.errors import BadRequest
from nur.domain.filters import is_alive
from nur.domain.notes import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from nur.domain.access import Caller
    from nur.domain.changes import Change
    from nur.domain.filters import PrivacyFilter
    from nur.domain.notes import Note, NoteId
    from nur.ports.clock import Clock
    from nur.ports.notes import ChangeLog, NoteStore

#: Lines read per query, and most queries per page: usually one, as most lines are visible.
BATCH = 200
MAX_BATCHES = 50
#: Prefixes of cursors: of pages with the oldest change first, and with the latest first.
_LATER, _EARLIER = "c", "e"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedChange:
    """A change, as shown to the caller."""

    change: Change
    note: Note | None  #: None: it was purged
    before: str | None = None  #: the text that was replaced
    after: str | None = None  #: the text that replaced it
    superseded_by: str | None = None  #: public id


@dataclass(frozen=True, slots=True)
class ChangesPage:
    """Some changes."""

    changes: Sequence[ListedChange]
    cursor: str  #: after the last change; with the oldest first, it also leads to changes made later
    has_more: bool


@dataclass(frozen=True, slots=True)
class _Unread:
    """The changes still to be read: after `after` and up to `last`."""

    after: int
    last: int
    newest_first: bool

    def without(self, change: Change) -> _Unread:
        """What is left after this change."""
        if self.newest_first:
            return replace(self, last=change.position - 1)
        return replace(self, after=change.position)

    @property
    def at_its_end(self) -> _Unread:
        """What is left after the last change: with the oldest first, later changes."""
        return self if self.newest_first else replace(self, after=max(self.after, self.last))

    @property
    def cursor(self) -> str:
        return f"{_EARLIER}{self.last}" if self.newest_first else f"{_LATER}{self.after}"


@dataclass(frozen=True, slots=True)
class ListChanges:
    """Reads the log of changes. Shows texts of active notes only, not of those in the trash."""

    changes: ChangeLog
    notes: NoteStore
    privacy: PrivacyFilter
    clock: Clock

    async def __call__(
        self,
        caller: Caller,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        cursor: str | None = None,
        limit: int,
        characters: int,
    ) -> ChangesPage:
        """Changes that the caller may see, oldest first. Raises BadRequest for an invalid cursor."""
        position = _position(cursor, _LATER)
        last = await self.changes.settled(caller.tenant, position)
        unread = _Unread(position, last, newest_first=False)
        return await self._page(caller, unread, since, until, limit, characters)

    async def latest(
        self,
        caller: Caller,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        cursor: str | None = None,
        limit: int,
        characters: int,
    ) -> ChangesPage:
        """Changes that the caller may see, latest first; cursors lead to earlier ones."""
        last = await self.changes.settled(caller.tenant, 0) if cursor is None else _position(cursor, _EARLIER)
        unread = _Unread(0, last, newest_first=True)
        return await self._page(caller, unread, since, until, limit, characters)

    async def about(
        self,
        words: str,
        caller: Caller,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int,
        characters: int,
    ) -> ChangesPage:
        """The last changes with these words in their texts, oldest first. The cursor leads to changes made later."""
        wanted, found, cursor = words.casefold(), list[ListedChange](), None
        while True:
            page = await self(caller, since=since, until=until, cursor=cursor, limit=BATCH, characters=characters)
            found += [one for one in page.changes if wanted in f"{one.before or ''} {one.after or ''}".casefold()]
            cursor = page.cursor
            if not page.has_more:
                return replace(page, changes=found[-limit:])

    async def _page(
        self,
        caller: Caller,
        unread: _Unread,
        since: datetime | None,
        until: datetime | None,
        limit: int,
        characters: int,
    ) -> ChangesPage:
        shown: list[ListedChange] = []
        for _ in range(MAX_BATCHES):
            batch = await self.changes.page(
                caller.tenant,
                unread.after,
                unread.last,
                limit=BATCH,
                since=since,
                until=until,
                newest_first=unread.newest_first,
            )
            listed = await self._listed(batch, caller, characters)
            for change in batch:
                if len(shown) == limit:
                    return ChangesPage(shown, unread.cursor, has_more=True)
                unread = unread.without(change)
                shown += [listed[change.position]] if change.position in listed else []
            if len(batch) < BATCH:
                return ChangesPage(shown, unread.at_its_end.cursor, has_more=False)
        return ChangesPage(shown, unread.cursor, has_more=True)

    async def _listed(self, batch: Sequence[Change], caller: Caller, characters: int) -> dict[int, ListedChange]:
        ids = {note_id for one in batch for note_id in (one.note_id, one.other) if note_id is not None}
        notes = await self.notes.by_ids(list(ids)) if ids else {}
        visible = {note_id: note for note_id, note in notes.items() if self.privacy.can_access(note, caller.principal)}
        wanted = {
            (one.note_id, version)
            for one in batch
            if one.version is not None and self._has_text(visible.get(one.note_id))
            for version in _versions(one)
        }
        texts = await self.changes.texts(wanted, characters)
        return {
            one.position: _shown(one, visible, texts)
            for one in batch
            if one.note_id in visible or (one.note_id not in notes and self._tells_of_purge(one, caller))
        }

    def _has_text(self, note: Note | None) -> bool:
        return note is not None and is_alive(note, self.clock.now())

    def _tells_of_purge(self, change: Change, caller: Caller) -> bool:
        """Whether the caller is shown this purge: every one, or if privacy is enforced, only its own."""
        is_own = not self.privacy.enforced or change.by == caller.principal.name
        return change.kind is ChangeKind.PURGED and is_own


def _versions(change: Change) -> tuple[int, ...]:
    version = change.version or 0
    if change.kind is ChangeKind.REPLACED:
        return version - 1, version
    return () if change.kind in (ChangeKind.DELETED, ChangeKind.PURGED) else (version,)


def _shown(change: Change, visible: Mapping[NoteId, Note], texts: Mapping[tuple[NoteId, int], str]) -> ListedChange:
    version = change.version or 0
    newer = None if change.other is None else visible.get(change.other)
    is_shown = newer is not None and newer.status is Status.ACTIVE
    return ListedChange(
        change=change,
        note=visible.get(change.note_id),
        before=texts.get((change.note_id, version - 1)) if change.kind is ChangeKind.REPLACED else None,
        after=texts.get((change.note_id, version)),
        superseded_by=newer.public_id if newer is not None and is_shown else None,
    )


def _position(cursor: str | None, sort: str) -> int:
    if cursor is None:
        return 0
    number = cursor.removeprefix(sort)
    if not cursor.startswith(sort) or not (number.isascii() and number.isdigit()) or len(number) > 18:
        raise BadRequest("cursor: send the cursor of a page, as it came")
    return int(number)
