"""Write responses, including the one rebuilt for a retried request whose first attempt committed but never replied."""

from dataclasses import replace

from fastapi import Response

from nur.bootstrap import Services
from nur.domain.errors import IndexDown, NotFound
from nur.domain.writes import IndexState, NearDuplicate, Outcome, Stored
from nur.entrypoints.rest.answers import answered
from nur.entrypoints.rest.deps import etag
from nur.entrypoints.rest.note_answers import Receipt
from nur.ports.idempotency import CommittedChange
from nur.services.notes.get_note import not_found


async def receipt(services: Services, stored: Stored, wait: str | None, seconds: float) -> Response:
    """The receipt, after a wait where that was asked for; then with near duplicates."""
    if wait is None:
        return _answer(stored, stored.index_state)
    state, near = await services.wait_until_indexed(stored.note.note_id, seconds), None
    if state is IndexState.INDEXED:
        try:
            near = await services.find_duplicates(stored.note)
        except IndexDown:  # a courtesy: the note is stored all the same
            near = None
    return _answer(stored, state, near)


async def late_response(services: Services, tenant: str, committed: CommittedChange) -> Response:
    """What the call would have said. Raises NotFound for a note that was purged since."""
    if committed.action == "delete":
        return answered(None, 204)
    if committed.public_id is None:
        raise NotFound("The note was purged since.")
    note = await services.stores.notes.get(tenant, committed.public_id)
    if note is None:
        raise not_found(committed.public_id)
    if committed.action == "update":
        outcome = Outcome.METADATA_UPDATED
    else:
        outcome = Outcome.CREATED if committed.revision == 1 else Outcome.REPLACED
    state = IndexState.INDEXED if await services.stores.index_marks.is_indexed(note.note_id) else IndexState.PENDING
    return _answer(Stored(note=replace(note, revision=committed.revision), outcome=outcome, index_state=state), state)


def _answer(stored: Stored, state: IndexState, near: list[NearDuplicate] | None = None) -> Response:
    status = 201 if stored.outcome is Outcome.CREATED else 200
    place = f"/v2/notes/{stored.note.public_id}"
    return answered(Receipt.of(stored, state, near), status, ETag=etag(stored.note.revision), Location=place)
