"""Pages of changes join without a gap, in both directions, and show a caller no more than it may see."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast
from uuid import uuid4

import pytest

from nur.domain.access import Caller, Principal
from nur.domain.changes import Change, ChangeKind
from nur.domain.errors import BadRequest
from nur.domain.filters import PrivacyFilter
from nur.domain.notes import NoteId, Status, Visibility
from nur.services.notes.list_changes import BATCH, MAX_BATCHES, ListChanges
from tests.doubles.clock import ManualClock
from tests.store_notes import START, a_note

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from nur.domain.notes import Note
    from nur.ports.notes import NoteStore
    from nur.services.notes.list_changes import ChangesPage, ListedChange

ANN = Caller(Principal("ann", "default"), "call")
MINUTE = timedelta(minutes=1)


@dataclass
class Log:
    """A log of changes and the notes that they are of."""

    changes: list[Change] = field(default_factory=list)
    notes: dict[NoteId, Note] = field(default_factory=dict)
    asked: set[tuple[NoteId, int]] = field(default_factory=set)  #: texts that were read

    def add(self, kind: ChangeKind, note: Note | None = None, **fields: object) -> Change:
        """One more change; of a purged note without a note."""
        note_id = NoteId(uuid4()) if note is None else note.note_id
        if note is not None:
            self.notes[note_id] = note
        position = len(self.changes) + 1
        known = {"at": START + position * MINUTE, "public_id": None, "version": 1, "by": "ann", **fields}
        change = Change(position=position, kind=kind, note_id=note_id, **known)  # type: ignore[arg-type]
        self.changes.append(change)
        return change

    async def settled(self, tenant: str, after: int) -> int:
        assert tenant == ANN.tenant
        return max(after, len(self.changes))

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
        assert tenant == ANN.tenant
        found = [
            one
            for one in self.changes
            if after < one.position <= last and (since is None or since <= one.at) and (until is None or one.at < until)
        ]
        return found[::-1][:limit] if newest_first else found[:limit]

    async def texts(self, versions: Collection[tuple[NoteId, int]], characters: int) -> dict[tuple[NoteId, int], str]:
        self.asked |= set(versions)
        return {(note_id, version): f"text {version}"[:characters] for note_id, version in versions}

    async def by_ids(self, note_ids: list[NoteId]) -> dict[NoteId, Note]:
        return {note_id: self.notes[note_id] for note_id in note_ids if note_id in self.notes}


@pytest.fixture
def log() -> Log:
    return Log()


def lister(log: Log, *, enforced: bool = False) -> ListChanges:
    return ListChanges(log, cast("NoteStore", log), PrivacyFilter(enforced), ManualClock())


async def a_page(log: Log, *, latest: bool, enforced: bool = False, **asked: object) -> ChangesPage:
    listed = lister(log, enforced=enforced)
    asked = {"limit": 7, "characters": 100, **asked}
    found = listed.latest(ANN, **asked) if latest else listed(ANN, **asked)  # type: ignore[arg-type]
    return await found


async def all_pages(log: Log, *, latest: bool, limit: int) -> list[int]:
    """The positions of all changes, page by page."""
    positions: list[int] = []
    cursor = None
    while True:
        page = await a_page(log, latest=latest, cursor=cursor, limit=limit)
        assert len(page.changes) <= limit
        positions += [one.change.position for one in page.changes]
        if not page.has_more:
            return positions
        cursor = page.cursor


async def only(log: Log, **asked: object) -> ListedChange:
    [found] = (await a_page(log, latest=False, **asked)).changes  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("latest", [False, True])
@pytest.mark.parametrize("count", [0, 6, 7, 8, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH + 5])
async def test_pages_join_without_a_gap(log: Log, count: int, latest: bool) -> None:
    note = a_note()
    for place in range(count):  # every third is of a note that nothing is left of: it is not shown
        log.add(ChangeKind.EDITED, note if place % 3 else None)
    expected = [one.position for one in log.changes if one.note_id in log.notes]
    for limit in (7, BATCH):
        assert await all_pages(log, latest=latest, limit=limit) == (expected[::-1] if latest else expected)


@pytest.mark.parametrize("latest", [False, True])
async def test_the_last_page_is_known_to_be_the_last(log: Log, latest: bool) -> None:
    for _ in range(7):
        log.add(ChangeKind.CREATED, a_note())
    page = await a_page(log, latest=latest, limit=7)
    assert (len(page.changes), page.has_more) == (7, False)
    page = await a_page(log, latest=latest, limit=6)
    assert (len(page.changes), page.has_more) == (6, True)


async def test_the_last_cursor_leads_to_what_comes_later(log: Log) -> None:
    log.add(ChangeKind.CREATED, a_note())
    log.add(ChangeKind.CREATED)  # invisible, and still passed
    page = await a_page(log, latest=False)
    assert page.cursor == "c2"
    assert (await a_page(log, latest=False, cursor=page.cursor)).cursor == "c2"
    log.add(ChangeKind.CREATED, a_note())
    assert [one.change.position for one in (await a_page(log, latest=False, cursor="c2")).changes] == [3]
    assert (await a_page(log, latest=False, cursor="c9")).cursor == "c9"  # of a log that was longer


@pytest.mark.parametrize("latest", [False, True])
async def test_a_page_ends_after_so_many_lines_that_nobody_may_see(log: Log, latest: bool) -> None:
    hidden = BATCH * MAX_BATCHES
    seen = [log.add(ChangeKind.CREATED, a_note())] if latest else []
    for _ in range(hidden):
        log.add(ChangeKind.CREATED)
    seen = seen or [log.add(ChangeKind.CREATED, a_note())]
    page = await a_page(log, latest=latest)
    assert (page.changes, page.has_more, page.cursor) == ([], True, "e1" if latest else f"c{hidden}")
    page = await a_page(log, latest=latest, cursor=page.cursor)
    assert ([one.change for one in page.changes], page.has_more) == (seen, False)


@pytest.mark.parametrize("latest", [False, True])
async def test_a_stretch_of_time_is_passed_on(log: Log, latest: bool) -> None:
    for _ in range(5):
        log.add(ChangeKind.CREATED, a_note())
    page = await a_page(log, latest=latest, since=START + 2 * MINUTE, until=START + 4 * MINUTE)
    assert sorted(one.change.position for one in page.changes) == [2, 3]
    assert page.cursor == ("e1" if latest else "c5")  # what lies outside the stretch is passed, too


@pytest.mark.parametrize("cursor", ["", "c", "7", "c-1", "c 1", "c١", "e1", "C1", "c" + "1" * 19])
async def test_what_is_no_cursor_is_refused(log: Log, cursor: str) -> None:
    with pytest.raises(BadRequest, match="send the cursor of a page"):
        await a_page(log, latest=False, cursor=cursor)


async def test_a_cursor_of_the_other_direction_is_refused(log: Log) -> None:
    with pytest.raises(BadRequest):
        await a_page(log, latest=True, cursor="c1")
    assert (await a_page(log, latest=False, cursor="c" + "1" * 18)).changes == []


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        (ChangeKind.CREATED, None, "text 3"),
        (ChangeKind.REPLACED, "text 2", "text 3"),
        (ChangeKind.EDITED, None, "text 3"),
        (ChangeKind.RESTORED, None, "text 3"),
        (ChangeKind.DELETED, None, None),
    ],
)
async def test_a_change_has_its_texts(log: Log, kind: ChangeKind, before: str | None, after: str | None) -> None:
    note = a_note()
    log.add(kind, note, version=3)
    found = await only(log)
    assert (found.note, found.before, found.after) == (note, before, after)
    assert log.asked == {(note.note_id, int(text[-1])) for text in (before, after) if text}


async def test_texts_are_cut_to_what_was_asked(log: Log) -> None:
    log.add(ChangeKind.CREATED, a_note())
    assert (await only(log, characters=4)).after == "text"


@pytest.mark.parametrize(
    "note",
    [a_note(status=Status.DELETED), a_note(expires_at=START)],  # the clock stands at the start
)
async def test_what_is_no_longer_active_has_no_texts(log: Log, note: Note) -> None:
    log.add(ChangeKind.REPLACED, note, version=2)
    found = await only(log)
    assert (found.note, found.before, found.after) == (note, None, None)


async def test_a_change_of_an_unknown_version_has_no_texts(log: Log) -> None:
    log.add(ChangeKind.EDITED, a_note(), version=None)
    assert (await only(log)).after is None
    assert log.asked == set()


async def test_the_note_that_supersedes_is_named_as_long_as_it_is_active(log: Log) -> None:
    newer = a_note()
    log.notes[newer.note_id] = newer
    log.add(ChangeKind.SUPERSEDED, a_note(), other=newer.note_id)
    assert (await only(log)).superseded_by == newer.public_id
    log.notes[newer.note_id] = replace(newer, status=Status.DELETED)
    assert (await only(log)).superseded_by is None
    del log.notes[newer.note_id]
    assert (await only(log)).superseded_by is None


async def test_others_see_what_is_shared_alone(log: Log) -> None:
    shared = a_note(owner="bob", visibility=Visibility.TEAM)
    own, private = a_note(owner="ann"), a_note(owner="bob")
    for note in (shared, own, private):
        log.add(ChangeKind.SUPERSEDED, note, other=private.note_id)
    page = await a_page(log, latest=False, enforced=True)
    assert [one.note for one in page.changes] == [shared, own]
    assert [one.superseded_by for one in page.changes] == [None, None]
    assert len((await a_page(log, latest=False)).changes) == 3


async def test_a_purge_is_shown_to_who_did_it(log: Log) -> None:
    log.add(ChangeKind.CREATED)
    log.add(ChangeKind.PURGED, by="bob")
    log.add(ChangeKind.PURGED, by="ann")
    page = await a_page(log, latest=False, enforced=True)
    assert [(one.change.position, one.note, one.after) for one in page.changes] == [(3, None, None)]
    assert [one.change.position for one in (await a_page(log, latest=False)).changes] == [2, 3]


@pytest.mark.parametrize(
    ("words", "positions"),
    [
        ("TEXT 7", [2 * BATCH]),  # in the last batch, ignoring case
        ("text", [2 * BATCH - 1, 2 * BATCH]),  # the last ones, oldest first
        ("river", []),
    ],
)
async def test_the_last_changes_about_something(log: Log, words: str, positions: list[int]) -> None:
    note = a_note()
    for place in range(1, 2 * BATCH + 1):
        log.add(ChangeKind.CREATED, note, version=7 if place == 2 * BATCH else 1)
    page = await lister(log).about(words, ANN, limit=2, characters=100)
    assert [one.change.position for one in page.changes] == positions
    log.add(ChangeKind.CREATED, note)
    assert [one.change.position for one in (await a_page(log, latest=False, cursor=page.cursor)).changes] == [
        2 * BATCH + 1
    ]
