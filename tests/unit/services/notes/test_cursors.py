"""Pages: the last one never points to an empty page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nur.domain.errors import BadRequest
from nur.services.notes.cursors import cut_page
from tests.note_world import EVERYTHING, ME

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tests.note_world import World
    from tests.unit.services.conftest import OpenWorld

    Pages = Callable[[World, int, str | None], Awaitable[tuple[Sequence[object], str | None]]]


@pytest.mark.parametrize(
    ("read", "page", "last"),
    [
        ([1, 2, 3], [1, 2], 2),  # one more than a page: another page follows
        ([1, 2], [1, 2], None),  # exactly a page
        ([], [], None),
    ],
)
def test_a_page_names_its_last_entry_only_if_more_follow(read: list[int], page: list[int], last: int | None) -> None:
    assert cut_page(read, 2) == (page, last)


async def notes(world: World, limit: int, cursor: str | None) -> tuple[Sequence[object], str | None]:
    page = await world.services.list_notes(EVERYTHING, ME, limit=limit, cursor=cursor)
    return page.notes, page.next_cursor


async def turns(world: World, limit: int, cursor: str | None) -> tuple[Sequence[object], str | None]:
    page = await world.services.list_conversations.turns("talk0", ME, limit=limit, cursor=cursor)
    return page.notes, page.next_cursor


async def conversations(world: World, limit: int, cursor: str | None) -> tuple[Sequence[object], str | None]:
    page = await world.services.list_conversations(ME, limit=limit, cursor=cursor, characters=20)
    return page.conversations, page.next_cursor


async def trash(world: World, limit: int, cursor: str | None) -> tuple[Sequence[object], str | None]:
    page = await world.services.trash.list(ME, limit=limit, cursor=cursor, characters=20)
    return page.notes, page.next_cursor


async def reviews(world: World, limit: int, cursor: str | None) -> tuple[Sequence[object], str | None]:
    page = await world.services.reviews.list(ME, decided=True, limit=limit, after=cursor, characters=20)
    return page.reviews, page.next_after


async def four_of_each(world: World) -> None:
    """Four conversations, the first of four turns; four deleted notes; four decided pairs."""
    write: dict[str, Any] = {"role": "user", "caller": ME, "on_failure": world.services.on_failure.for_others}
    for number in range(4):
        await world.services.append_turn("talk0", number, content=f"Turn {number}.", **write)
        if number:
            await world.services.append_turn(f"talk{number}", 0, content="Hello.", **write)
        deleted = (await world.add(f"Gone {number}.")).note
        await world.services.forget(deleted.public_id, None, ME)
        older, newer = (await world.remember(f"Old {number}.")).note, (await world.remember(f"New {number}.")).note
        await world.services.reviews.supersede(newer, older, ME)
        world.clock.advance(1)


@pytest.mark.parametrize(
    ("pages", "count"),
    [(notes, 15), (turns, 4), (conversations, 4), (trash, 4), (reviews, 4)],
)
async def test_a_page_that_holds_the_rest_is_the_last(open_world: OpenWorld, pages: Pages, count: int) -> None:
    world = await open_world()
    await four_of_each(world)
    whole, cursor = await pages(world, count, None)
    assert (len(whole), cursor) == (count, None)
    first, cursor = await pages(world, count - 1, None)
    rest, end = await pages(world, count - 1, cursor)
    assert (len(first), len(rest), end) == (count - 1, 1, None)


async def test_a_cursor_of_reviews_that_no_page_returned_is_refused(open_world: OpenWorld) -> None:
    world = await open_world()
    with pytest.raises(BadRequest, match=r"^after: send the next_after"):
        await world.services.reviews.list(ME, decided=False, limit=5, after="rev_0123456789abcdef", characters=20)
