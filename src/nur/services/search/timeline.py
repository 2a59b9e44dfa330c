"""The timeline: one dated line for each note, in the order of time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time
from typing import TYPE_CHECKING

from nur.domain.errors import BadRequest
from nur.domain.filters import NoteFilter, Order
from nur.domain.notes import Kind
from nur.domain.search import SearchRequest
from nur.domain.times import Grain, TimeWindow, day_of, in_utc
from nur.retrieval.times.find import find_times, stated_windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from nur.domain.access import Caller
    from nur.domain.notes import Note
    from nur.domain.times import Zone
    from nur.ports.clock import Clock
    from nur.services.notes.list_notes import ListedNotes, ListNotes
    from nur.services.search.search import Search

#: Characters of a line's quote: a line is a pointer, and thirty of them must be quick to read.
QUOTE = 90
_READ = 2_000


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """What was said or happened at a time."""

    window: TimeWindow  #: the time that the quote names, else the day it was said
    said_at: datetime
    note: Note
    quote: str  #: on one line, cut where it is longer


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRequest:
    """Which notes are listed. Without a query: those said last."""

    caller: Caller
    query: str | None = None  #: the notes that a search for it finds
    about: str | None = None  #: only notes with these words in their text or title
    when: str | None = None  #: only what was said in this stretch of time or names a time in it
    conversation_id: str | None = None
    kinds: frozenset[Kind] = frozenset(Kind)
    project: str | None = None
    limit: int = 30
    cursor: str | None = None  #: of the page before; a query has one page


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """A part of a timeline; the next page holds what was said earlier."""

    entries: Sequence[TimelineEntry]  #: oldest first
    next_cursor: str | None  #: None: this is the last page


@dataclass(frozen=True, slots=True)
class Timeline:
    """Lists notes in the order of time."""

    search: Search
    list_notes: ListNotes
    clock: Clock
    zone: Zone

    async def __call__(self, request: TimelineRequest) -> list[TimelineEntry]:
        """The entries, oldest first. Raises BadRequest when `when` names no time."""
        return list((await self.page(request)).entries)

    async def page(self, request: TimelineRequest) -> TimelinePage:
        """A page of entries. Raises BadRequest when `when` names no time, or for a cursor that no page returned."""
        windows = self.windows(request.when)
        if request.query:
            return TimelinePage(self._entries(await self._searched(request), request, windows), None)
        listed = await self._listed(request, windows)
        return TimelinePage(self._entries(listed.notes, request, windows), listed.next_cursor)

    def _entries(
        self, found: Iterable[tuple[Note, str]], request: TimelineRequest, windows: Sequence[TimeWindow]
    ) -> list[TimelineEntry]:
        about = (request.about or "").casefold()
        entries = [
            self._entry(note, text)
            for note, text in found
            if about in text.casefold() or about in (note.meta.title or "").casefold()
        ]
        if windows:
            entries = [one for one in entries if self._lies_in(one, windows)]
        return sorted(entries[: request.limit], key=_order)

    def windows(self, when: str | None) -> tuple[TimeWindow, ...]:
        """The stretches that `when` names; none where it is None. Raises BadRequest."""
        if when is None:
            return ()
        windows = stated_windows(when, day_of(self.clock.now(), self.zone))
        if not windows:
            raise BadRequest("when must name a time, such as 2026-05, 2026-05-07 or last week")
        return windows

    def bounds(self, windows: Sequence[TimeWindow]) -> tuple[datetime, datetime] | None:
        """From the first moment of the stretches to the one after their last; None where there is none."""
        if not windows:
            return None
        days = min(one.first for one in windows), max(one.end for one in windows)
        start, end = (in_utc(datetime.combine(day, time.min), self.zone) for day in days)
        return start, end

    async def _searched(self, request: TimelineRequest) -> Iterable[tuple[Note, str]]:
        result = await self.search(
            SearchRequest(
                query=request.query or "",
                caller=request.caller,
                where=_where(request),
                when=request.when,
                limit=request.limit,
                max_chars=request.limit * 2 * QUOTE,
                tool="memory_timeline",
            )
        )
        return [(hit.note, hit.passages[0].text) for hit in result.hits]

    async def _listed(self, request: TimelineRequest, windows: Sequence[TimeWindow]) -> ListedNotes:
        bounds = self.bounds(windows)
        start, end = bounds or (None, None)
        where = _where(request, start, end)
        return await self.list_notes.page(
            where,
            request.caller,
            limit=request.limit,
            cursor=request.cursor,
            characters=_READ,
            containing=request.about,
            order=Order.SAID,
        )

    def _entry(self, note: Note, text: str) -> TimelineEntry:
        said = day_of(note.said_at, self.zone)
        quote = beginning(text)
        named = [one.window for one in find_times(quote, said)]
        return TimelineEntry(named[0] if named else _whole_day(said), note.said_at, note, quote)

    def _lies_in(self, entry: TimelineEntry, windows: Sequence[TimeWindow]) -> bool:
        said = _whole_day(day_of(entry.said_at, self.zone))
        return any(entry.window.overlaps(window) or said.overlaps(window) for window in windows)


def beginning(text: str) -> str:
    """The beginning of a text on one line, cut between words."""
    line = " ".join(text[: 4 * QUOTE].split())
    return line if len(line) <= QUOTE else line[:QUOTE].rsplit(" ", 1)[0] + "…"


def _where(request: TimelineRequest, start: datetime | None = None, end: datetime | None = None) -> NoteFilter:
    kinds = frozenset({Kind.TURN}) if request.conversation_id else request.kinds
    return NoteFilter(
        tenant=request.caller.tenant,
        kinds=kinds,
        project=request.project,
        conversation_id=request.conversation_id,
        occurred_from=start,
        occurred_to=end,
    )


def _whole_day(day: date) -> TimeWindow:
    return TimeWindow(day, day.fromordinal(day.toordinal() + 1), Grain.DAY)


def _order(entry: TimelineEntry) -> tuple[date, datetime, int, str]:
    turn = entry.note.meta.turn_index
    return entry.window.first, entry.said_at, -1 if turn is None else turn, entry.note.public_id
