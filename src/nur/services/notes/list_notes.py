"""List notes, newest first, with their texts and the notes that replace them, and count them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import UUID

from nur.domain.filters import Facet, NoteFilter, Order
from nur.domain.notes import Kind, NoteId
from nur.ports.notes import PageCursor
from nur.services.notes.cursors import bad_cursor, cut_page, decode, encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nur.domain.access import Caller
    from nur.domain.filters import PrivacyFilter
    from nur.domain.notes import Note
    from nur.ports.clock import Clock
    from nur.ports.notes import NoteStore
    from nur.services.notes.reviews import Reviews


@dataclass(frozen=True, slots=True)
class ListedNotes:
    """One page of a listing."""

    notes: list[tuple[Note, str]]  #: with their texts, or only the beginning
    next_cursor: str | None  #: None: this is the last page
    replaced_by: Mapping[NoteId, str] = field(default_factory=dict)  #: public ids of the notes that replace them


@dataclass(frozen=True, slots=True)
class NoteCounts:
    """Number of notes, without the trash and expired notes."""

    kinds: dict[Kind, int]  #: of every kind
    projects: dict[str, int]  #: largest first; notes without a project are left out


@dataclass(frozen=True, slots=True)
class ListNotes:
    """Pages through the notes that match a filter and that the caller may see."""

    notes: NoteStore
    reviews: Reviews
    privacy: PrivacyFilter
    clock: Clock

    async def __call__(
        self,
        where: NoteFilter,
        caller: Caller,
        *,
        limit: int,
        cursor: str | None = None,
        characters: int | None = None,
        containing: str | None = None,
    ) -> ListedNotes:
        """A page, newest first, with the notes that replace these. `cursor` is the previous page's `next_cursor`.

        Raises BadRequest for any other cursor.
        """
        page = await self.page(where, caller, limit=limit, cursor=cursor, characters=characters, containing=containing)
        return replace(page, replaced_by=await self.reviews.superseded([note for note, _ in page.notes], caller))

    async def page(
        self,
        where: NoteFilter,
        caller: Caller,
        *,
        limit: int,
        cursor: str | None = None,
        characters: int | None = None,
        containing: str | None = None,
        order: Order = Order.NEWEST,
    ) -> ListedNotes:
        """A page, latest first by time of storing or saying, without the notes that replace these.

        Raises BadRequest for a cursor that no page returned.
        """
        notes, last = await self.read(
            where,
            caller,
            limit=limit,
            after=position(cursor),
            order=order,
            characters=characters,
            containing=containing,
        )
        if last is None:
            return ListedNotes(notes, None)
        return ListedNotes(notes, encode(last.said_at if order is Order.SAID else last.ingested_at, last.note_id.hex))

    async def read(
        self,
        where: NoteFilter,
        caller: Caller,
        *,
        limit: int,
        after: PageCursor | int | None = None,
        order: Order = Order.NEWEST,
        characters: int | None = None,
        containing: str | None = None,
    ) -> tuple[list[tuple[Note, str]], Note | None]:
        """Notes after `after`, with their texts or the first characters, and the last one if more follow."""
        visible = self.privacy.visible(where, caller.principal)
        read = await self.notes.page(
            visible, self.clock.now(), limit=limit + 1, order=order, after=after, containing=containing
        )
        page, last = cut_page(read, limit)
        texts = await self.notes.texts([note.note_id for note in page], characters)
        return [(note, texts[note.note_id]) for note in page if note.note_id in texts], last

    async def count(self, caller: Caller) -> NoteCounts:
        """Count the notes that the caller may see."""
        everything, now = self.privacy.visible(NoteFilter(tenant=caller.tenant), caller.principal), self.clock.now()
        kinds = await self.notes.count(everything, now, Facet.KIND)
        projects = await self.notes.count(everything, now, Facet.PROJECT)
        named = [(name, count) for name, count in projects.items() if name]
        return NoteCounts(
            kinds={kind: kinds.get(kind, 0) for kind in Kind},
            projects=dict(sorted(named, key=lambda one: (-one[1], one[0]))),
        )


def position(cursor: str | None) -> PageCursor | None:
    """Parse a cursor; None for the first page. Raises BadRequest."""
    if cursor is None:
        return None
    at, name = decode(cursor)
    try:
        return PageCursor(at, NoteId(UUID(name)))
    except ValueError:
        raise bad_cursor() from None
