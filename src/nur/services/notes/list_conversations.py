"""List conversations, and the turns of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.filters import NoteFilter, Order
from nur.domain.kinds import TURNS
from nur.ports.notes import ConversationCursor
from nur.services.notes.cursors import bad_cursor, cut_page, decode, encode
from nur.services.notes.list_notes import ListedNotes

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.domain.conversations import Conversation
    from nur.domain.filters import PrivacyFilter
    from nur.ports.clock import Clock
    from nur.ports.notes import ConversationStore
    from nur.services.notes.list_notes import ListNotes


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """One page of conversations, latest first."""

    conversations: list[Conversation]
    next_cursor: str | None  #: None: this is the last page


@dataclass(frozen=True, slots=True)
class ListConversations:
    """Pages through conversations whose turns the caller may see."""

    conversations: ConversationStore
    list_notes: ListNotes
    privacy: PrivacyFilter
    clock: Clock

    async def __call__(
        self, caller: Caller, *, limit: int, cursor: str | None = None, characters: int
    ) -> ConversationPage:
        """A page, latest first, each conversation with the first characters of its first turn. Raises BadRequest."""
        where = self.privacy.visible(NoteFilter(tenant=caller.tenant, kinds=TURNS), caller.principal)
        after = None if cursor is None else ConversationCursor(*decode(cursor))
        read = await self.conversations.page(
            where, self.clock.now(), limit=limit + 1, after=after, characters=characters
        )
        found, last = cut_page(read, limit)
        return ConversationPage(found, None if last is None else encode(last.last_at, last.conversation_id))

    async def turns(
        self, conversation_id: str, caller: Caller, *, limit: int, cursor: str | None = None
    ) -> ListedNotes:
        """The last turns of a conversation, oldest first; the next page has earlier ones. Raises BadRequest."""
        where = NoteFilter(tenant=caller.tenant, kinds=TURNS, conversation_id=conversation_id)
        before = None if cursor is None else _turn_index(cursor)
        found, last = await self.list_notes.read(where, caller, limit=limit, after=before, order=Order.LAST_TURNS)
        earliest = None if last is None else last.meta.turn_index
        return ListedNotes(found[::-1], None if earliest is None else str(earliest))


def _turn_index(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= len(str(2**53))):
        raise bad_cursor()
    return int(cursor)
