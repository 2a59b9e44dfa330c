"""Contract of IdempotencyStore: a key is reserved once, and its response is kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nur.domain.errors import CallInProgress
from nur.ports.idempotency import RESERVATION_SECONDS, CommittedChange, IdempotencyRecord
from tests.store_notes import ALL, START, a_note, after, at, creation, remove

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import Note
    from nur.ports.stores import Stores

NO_RESPONSE = IdempotencyRecord("hash", None, None)
LATE = after(RESERVATION_SECONDS)


async def reserve(
    stores: Stores, now: datetime = START, *, request_hash: str = "hash", **context: Any
) -> IdempotencyRecord | None:
    return await stores.idempotency.reserve("k", request_hash, at(now, **context))


async def committed_in(
    stores: Stores, call_id: str, text: str = "Tea.", *, reservation: str | None = None, **changes: Any
) -> Note:
    note = a_note(text, **changes)
    await stores.notes.write(creation(note, text), replace(at(call_id=call_id), reservation=reservation))
    return note


async def test_a_key_is_reserved_once_and_its_response_kept(stores: Stores) -> None:
    assert await reserve(stores) is None
    assert await reserve(stores) == NO_RESPONSE
    assert await reserve(stores, tenant="acme") is None  # another tenant's key is another key

    await stores.idempotency.save_response("default", "k", 201, {"note_id": "note_1"})
    await stores.idempotency.release("default", "k", "call")

    answered = IdempotencyRecord("hash", 201, {"note_id": "note_1"})
    assert await reserve(stores, request_hash="other") == answered
    assert await reserve(stores, LATE) == answered
    assert await reserve(stores, tenant="acme") == NO_RESPONSE


async def test_of_many_who_reserve_a_key_at_once_one_gets_it(stores: Stores) -> None:
    answers = await asyncio.gather(*(reserve(stores, call_id=f"c{i}") for i in range(16)))
    assert answers.count(None) == 1
    assert answers.count(NO_RESPONSE) == 15


async def test_the_key_of_a_failed_or_abandoned_call_is_free_again(stores: Stores) -> None:
    assert await reserve(stores) is None
    await stores.idempotency.release("default", "k", "call")
    assert await reserve(stores) is None
    assert await reserve(stores, after(RESERVATION_SECONDS - 0.000001)) == NO_RESPONSE
    assert await reserve(stores, LATE) is None


async def test_a_call_that_died_after_its_write_is_known_by_what_it_committed(stores: Stores) -> None:
    await reserve(stores, call_id="call")
    note = await committed_in(stores, "call")
    await committed_in(stores, "another", "Another call's.")

    await stores.idempotency.release("default", "k", "call")  # it committed, so the key stays
    assert await reserve(stores, call_id="again") == NO_RESPONSE

    committed = CommittedChange(note.public_id, "store", 1)
    assert await reserve(stores, LATE, call_id="again") == IdempotencyRecord("hash", None, None, committed)
    await stores.idempotency.save_response("default", "k", 201, {"note_id": note.public_id})
    answered = IdempotencyRecord("hash", 201, {"note_id": note.public_id})
    assert await reserve(stores, LATE, call_id="again") == answered


async def test_a_call_whose_key_was_taken_over_writes_nothing(stores: Stores) -> None:
    """The first call is slow but still running when the same call is made elsewhere."""
    await reserve(stores, call_id="slow")
    assert await reserve(stores, LATE, call_id="again") is None

    with pytest.raises(CallInProgress):
        await committed_in(stores, "slow", reservation="k")
    await stores.idempotency.release("default", "k", "slow")  # it is not the slow call's any more
    assert await reserve(stores, LATE, call_id="third") == NO_RESPONSE
    note = await committed_in(stores, "again", reservation="k")

    assert [one.note_id for one in await stores.notes.page(ALL, START, limit=9)] == [note.note_id]


async def test_of_several_commits_of_a_call_the_last_is_known(stores: Stores) -> None:
    await reserve(stores, call_id="call")
    note = await committed_in(stores, "call")
    await remove(stores, note)

    found = await reserve(stores, LATE, call_id="again")

    assert found is not None
    assert found.committed == CommittedChange(note.public_id, "delete", 2)


async def test_a_write_of_another_tenant_in_a_call_of_the_same_name_is_not_the_calls(stores: Stores) -> None:
    await reserve(stores, call_id="call")
    await committed_in(stores, "call", tenant="acme")
    assert await reserve(stores, LATE, call_id="again") is None


async def test_old_keys_are_purged(stores: Stores) -> None:
    await reserve(stores)
    await stores.idempotency.save_response("default", "k", 201, {})
    assert await stores.idempotency.purge(START) == 0
    assert await stores.idempotency.purge(after(1)) == 1
    assert await reserve(stores) is None
