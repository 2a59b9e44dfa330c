"""A call under a key is executed once: what its first attempt came to is returned to the others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from nur.domain.access import Caller, Principal
from nur.domain.errors import CallInProgress, IdempotencyKeyReused, NotFound
from nur.domain.writes import IndexState, Outcome, Stored
from nur.ports.idempotency import CommittedChange, IdempotencyRecord
from nur.services.idempotency import Idempotency, SavedResponse, UnansweredWrite
from tests.doubles.clock import ManualClock
from tests.store_notes import a_note

if TYPE_CHECKING:
    from nur.domain.notes import Note, NoteId
    from nur.ports.idempotency import IdempotencyStore
    from nur.ports.notes import NoteStore
    from nur.ports.vector_index import IndexMarks

ANN = Caller(Principal("ann", "default"), "call", "key")
ANSWER = {"note_id": "mem_1"}


@dataclass
class Kept:
    """What the store has under the key, and one note."""

    record: IdempotencyRecord | None = None
    note: Note | None = None
    is_indexed_now: bool = True
    calls: list[tuple[Any, ...]] = field(default_factory=list)

    async def reserve(self, *arguments: Any) -> IdempotencyRecord | None:
        self.calls.append(arguments)
        return self.record

    async def save_response(self, *arguments: Any) -> None:
        self.calls.append(arguments)

    async def release(self, *arguments: Any) -> None:
        self.calls.append(arguments)

    async def get(self, tenant: str, public_id: str) -> Note | None:
        assert tenant == ANN.tenant
        return self.note if self.note is not None and self.note.public_id == public_id else None

    async def is_indexed(self, note_id: NoteId) -> bool:
        assert self.note is not None
        assert note_id == self.note.note_id
        return self.is_indexed_now


CLOCK = ManualClock()


def idempotency(kept: Kept) -> Idempotency:
    return Idempotency(cast("IdempotencyStore", kept), cast("NoteStore", kept), cast("IndexMarks", kept), CLOCK)


def abandoned(action: str, revision: int = 1, *, public_id: str | None = None, note: Note | None = None) -> Kept:
    """The first call committed this and never replied."""
    name = note.public_id if note is not None else public_id
    return Kept(IdempotencyRecord("hash", None, None, CommittedChange(name, action, revision)), note)


async def test_the_first_call_is_executed() -> None:
    kept = Kept()
    assert await idempotency(kept).reserve("hash", ANN) is None
    assert kept.calls == [("ann:key", "hash", ANN.at(CLOCK.now()))]


async def test_the_second_call_gets_the_first_answer() -> None:
    kept = Kept(IdempotencyRecord("hash", 201, ANSWER))
    assert await idempotency(kept).reserve("hash", ANN) == SavedResponse(201, ANSWER)


async def test_another_call_under_the_key_is_refused_whatever_came_of_the_first() -> None:
    for record in (IdempotencyRecord("hash", 201, ANSWER), IdempotencyRecord("hash", None, None)):
        with pytest.raises(IdempotencyKeyReused):
            await idempotency(Kept(record)).reserve("other", ANN)


@pytest.mark.parametrize(
    "record",
    [
        IdempotencyRecord("hash", None, None),
        IdempotencyRecord("hash", 201, None),  # half an answer is none
        IdempotencyRecord("hash", None, ANSWER),
    ],
)
async def test_a_call_without_an_answer_is_in_progress(record: IdempotencyRecord) -> None:
    with pytest.raises(CallInProgress):
        await idempotency(Kept(record)).reserve("hash", ANN)


@pytest.mark.parametrize(
    ("action", "revision", "outcome"),
    [
        ("create", 1, Outcome.CREATED),
        ("create", 2, Outcome.REPLACED),
        ("update", 2, Outcome.METADATA_UPDATED),
        ("update", 1, Outcome.METADATA_UPDATED),
    ],
)
async def test_an_abandoned_write_is_answered_from_the_store(action: str, revision: int, outcome: Outcome) -> None:
    note = a_note(revision=5)  # others wrote since
    kept = abandoned(action, revision, note=note)
    expected = Stored(note=replace(note, revision=revision), outcome=outcome, index_state=IndexState.INDEXED)
    assert await idempotency(kept).reserve("hash", ANN) == UnansweredWrite(expected)


async def test_an_abandoned_write_may_still_wait_for_the_index() -> None:
    kept = abandoned("create", note=a_note())
    kept.is_indexed_now = False
    found = await idempotency(kept).reserve("hash", ANN)
    assert isinstance(found, UnansweredWrite)
    assert found.stored is not None
    assert found.stored.index_state is IndexState.PENDING


async def test_an_abandoned_deletion_is_done() -> None:
    assert await idempotency(abandoned("delete", 2, public_id="mem_1")).reserve("hash", ANN) == UnansweredWrite(None)


@pytest.mark.parametrize(("public_id", "message"), [(None, "purged since"), ("mem_1", "mem_1")])
async def test_an_abandoned_write_of_a_note_that_is_gone_is_not_found(public_id: str | None, message: str) -> None:
    with pytest.raises(NotFound, match=message):
        await idempotency(abandoned("create", public_id=public_id)).reserve("hash", ANN)


async def test_an_answer_is_kept_and_a_key_freed_under_the_callers_name() -> None:
    kept = Kept()
    await idempotency(kept).save(ANN, 201, ANSWER)
    await idempotency(kept).release(ANN)
    assert kept.calls == [("default", "ann:key", 201, ANSWER), ("default", "ann:key", "call")]


async def test_a_call_without_a_key_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="idempotency key"):
        await idempotency(Kept()).reserve("hash", replace(ANN, idempotency_key=None))
