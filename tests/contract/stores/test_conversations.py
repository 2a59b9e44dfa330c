"""Contract of ConversationStore."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nur.domain.conversations import Conversation
from nur.ports.notes import ConversationCursor
from tests.store_notes import ALL, START, a_note, a_turn, after, at, creation

if TYPE_CHECKING:
    from nur.domain.notes import Note
    from nur.ports.stores import Stores


async def put(stores: Stores, note: Note, text: str = "Hello.") -> None:
    await stores.notes.write(creation(note, text), at())


async def test_a_conversation_is_what_its_turns_say_together(stores: Stores) -> None:
    for index, seconds, text in ((2, 30, "Third."), (0, 10, "First of all."), (1, 20, "Second.")):
        await put(stores, a_turn("c", index, text, occurred_at=after(seconds)), text)
    await put(stores, a_note("A memory of it.", conversation_id="c", occurred_at=after(99)), "A memory of it.")
    found = await stores.conversations.page(ALL, START, limit=5, characters=5)
    assert found == [Conversation("c", 3, 2, after(10), after(30), "First")]


async def test_conversations_are_paged_latest_first_and_ties_by_name(stores: Stores) -> None:
    for name, seconds in (("a", 10), ("b", 30), ("c", 30), ("d", 20)):
        await put(stores, a_turn(name, 0, occurred_at=after(seconds)))
    names, cursor = [], None
    for _ in range(4):
        (one,) = await stores.conversations.page(ALL, START, limit=1, after=cursor, characters=0)
        names.append(one.conversation_id)
        cursor = ConversationCursor(one.last_at, one.conversation_id)
    assert names == ["c", "b", "d", "a"]
    assert await stores.conversations.page(ALL, START, limit=1, after=cursor, characters=0) == []


async def test_turns_that_are_deleted_expired_or_hidden_do_not_count(stores: Stores) -> None:
    await put(stores, a_turn("c", 0, occurred_at=START))
    await put(stores, a_turn("c", 1, occurred_at=after(5), expires_at=after(60)))
    await put(stores, a_turn("ben", 0, occurred_at=START, owner="ben"))
    gone = a_turn("gone", 0, occurred_at=START)
    await put(stores, gone)
    await stores.notes.remove(gone, at(), action="delete", indexed=True)
    mine = replace(ALL, visible_to="local")
    (one,) = await stores.conversations.page(mine, after(61), limit=5, characters=9)
    assert (one.conversation_id, one.turns, one.last_at) == ("c", 1, START)
    other = replace(ALL, tenant="elsewhere")
    assert await stores.conversations.page(other, START, limit=5, characters=9) == []
